"""The accelerator of a training step, with its arrays and lists in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from merp.cosim.board.lists import WORD_BYTES, BoardPass, PlacedList
from merp.cosim.board.step_lists import cycle_limit, placed_lists, step_system
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs
from merp.tools.common.planned_step import PART, machine_step
from merp.tools.layout.memory_layout import MemoryLayout, layout_of
from merp.tools.layout.request import LayoutFields

ENDLESS: Final = 1 << 63
"""Bytes of a memory that is large enough for every list."""


@dataclass(frozen=True)
class PlannedSystem:
    """The accelerator of a step.

    Attributes:
        network: the network.
        memory: the arrays with their addresses.
        plan: engines and passes.
        system: the accelerator.
        lists: the lists by name, behind the arrays.
        end: address behind the last list.
    """

    network: Network
    memory: MemoryLayout
    plan: StepPlan
    system: System
    lists: Mapping[str, PlacedList]
    end: int

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
                "number": design.numbers[name], "name": name,
                "direction": "read" if name in dict(design.readers) else "write",
                "word_bits": mover.word_bits, "engines": users[design.numbers[name]],
            }
            for name, mover in (*design.readers, *design.writers)
        ]  # fmt: skip

    @property
    def bytes(self) -> dict[str, int]:
        """The bytes of arrays, and of lists with their records, with all padding."""
        arrays = self.memory.bytes
        return {"arrays": arrays, "lists": self.end - self.memory.layout.first - arrays}

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
                    "number": engine.number,
                    "layers": list(dict.fromkeys(each.layer for each in own)),
                    "phases": list(dict.fromkeys(each.phase for each in own)),
                    "passes": len(own),
                    "streams": {name: of for name, (of, _) in engine.movers.items()},
                }
            )
        return rows

    def list_rows(self) -> list[dict[str, Any]]:
        """Return a row for each list: its place, its records, its ring and its passes."""
        return [self._list_row(name, placed) for name, placed in self.lists.items()]

    def _list_row(self, name: str, placed: PlacedList) -> dict[str, Any]:
        host, planned = self.system.host, self.plan.lists[name]
        registers = {each.offset: each.name for each in host.registers}
        sizes = [1 + each.engine.counters for each in placed.passes]
        begins = accumulate(sizes[:-1], initial=0)
        found = zip(planned, placed.passes, placed.settings, begins, strict=True)
        return {
            "name": name,
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


def planned_system(network: Network, asked: LayoutFields) -> PlannedSystem:
    """Return the requested accelerator.

    Raises:
        BadInput: the machine cannot run a step from arrays in memory. Or the accelerator needs too
            many or too wide streams, or arrays and lists do not fit the memory.
    """
    planned = machine_step(network)
    memory = layout_of(network, asked)
    plan = planned(network, asked.images, momentum=asked.momentum)
    layout = memory.layout
    if plan.arrays != layout.arrays:
        machine = machine_that_runs(network).name
        raise ValueError(f"{machine}: its parts {PART} and layout have different arrays")
    system, _ = step_system(plan)
    lists, end = placed_lists(plan, system, layout, ENDLESS)
    allowed = min(layout.end, 1 << system.design.port.address_bits) - layout.first
    if end - layout.first > allowed:
        where = given("images", asked.images)
        if asked.board is not None:
            where += f", {given('board', asked.board)}"
        raise BadInput(
            f"{network.name}: {where}: {end - layout.first} bytes of arrays and lists: allowed are "
            f"the memory's {allowed}"
        )
    return PlannedSystem(network, memory, plan, system, lists, end)
