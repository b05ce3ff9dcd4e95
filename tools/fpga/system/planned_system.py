"""The accelerators of a training step, with its arrays and lists in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

from merp.cosim.board.bitstreams import DividedStep
from merp.cosim.board.lists import WORD_BYTES, BoardPass, PlacedList
from merp.cosim.board.step_lists import cycle_limit, placed_lists, step_system
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.board.system import System
from merp.cosim.board.system_engine import BUSES, NARROWEST, memory_for
from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.board import SDR, Board
from merp.models.fpga.resources import Resources
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs
from merp.tools.common.boards import any_board
from merp.tools.common.planned_step import PART, machine_step
from merp.tools.fpga.layout.memory_layout import MemoryLayout, layout_of
from merp.tools.fpga.system.bitstreams import divided
from merp.tools.fpga.system.fit import Fit
from merp.tools.fpga.system.host_arrays import HostArrays, host_arrays
from merp.tools.fpga.system.loads import Loads, loader_of, planned_loads
from merp.tools.fpga.system.request import SystemFields

ENDLESS: Final = 1 << 63
"""Bytes of a memory that is large enough for every list."""


@dataclass(frozen=True)
class PlannedSystem:
    """The accelerator on a bitstream.

    Attributes:
        name: name of the bitstream.
        plan: its engines, and the lists that it runs.
        system: the accelerator.
        lists: its lists by name, behind the arrays.
        resources: estimated resources; None without an estimate.
    """

    name: str
    plan: StepPlan
    system: System
    lists: Mapping[str, PlacedList]
    resources: Resources | None

    @property
    def movers(self) -> list[dict[str, Any]]:
        """The streams of the memory subsystem that engines share, by their numbers."""
        design = self.system.design
        users: dict[int, list[str]] = {}
        for engine in self.system.engines:
            for number, _ in engine.movers.values():
                users.setdefault(number, []).append(engine.name)
        return [
            {
                "bitstream": self.name, "number": design.numbers[name], "name": name,
                "direction": "read" if name in dict(design.readers) else "write",
                "word_bits": mover.word_bits, "engines": users[design.numbers[name]],
            }
            for name, mover in (*design.readers, *design.writers)
        ]  # fmt: skip

    @property
    def port(self) -> dict[str, int]:
        """The widths of the port to memory, and its longest burst."""
        port = self.system.design.port
        return {
            "data_bits": port.data_bits, "address_bits": port.address_bits,
            "id_bits": port.id_bits, "burst_beats": port.burst_beats,
        }  # fmt: skip

    def engines(self) -> list[dict[str, Any]]:
        """Return a row for each engine: its number, the work that it does, and its streams."""
        rows = []
        for engine in self.system.engines:
            own = [
                each
                for passes in self.plan.lists.values()
                for each in passes
                if each.engine == engine.name
            ]
            rows.append(
                {
                    "engine": engine.name,
                    "bitstream": self.name,
                    "number": engine.number,
                    "layers": list(dict.fromkeys(each.layer for each in own)),
                    "phases": list(dict.fromkeys(each.phase for each in own)),
                    "passes": len(own),
                    "streams": {name: of for name, (of, _) in engine.movers.items()},
                }
            )
        return rows

    def list_row(self, name: str) -> dict[str, Any]:
        """Return the facts of a list: its place, its records, its ring and its passes."""
        placed, planned = self.lists[name], self.plan.lists[name]
        registers = {each.offset: each.name for each in self.system.host.registers}
        sizes = [1 + each.engine.counters for each in placed.passes]
        begins = accumulate(sizes[:-1], initial=0)
        found = zip(planned, placed.passes, placed.settings, begins, strict=True)
        return {
            "name": name,
            "bitstream": self.name,
            "address": placed.address,
            "words": int(placed.words.size),
            "records": {
                "address": placed.records.base * WORD_BYTES,
                "words": placed.records.words,
            },
            "cycle_limit": cycle_limit(planned),
            "ring": [
                {"register": registers[offset], "offset": offset, "value": value}
                for offset, value in placed.ring
            ],
            "passes": [_pass_row(*each) for each in found],
        }


def _pass_row(
    planned: PlannedPass, placed: BoardPass, settings: Mapping[str, int], record: int
) -> dict[str, Any]:
    return {
        "layer": planned.layer,
        "phase": planned.phase,
        "number": planned.number,
        "engine": planned.engine,
        "settings": {"word": next(iter(settings.values())), "names": list(settings)},
        "record": record,
        "walks": {
            stream: {
                "array": planned.parts[stream].array,
                "stream": placed.engine.movers[stream][0],
                "word_bytes": placed.engine.movers[stream][1].word_bytes,
                "base": moved.walk.base,
                "words": moved.walk.words,
                "dimensions": [[each.count, each.stride] for each in moved.walk.dimensions],
                "elements": moved.elements,
                "tail": moved.tail,
            }
            for stream, moved in placed.moves.items()
        },
    }


@dataclass(frozen=True)
class PlannedStep:
    """The accelerators of a step.

    Attributes:
        network: the network.
        board: the board.
        memory: the arrays with their addresses.
        lists: names of all lists, in the order of a step.
        host: the arrays that the host writes and reads.
        systems: the accelerator of each bitstream.
        end: address behind the last list.
        loads: loads of bitstreams; None with one bitstream.
        loading: the bitstream that a list loads at its end, by the name of the list.
    """

    network: Network
    board: Board
    memory: MemoryLayout
    lists: Sequence[str]
    host: HostArrays
    systems: Sequence[PlannedSystem]
    end: int
    loads: Loads | None
    loading: Mapping[str, str]

    @property
    def bytes(self) -> dict[str, int]:
        """The bytes of arrays, and of lists with their records, with all padding."""
        arrays = self.memory.bytes
        return {"arrays": arrays, "lists": self.end - self.memory.layout.first - arrays}

    def list_rows(self) -> list[dict[str, Any]]:
        """Return the facts of each list, in the order of a step."""
        homes = {name: system for system in self.systems for name in system.lists}
        return [
            {
                **homes[name].list_row(name),
                "host": {"writes": self.host.writes[name], "reads": self.host.reads[name]},
            }
            for name in self.lists
        ]


def planned_step(network: Network, asked: SystemFields) -> PlannedStep:
    """Return the requested accelerators.

    Raises:
        BadInput: the machine cannot run a step from arrays in memory. Or an accelerator needs too
            many or too wide streams. Or an engine does not fit the board, or arrays and lists do
            not fit its memory, or bitstreams do not fit its flash.
    """
    planned = machine_step(network)
    memory, board = layout_of(network, asked), any_board(str(asked.board))
    plan = planned(network, asked.images, momentum=asked.momentum)
    layout = memory.layout
    if plan.arrays != layout.arrays:
        machine = machine_that_runs(network).name
        raise ValueError(f"{machine}: its parts {PART} and layout have different arrays")
    streams = [pin for top in plan.tops.values() for pin in top.ports.streams]
    # SDRAM moves one word of its bus in a cycle, so a wider port costs logic and gains little.
    narrow = (NARROWEST,) if board.memory_kind == SDR else ()
    fit = Fit(board, plan, memory_for(streams, buses=(*narrow, *BUSES)))
    step, loads = _fitted(network, fit), None
    if len(step.parts) > 1:
        fit = replace(fit, loader=loader_of(board))
        step = _fitted(network, fit)
        loads = planned_loads(board, network.name, list(step.parts))
    systems = {
        name: step_system(part, fit.dram, fit.loader)[0] for name, part in step.parts.items()
    }
    of_list = {name: systems[home] for name, home in step.homes.items()}
    words = {name: loads.words[to] for name, to in step.loads.items()} if loads else {}
    lists, end = placed_lists(step.whole, of_list, layout, ENDLESS, words)
    port = next(iter(systems.values())).design.port
    allowed = min(layout.end, 1 << port.address_bits) - layout.first
    if end - layout.first > allowed:
        raise BadInput(
            f"{network.name}: {given('images', asked.images)}, {given('board', asked.board)}: "
            f"{end - layout.first} bytes of arrays and lists: allowed are the memory's {allowed}"
        )
    made = [
        PlannedSystem(
            name, part, systems[name], {each: lists[each] for each in part.lists},
            fit.resources(part.tops),
        )
        for name, part in step.parts.items()
    ]  # fmt: skip
    names, host = list(step.whole.lists), host_arrays(step.whole)
    return PlannedStep(network, board, memory, names, host, made, end, loads, step.loads)


def _fitted(network: Network, fit: Fit) -> DividedStep:
    """Divide a step among the bitstreams of a board.

    Raises:
        BadInput: an engine alone does not fit.
    """
    for name in fit.plan.tops:
        if lacking := fit.lacking([name]):
            raise BadInput(
                f"{network.name}: {given('board', fit.board.name)}: engine {name} needs {lacking}"
            )
    return divided(fit.plan, fit)
