"""Traffic of a planned step on the memory bus, by closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from merp.cosim.board.lists import BoardPass, PlacedList
from merp.cosim.board.step_lists import placed_lists, step_system
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.layout import FIRST_ADDRESS, Layout
from merp.models.memory.params.memory_port import BYTE
from merp.models.memory.params.subsystem import LIST, RECORDS


@dataclass(frozen=True)
class Crossing:
    """Traffic of a port in one direction, with the bytes that are no elements by their cause.

    Attributes:
        ports: bytes of elements, as on the pins of the port.
        padding: unused bits of words and free places of a last word, in bytes.
        partial: bytes of beats outside the words. Only reads have them: strobes keep writes to the
            bytes of words.
        beats: beats on the bus.
        bursts: bursts on the bus.
    """

    ports: int = 0
    padding: int = 0
    partial: int = 0
    beats: int = 0
    bursts: int = 0

    @property
    def bus(self) -> int:
        """Bytes on the bus: of all beats in reads, with a strobe in writes."""
        return self.ports + self.padding + self.partial

    def __add__(self, other: Crossing) -> Crossing:
        """Return the traffic of both."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Crossing(*(one + another for one, another in pairs))


@dataclass(frozen=True)
class Ways:
    """Traffic of both directions."""

    read: Crossing = Crossing()
    write: Crossing = Crossing()

    @property
    def both(self) -> Crossing:
        """The sum."""
        return self.read + self.write

    def __add__(self, other: Ways) -> Ways:
        """Return the traffic of both."""
        return Ways(self.read + other.read, self.write + other.write)


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
    lists = {name: _list_bus(system, plan.lists[name], each) for name, each in placed.items()}
    return StepBus(dram.data_bits, port.beat_bytes, lists)


def _list_bus(system: System, passes: Sequence[PlannedPass], placed: PlacedList) -> ListBus:
    ways = [_pass_bus(each) for each in placed.passes]
    interface = system.design.interface
    movers = dict((*interface.readers, *interface.writers))
    fetched = bus_traffic(placed.fetched, movers[LIST])
    recorded = bus_traffic(placed.records, movers[RECORDS])
    return ListBus(
        placed,
        list(zip(passes, ways, strict=True)),
        Ways(read=_crossing(fetched, fetched.useful, reads=True)),
        Ways(write=_crossing(recorded, recorded.useful, reads=False)),
    )


def _pass_bus(each: BoardPass) -> Ways:
    """Return the traffic of the ports of an engine in a pass."""
    found = Ways()
    for pin in each.engine.ports.streams:
        if pin.name in each.moves:
            # As for masks, bits become bytes once for the elements of a pass.
            size = -(-each.moves[pin.name].elements * pin.element // BYTE)
            reads = pin in each.engine.ports.inputs
            moved = _crossing(each.traffic(pin.name), size, reads=reads)
            found += Ways(read=moved) if reads else Ways(write=moved)
    return found


def _crossing(traffic: BusTraffic, size: int, *, reads: bool) -> Crossing:
    """Return the traffic of elements of ``size`` bytes."""
    return Crossing(
        size,
        traffic.useful - size,
        traffic.wasted if reads else 0,
        traffic.beats,
        sum(traffic.bursts.values()),
    )
