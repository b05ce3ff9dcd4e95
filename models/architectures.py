"""The architectures whose designs a network file may describe.

An architecture is a type of design, the family of formats that it computes in, and the reader of
its table; its phases stand in ``cosim.architectures``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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

DESIGNS: Mapping[str, type[Design]] = {"cnn_merp": CnnMerpDesign, "mac_array": MacArrayDesign}
"""What each architecture calls a design."""

READERS: Mapping[str, Callable[[Section, str, Users], Design]] = {
    "cnn_merp": cnn_merp.read_design,
    "mac_array": mac_array.read_design,
}
"""Reader of [design.<name>] by its ``architecture``; the first is meant where none is named."""

NUMBERS: Mapping[str, type[FloatFormat | FixedFormat]] = {
    "cnn_merp": FloatFormat,
    "mac_array": FixedFormat,
}
"""The family of formats that each computes in."""

ARCHITECTURE = Choice(
    key="architecture",
    says="whose design it is",
    allowed=tuple(READERS),
    default=next(iter(READERS)),
)
KEYS: Mapping[str, tuple[Key, ...]] = {
    "cnn_merp": cnn_merp_keys.KEYS,
    "mac_array": mac_array_keys.KEYS,
}
"""Keys of [design.<name>] by its architecture."""


def named(design: Design) -> str:
    """Name of a design's architecture."""
    return next(name for name, each in DESIGNS.items() if isinstance(design, each))


def computing_in(numbers: FloatFormat | FixedFormat) -> str:
    """Name of the architecture that computes in these numbers."""
    return next(name for name, family in NUMBERS.items() if isinstance(numbers, family))


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
    architecture = ARCHITECTURE.read(section)
    if not isinstance(users.numbers, NUMBERS[architecture]):
        others = ", ".join(
            other for other, family in NUMBERS.items() if isinstance(users.numbers, family)
        )
        raise BadInput(
            f"{section.file}: design {name}: architecture = {architecture!r}: the network's format "
            f"asks for one of {others}"
        )
    return READERS[architecture](section, name, users)
