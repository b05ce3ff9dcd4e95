"""A machine: hardware that runs layers, and how a network file describes its designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import Key
from merp.models.base.summation import TREE, Summation
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.network.phase import Phase


class Option(NamedTuple):
    """An option that a machine alone takes.

    Attributes:
        low, high: of a number. default: where it is not given; None of a switch.
    """

    low: int = 0
    high: int = 0
    default: int | None = None


class Design(Protocol):
    """A design of any machine: a frozen dataclass, whose fields only its machine knows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class Cycles(Protocol):
    """Cycles of a phase of a layer by a model."""

    @property
    def total(self) -> int:
        """From the first word of maps or deltas in to the last word out."""

    @property
    def kernel_load(self) -> int:
        """Before these."""


def _tree(_: Design) -> Summation:
    return TREE


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine of two halves: this one, and its hardware.

    A machine has designs of its own, which network files describe. Or it ``runs`` those of another
    machine in another order of layers and phases; then ``--architecture`` chooses it.

    Attributes:
        name: as network files and options write it. aliases: other names that options take.
        design: type of its designs. numbers: family of the formats that it computes in.
        keys: of [design.<name>]. read: reader of that table, given the design's name and who uses
            it.
        phases: in the order of a step.
        bytes: ``package.module:object``, a ``traffic.bytes.Bytes``: what its ports move.
        hardware: likewise the hardware half. ``models`` never loads it.
        cycles: likewise a function from network, layer, phase and images to the ``Cycles`` of all
            groups, None where it does not know them; empty if there is no model.
        says: what it does, in a line of a help page.
        runs: the machine whose designs it runs, by name; None: it has its own.
        options: that it alone takes, by the name of the request's field.
        summation: how the units of a design sum floats; a tree where the machine does not say.
    """

    name: str
    design: type[Design]
    numbers: type[FloatFormat | FixedFormat]
    keys: tuple[Key, ...]
    read: Callable[[Section, str, Users], Design]
    phases: tuple[Phase, ...]
    bytes: str
    hardware: str
    cycles: str = ""
    aliases: tuple[str, ...] = ()
    says: str = ""
    runs: str | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    summation: Callable[[Any], Summation] = _tree

    @cached_property
    def phase_named(self) -> Mapping[str, Phase]:
        """Its phases by name."""
        return {phase.name: phase for phase in self.phases}
