"""The architectures whose designs a network file may describe.

An architecture is a type of design, the family of formats that it computes in, and the reader of
its table; its phases stand in ``cosim.architectures``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from merp.models.errors import BadInput
from merp.models.params.cnn_merp import design_keys as cnn_merp_keys
from merp.models.params.cnn_merp import design_section as cnn_merp
from merp.models.params.cnn_merp.design import Design as CnnMerpDesign
from merp.models.params.fixed import FixedFormat
from merp.models.params.formats import FloatFormat
from merp.models.params.keys import Choice, Key
from merp.models.params.mac_array import design_keys as mac_array_keys
from merp.models.params.mac_array import design_section as mac_array
from merp.models.params.mac_array.design import Design as MacArrayDesign
from merp.models.params.toml_section import Section
from merp.models.params.users import Users

Design = CnnMerpDesign | MacArrayDesign
"""A design of any architecture."""


@dataclass(frozen=True)
class Architecture:
    """What an architecture calls a design, and how a network file describes one.

    Attributes:
        design: type of its designs. numbers: the family of formats that they compute in.
        keys: of [design.<name>]. read: reader of that table.
    """

    design: type[Design]
    numbers: type[FloatFormat | FixedFormat]
    keys: tuple[Key, ...]
    read: Callable[[Section, str, Users], Design]


ARCHITECTURES: Mapping[str, Architecture] = {
    "cnn_merp": Architecture(CnnMerpDesign, FloatFormat, cnn_merp_keys.KEYS, cnn_merp.read_design),
    "mac_array": Architecture(
        MacArrayDesign, FixedFormat, mac_array_keys.KEYS, mac_array.read_design
    ),
}
"""By name; the first is meant where a design names none."""

ARCHITECTURE = Choice(
    key="architecture",
    says="whose design it is",
    allowed=tuple(ARCHITECTURES),
    default=next(iter(ARCHITECTURES)),
)


def named(design: Design) -> str:
    """Name of a design's architecture."""
    return next(name for name, each in ARCHITECTURES.items() if isinstance(design, each.design))


def computing_in(numbers: FloatFormat | FixedFormat) -> str:
    """Name of the architecture that computes in these numbers."""
    return next(name for name, each in ARCHITECTURES.items() if isinstance(numbers, each.numbers))


def cnn_merp_design(design: Design, where: str) -> CnnMerpDesign:
    """The design, for those who answer for CNN-MERP alone; ``where`` opens the message.

    Raises:
        BadInput: it is one of another architecture.
    """
    if not isinstance(design, CnnMerpDesign):
        raise BadInput(f"{where}: architecture = {named(design)!r}: allowed here is 'cnn_merp'")
    return design


def read_design(section: Section, name: str, users: Users) -> Design:
    """Read one [design.<name>], of whatever architecture.

    Raises:
        BadInput: no layer uses it, it computes in other numbers than the network's, or the
            architecture's reader refuses it.
    """
    if not users.layers:
        raise BadInput(f"{section.file}: design {name}: no layer uses it")
    asked = ARCHITECTURE.read(section)
    architecture = ARCHITECTURES[asked]
    if not isinstance(users.numbers, architecture.numbers):
        others = ", ".join(
            other
            for other, each in ARCHITECTURES.items()
            if isinstance(users.numbers, each.numbers)
        )
        raise BadInput(
            f"{section.file}: design {name}: architecture = {asked!r}: the network's format "
            f"asks for one of {others}"
        )
    return architecture.read(section, name, users)
