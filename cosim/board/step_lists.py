"""The accelerator of a planned step, and its lists, for arrays with any addresses: no board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from merp.cosim.board.bitstreams import DividedStep
from merp.cosim.board.buffers import Buffers
from merp.cosim.board.dram import Dram
from merp.cosim.board.lists import BoardPass, PlacedList, placed_list
from merp.cosim.board.moved import moved
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.board.system import BoardEngine, System, system_of
from merp.cosim.board.system_engine import limit_of, memory_for, port_for
from merp.models.base.errors import BadInput
from merp.models.memory import commands as make
from merp.models.memory.commands import Command
from merp.models.memory.layout import FIRST_ADDRESS, Layout
from merp.models.memory.params.subsystem import Loader


def step_system(
    plan: StepPlan, dram: Dram | None = None, loader: Loader = Loader.NONE
) -> tuple[System, Dram]:
    """Return the accelerator of a step, and its memory.

    Args:
        plan: the engines.
        dram: the memory; None: the narrowest whose beats hold a word of each stream.
        loader: part that loads bitstreams.

    Raises:
        BadInput: a stream is wider than every memory, or there are too many streams.
    """
    ports = {name: top.ports for name, top in plan.tops.items()}
    dram = memory_for([pin for each in ports.values() for pin in each.streams], dram)
    return system_of(plan.tops, port_for(ports, dram), loader), dram


def step_systems(step: DividedStep, dram: Dram | None = None) -> tuple[dict[str, System], Dram]:
    """Return the accelerator of each bitstream, and their memory. The host loads bitstreams.

    Raises:
        BadInput: as ``step_system``.
    """
    every = [pin for top in step.whole.tops.values() for pin in top.ports.streams]
    dram = memory_for(every, dram)
    loader = Loader.HOST if len(step.parts) > 1 else Loader.NONE
    return {name: step_system(part, dram, loader)[0] for name, part in step.parts.items()}, dram


def placed_lists(
    plan: StepPlan,
    systems: Mapping[str, System],
    layout: Layout,
    end: int,
    loads: Mapping[str, int] = MappingProxyType({}),
) -> tuple[dict[str, PlacedList], int]:
    """Place all lists of a step behind its arrays, as a board does.

    Args:
        plan: the step.
        systems: the accelerator of each list, by the name of the list.
        layout: the addresses of its arrays.
        end: address behind the memory.
        loads: for lists that end with a load, the flash address of the bitstream, by name.

    Returns:
        The lists by name, and the address behind the last one.

    Raises:
        BadInput: as ``step_list``, or the memory is too small.
    """
    places = Buffers(end - layout.first, layout.first)
    places.alloc(layout.used)  # first, because the arrays are there

    def alloc(size: int) -> int:
        return places.alloc(size).address

    lists = {
        name: step_list(systems[name], layout, passes, alloc, loads.get(name))
        for name, passes in plan.lists.items()
    }
    return lists, places.free


def check_step(step: DividedStep, dram: Dram | None = None) -> None:
    """Check that accelerators can run a step: streams, walks, and elements of beats.

    ``dram`` is that of ``step_systems``.

    Raises:
        BadInput: they cannot.
    """
    systems, _ = step_systems(step, dram)
    end = 1 << next(iter(systems.values())).design.port.address_bits
    try:
        layout = Layout.of(step.whole.arrays.values(), FIRST_ADDRESS, end)
    except ValueError as error:
        raise BadInput(str(error)) from error
    homes = {name: systems[home] for name, home in step.homes.items()}
    placed_lists(step.whole, homes, layout, end)


def cycle_limit(passes: Sequence[PlannedPass]) -> int:
    """Return the cycles that each pass of a list may take."""
    return limit_of(sum(part.walk.total for each in passes for part in each.parts.values()))


def step_list(
    system: System,
    layout: Layout,
    passes: Sequence[PlannedPass],
    alloc: Callable[[int], int],
    load: int | None = None,
) -> PlacedList:
    """Place a list of a step, and its records, in memory.

    Args:
        system: the accelerator of the step.
        layout: the addresses of the arrays.
        passes: the passes, one after the other; at least one.
        alloc: as in ``placed_list``.
        load: flash address of the bitstream that the list loads at its end; None: no load.

    Raises:
        BadInput: the elements of a beat are not beside each other in an array, or a mover cannot
            make a walk.
    """
    engines = {engine.name: engine for engine in system.engines}
    placed = [board_pass(engines[each.engine], layout, each) for each in passes]
    last: Command = make.END if load is None else make.load(load)
    try:
        return placed_list(system, placed, alloc, cycle_limit(passes), last)
    except ValueError as error:
        raise BadInput(str(error)) from error


def board_pass(engine: BoardEngine, layout: Layout, planned: PlannedPass) -> BoardPass:
    """Return a planned pass of an engine, with walks through the arrays of a layout.

    Raises:
        BadInput: the elements of a beat are not beside each other in an array.
    """
    moves = {stream: moved(engine, layout, stream, part) for stream, part in planned.parts.items()}
    return BoardPass(engine, planned.config, moves)
