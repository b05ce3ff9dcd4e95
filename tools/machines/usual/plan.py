"""A network on a board, on a machine that runs undivided layers.

The bytes of a step are the machine's count ``all``. A phase takes its cycles at the board's clock,
or its bytes at the rate of the external memory, whichever is longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import fspath
from typing import Any, NamedTuple

from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.board import Board
from merp.models.network.network import Layer, Network
from merp.models.network.phases import COUNTED, has_phase, phases_on
from merp.models.network.planning import SHIPPED
from merp.models.network.registry import cycles_of, distribution_of, machine_that_runs
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import PhaseTraffic
from merp.models.traffic.count import Count
from merp.tools.common.boards import open_board
from merp.tools.common.network_text import network_text
from merp.tools.common.stored import storage_answer
from merp.tools.common.table import Sheet, console, fixed, say, table
from merp.tools.plan.request import PlanFields
from merp.tools.plan.summary import by_layer

OF_TILES = ("goal", "apart", "state_bits", "layer_fusion")
"""Options of a machine that divides layers into tiles, or fuses them."""


class PassRow(NamedTuple):
    """A phase of a layer over a batch, and its cycles by the model."""

    layer: Layer
    name: str
    moved: PhaseTraffic
    cycles: int


@dataclass(frozen=True)
class Whole:
    """A plan of undivided layers; it implements ``tools.plan.planned.Planned``."""

    network: Network
    batch: int
    on: Board

    @property
    def board(self) -> str:
        """Name of the board."""
        return self.on.name

    @cached_property
    def passes(self) -> tuple[PassRow, ...]:
        """Each phase of each layer."""
        found = []
        for each in bytes_of(self.network).layers(self.network, self.batch, Count(name="all")):
            for name in COUNTED:
                moved: PhaseTraffic | None = getattr(each, name)
                took = self._cycles(each.layer, name)
                if moved is not None and took is not None:
                    found.append(PassRow(each.layer, name, moved, took))
        return tuple(found)

    def _cycles(self, layer: Layer, counted: str) -> int | None:
        """Return the cycles of the phases whose bytes are counted as ``counted``, if known."""
        total = 0
        for name, phase in phases_on(self.network, layer).items():
            if phase.counted_as == counted and has_phase(self.network, layer, name):
                cycles = cycles_of(self.network, layer, name, self.batch)
                if cycles is None:
                    return None
                total += cycles.kernel_load + cycles.total
        return total

    def computing(self, each: PassRow) -> float:
        """Return the seconds of the cycles of a pass."""
        return each.cycles / (self.on.clock_mhz * 1e6)

    def moving(self, each: PassRow) -> float:
        """Return the seconds of the bytes of a pass."""
        return each.moved.bytes / (self.on.gbytes_s * self.on.efficiency * 1e9)

    def took(self, each: PassRow) -> float:
        """Return the seconds of a pass."""
        return max(self.computing(each), self.moving(each))

    @property
    def seconds(self) -> float:
        """Seconds of a training step."""
        return ordered_sum(map(self.took, self.passes))

    @property
    def images_per_second(self) -> float:
        """Images per second in a training step."""
        return self.batch / self.seconds

    def answer(self) -> dict[str, Any]:
        """The machine-readable answer."""
        return {
            "network": self.network.name,
            "machine": machine_that_runs(self.network).name,
            "batch": self.batch,
            **storage_answer(self.network),
            "board": {
                "name": self.on.name,
                "part": self.on.part.name,
                "clock_mhz": self.on.clock_mhz,
                "gbytes_s": self.on.gbytes_s,
                "efficiency": self.on.efficiency,
            },
            "layers": [self._row(each) for each in self.passes],
            "step": {"seconds": self.seconds, "images_per_second": self.images_per_second},
        }

    def _row(self, each: PassRow) -> dict[str, Any]:
        return {
            "name": each.layer.name,
            "kind": each.layer.kind,
            "phase": each.name,
            "design": each.layer.design,
            "groups": each.layer.groups,
            "passes": each.layer.groups,
            "ports": dict(each.moved.streams),
            "bytes": each.moved.bytes,
            "operations": each.moved.operations,
            "mb_per_gflop": each.moved.mb_per_gflop,
            "cycles": each.cycles,
            "seconds": self.took(each),
            "binds": "units" if self.computing(each) >= self.moving(each) else "DRAM",
        }

    def show(self, again: Callable[[str], Sequence[str]], *, details: bool) -> None:
        """Print the layers, with ``details`` each phase of each layer."""
        title = f"{self.network.name} on {self.board}, batch {self.batch}"
        caption = "Layers in one piece. MB = 10^6 bytes, all ports. Modelled."
        answer = self.answer()
        if details:
            console().print(self._passes(title, answer["layers"], caption))
        else:
            console().print(by_layer(title, answer["layers"], caption))
        say(
            f"{fixed(self.seconds, 3)} s a step, {fixed(self.images_per_second, 1)} images a second"
        )

    def _passes(self, title: str, found: Sequence[Mapping[str, Any]], caption: str) -> Sheet:
        columns = ["layer", "phase", "binds", "design", "passes", "MB", "MB/GFlop", "Mcycles"]
        rows = [
            [
                each["name"], each["phase"].upper(), each["binds"], each["design"],
                f"{each['passes']:,}", fixed(each["bytes"] / 1e6, 1),
                fixed(each["mb_per_gflop"], 2), fixed(each["cycles"] / 1e6, 2),
                fixed(each["seconds"], 3),
            ]
            for each in found
        ]  # fmt: skip
        return table(title, [*columns, "seconds"], rows, text_columns=4, keys=2, caption=caption)

    def file(self, name: str, tables: Mapping[str, Any]) -> str:
        """Return the network file, whose designs are unchanged."""
        head = [f"merp plan {name} --board {self.board} --batch {self.batch}, modelled"]
        return network_text(tables, head, {}, tables.get("design", {}))


def plan(network: Network, asked: PlanFields) -> Whole:
    """Return the plan of a network with undivided layers.

    Raises:
        BadInput: the machine has no cycle model, a layer has no design, or an option asks for tiles
            or other designs.
    """
    machine = machine_that_runs(network)
    if not machine.cycles:
        where = f"{distribution_of(machine.name)}: machine {machine.name}"
        raise BadInput(f"{where} has no cycle model, which a plan requires")
    for option in (*OF_TILES, *(["fit"] if asked.fit != SHIPPED else [])):
        if getattr(asked, option):
            raise BadInput(f"{name_of(option)}: {network.name} runs on {machine.name}: omit it")
    for layer in network.layers:
        network.design(layer)  # raises BadInput if there is none
    return Whole(network, asked.batch, open_board(fspath(asked.board)))
