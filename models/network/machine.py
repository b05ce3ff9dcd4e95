"""A machine: hardware that runs layers, and the description of its designs in network files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import Key, WholeKey, WordKey
from merp.models.base.shape import NO_ACTIVATION, RELU_ONLY, Shape
from merp.models.base.summation import TREE, Summation
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.network.phase import Phase


class Option(NamedTuple):
    """An option of one machine only.

    Attributes:
        low, high: range of a number.
        default: value of a missing option; None for a switch.
    """

    low: int = 0
    high: int = 0
    default: int | None = None


class Design(Protocol):
    """A design of any machine: a frozen dataclass, whose fields only its machine knows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class CycleCount(Protocol):
    """Cycles of a phase of a layer by a model."""

    @property
    def total(self) -> int:
        """Cycles from the first word of maps or deltas in to the last word out."""

    @property
    def kernel_load(self) -> int:
        """Cycles of loading kernels before."""


def _tree(_: Design) -> Summation:
    return TREE


def _all_run(shape: Shape, images: int, design: Design, where: str) -> None:
    """Accept every run."""


def _all_sizes(shape: Shape, numbers: FloatFormat | FixedFormat) -> None:
    """Accept every size."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine has two halves: this description, and its hardware.

    A machine has its own designs, which network files describe. Or it ``runs`` the designs of
    another machine in another order of layers and phases; ``--architecture`` then selects it.

    A string ``package.module:object`` names an object that is loaded on demand.

    Attributes:
        name: as network files and options write it.
        aliases: other names that options accept.
        design: type of its designs.
        numbers: family of the formats that it computes in.
        keys: of [design.<name>].
        read: reader of that table, given the design's name and its users.
        phases: in the order of a step.
        bytes: names a ``traffic.bytes.Bytes``, the traffic of its ports.
        hardware: names the hardware half. ``models`` never loads it.
        cycles: names a function of network, layer, phase and images that returns the ``CycleCount``
            of all groups, or None if they are unknown. Empty without a model.
        says: its description, in a line of a help page.
        runs: the machine whose designs it runs, by name; None: it has its own.
        options: its own options, by the name of the request's field.
        summation: arithmetic of float sums of a design's units; a tree by default.
        comparison: names its ``comparison.architecture.Architecture``; empty if it is not compared.
        check: names a function of a network that refuses layers that its designs do not run as
            requested, on any board. Empty: they run all.
        check_run: refuses a run of a group, given its shape, the number of images and the design;
            the text opens the message.
        check_size: raises ``ValueError`` if no design runs a layer of this shape in this number
            format.
        place: names a function of network and board that returns the network with designs chosen
            for the board. Empty: it chooses none.
        axes: keys of its designs that a sweep may vary.
        activations: that its designs can have.
        designed: names a function of a network and a batch that returns the network on designs of
            the machine; ``--architecture`` can then select it. Empty: only network files do.
        accumulates: a step may have several minibatches, as the host updates the kernels. Otherwise
            every minibatch updates them.
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
    comparison: str = ""
    check: str = ""
    check_run: Callable[[Shape, int, Any, str], None] = _all_run
    check_size: Callable[[Shape, FloatFormat | FixedFormat], None] = _all_sizes
    place: str = ""
    axes: tuple[WholeKey | WordKey, ...] = ()
    activations: tuple[str, ...] = (RELU_ONLY, NO_ACTIVATION)
    designed: str = ""
    accumulates: bool = False

    @cached_property
    def phase_named(self) -> Mapping[str, Phase]:
        """Its phases by name."""
        return {phase.name: phase for phase in self.phases}

    def table(self, design: Design) -> dict[str, Any]:
        """Return the table [design.<name>] of a design.

        Keys that have their default, that follow from the layers, or that the design lacks (None)
        are omitted.
        """
        written = [key for key in self.keys if key.required or key.default is not None]
        values = {key: getattr(design, key.key) for key in written}
        return {key.key: value for key, value in values.items() if value not in (key.default, None)}
