"""A machine: hardware that runs layers, and how a network file describes its designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import Key
from merp.models.base.summation import TREE, Summation
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.network.phase import Phase

if TYPE_CHECKING:  # they stand above
    from merp.models.network.network import Network
    from merp.models.traffic.closed_form import LayerTraffic
    from merp.models.traffic.footing import Footing


class Design(Protocol):
    """A design of any machine: a frozen dataclass, whose fields only its machine knows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Bytes:
    """What a machine moves, by formula.

    Attributes:
        layers: of each layer and phase, of a network, a batch of so many images and a footing.
            The designs of the network do not matter but for what they say of ports.
        caption: what a table of such a footing counts.
    """

    layers: Callable[[Network, int, Footing], Sequence[LayerTraffic]]
    caption: Callable[[Footing], str]


def _tree(_: Design) -> Summation:
    return TREE


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a machine brings. It has two halves: this one, and its hardware.

    Attributes:
        name: as network files write it.
        design: type of its designs. numbers: family of the formats that it computes in.
        keys: of [design.<name>]. read: reader of that table, given the design's name and who uses
            it.
        phases: in the order of a step.
        bytes: ``package.module:object``, a ``Bytes``: what its ports move.
        hardware: likewise the hardware half. ``models`` never loads it.
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
    summation: Callable[[Any], Summation] = _tree

    @cached_property
    def phase_named(self) -> Mapping[str, Phase]:
        """Its phases by name."""
        return {phase.name: phase for phase in self.phases}
