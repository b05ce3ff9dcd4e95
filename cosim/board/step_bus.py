"""Traffic of a planned step on the memory bus, by closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merp.cosim.board.bus_ways import Ways, commands_ways, pass_ways, records_ways
from merp.cosim.board.lists import PlacedList
from merp.cosim.board.step_lists import placed_lists, step_system
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.models.base.errors import BadInput
from merp.models.memory.layout import FIRST_ADDRESS, Layout


@dataclass(frozen=True)
class ListBus:
    """Traffic of a list of passes.

    Attributes:
        placed: the list, with its place in memory.
        passes: the passes, each with the traffic of its engine's ports.
        commands: words of the list, which the command processor reads.
        records: registers, which the command processor writes.
    """

    placed: PlacedList
    passes: Sequence[tuple[PlannedPass, Ways]]
    commands: Ways
    records: Ways

    @property
    def total(self) -> Ways:
        """Traffic of the passes, the commands and the records."""
        return sum((each for _, each in self.passes), self.commands + self.records)


@dataclass(frozen=True)
class StepBus:
    """Traffic of a step.

    Attributes:
        memory_bits: bits of the memory's data bus.
        beat_bytes: bytes of a beat.
        lists: traffic of each list, by its name.
    """

    memory_bits: int
    beat_bytes: int
    lists: Mapping[str, ListBus]


def step_bus(plan: StepPlan) -> StepBus:
    """Return the traffic of a step on a simulated board.

    Arrays, then records and commands of each list, are at the addresses of a run. Partial beats and
    bursts depend on them.

    Raises:
        BadInput: the accelerator cannot run the plan, or the arrays do not fit its addresses.
    """
    system, dram = step_system(plan)
    port = system.design.port
    end = 1 << port.address_bits
    try:
        layout = Layout.of(plan.arrays.values(), FIRST_ADDRESS, end)
    except ValueError as error:
        raise BadInput(str(error)) from error
    placed, _ = placed_lists(plan, dict.fromkeys(plan.lists, system), layout, end)
    lists = {name: _list_bus(plan.lists[name], each) for name, each in placed.items()}
    return StepBus(dram.data_bits, port.beat_bytes, lists)


def _list_bus(passes: Sequence[PlannedPass], placed: PlacedList) -> ListBus:
    return ListBus(
        placed,
        list(zip(passes, map(pass_ways, placed.passes), strict=True)),
        commands_ways(placed),
        records_ways(placed),
    )
