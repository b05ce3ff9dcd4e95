"""A machine: hardware that runs layers, and how a network file describes its designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import Key, WholeKey, WordKey
from merp.models.base.shape import Shape
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


class CycleCount(Protocol):
    """Cycles of a phase of a layer by a model."""

    @property
    def total(self) -> int:
        """From the first word of maps or deltas in to the last word out."""

    @property
    def kernel_load(self) -> int:
        """Before these."""


def _tree(_: Design) -> Summation:
    return TREE


def _all_run(shape: Shape, images: int, design: Design, where: str) -> None:
    """Refuse none."""


def _all_sizes(shape: Shape, numbers: FloatFormat | FixedFormat) -> None:
    """Refuse none."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine of two halves: this one, and its hardware.

    A machine has designs of its own, which network files describe. Or it ``runs`` those of another
    machine in another order of layers and phases; then ``--architecture`` chooses it.

    A text ``package.module:object`` names what is loaded when it is asked for.

    Attributes:
        name: as network files and options write it. aliases: other names that options take.
        design: type of its designs. numbers: family of the formats that it computes in.
        keys: of [design.<name>]. read: reader of that table, given the design's name and who uses
            it.
        phases: in the order of a step.
        bytes: names a ``traffic.bytes.Bytes``: what its ports move.
        hardware: names the hardware half. ``models`` never loads it.
        cycles: names a function from network, layer, phase and images to the ``CycleCount`` of all
            groups, None where it does not know them; empty if there is no model.
        says: what it does, in a line of a help page.
        runs: the machine whose designs it runs, by name; None: it has its own.
        options: that it alone takes, by the name of the request's field.
        summation: how the units of a design sum floats; a tree where the machine does not say.
        comparison: names a ``comparison.architecture.Architecture``: what a comparison asks of it;
            empty: no comparison has it.
        check: names a function from a network to None, which refuses a network whose layers its
            designs do not run as the network says, whatever the board; empty: they run them all.
        check_run: refuses a run of a group of so many images, given its shape, the images and the
            design; the text opens the message.
        check_size: raises ``ValueError`` where no design runs a layer of such a shape in such
            numbers.
        place: names a function from network and board to the network on designs that are chosen for
            the board; empty: it chooses none.
        axes: keys of its designs that a sweep may vary.
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

    @cached_property
    def phase_named(self) -> Mapping[str, Phase]:
        """Its phases by name."""
        return {phase.name: phase for phase in self.phases}

    def table(self, design: Design) -> dict[str, Any]:
        """The table [design.<name>] of a design.

        It leaves out keys that have their default, and keys that follow from the layers.
        """
        written = [key for key in self.keys if key.required or key.default is not None]
        values = {key: getattr(design, key.key) for key in written}
        return {key.key: value for key, value in values.items() if value != key.default}
