"""Memories, streams and hierarchies as authors of other MyHDL designs write them."""

from typing import Any

from myhdl import Signal, always, always_comb, always_seq, block, intbv

from merp.hdl.conversion.entity import entity


@entity
def fifo(
    clk: Any, reset: Any, we: Any, din: Any, re: Any, dout: Any, empty: Any, full: Any, depth: int
) -> Any:
    """A list of signals as memory, pointers and a level."""
    memory = [Signal(intbv(0)[len(din) :]) for _ in range(depth)]
    head, tail = (Signal(intbv(0, 0, depth)) for _ in range(2))
    level = Signal(intbv(0, 0, depth + 1))

    @always_seq(clk.posedge, reset=reset)
    def move() -> None:
        if we and not full:
            if head == depth - 1:
                head.next = 0
            else:
                head.next = head + 1
        if re and not empty:
            if tail == depth - 1:
                tail.next = 0
            else:
                tail.next = tail + 1
        if (we and not full) and not (re and not empty):
            level.next = level + 1
        elif (re and not empty) and not (we and not full):
            level.next = level - 1

    @always(clk.posedge)
    def write() -> None:
        if we and not full:
            memory[head].next = din

    @always_comb
    def read() -> None:
        dout.next = memory[tail]

    @always_comb
    def flags() -> None:
        empty.next = level == 0
        full.next = level == depth

    return move, write, read, flags


@entity
def dual_port_ram(
    clk: Any, we_a: Any, addr_a: Any, din_a: Any, dout_a: Any, addr_b: Any, dout_b: Any
) -> Any:
    """One port writes and reads, the other reads; read before write."""
    words = [Signal(intbv(i)[len(din_a) :]) for i in range(2 ** len(addr_a))]

    @always(clk.posedge)
    def port_a() -> None:
        if we_a:
            words[addr_a].next = din_a
        dout_a.next = words[addr_a]

    @always(clk.posedge)
    def port_b() -> None:
        dout_b.next = words[addr_b]

    return port_a, port_b


@entity
def fir(clk: Any, reset: Any, x: Any, y: Any, taps: tuple[int, ...]) -> Any:
    """Transversal filter: a delay line as a list, coefficients as a tuple, a loop for the sum."""
    n = len(taps)
    line = [Signal(intbv(0, min=x.min, max=x.max)) for _ in range(n)]

    @always_seq(clk.posedge, reset=reset)
    def delay() -> None:
        line[0].next = x
        for i in range(1, n):
            line[i].next = line[i - 1]

    @always_comb
    def combine() -> None:
        total = intbv(0, min=-(2**15), max=2**15)
        total[:] = 0
        for i in range(n):
            factor = taps[i]
            total[:] = total + line[i] * factor
        y.next = total

    return delay, combine


class Bus:
    """A simple bus, as the manual's chapter on interfaces has it."""

    def __init__(self, width: int) -> None:
        self.write = Signal(bool(0))
        self.address = Signal(intbv(0)[2:])
        self.to_slave = Signal(intbv(0)[width:])
        self.from_slave = Signal(intbv(0)[width:])


@entity
def bus_registers(clk: Any, bus: Bus, total: Any) -> Any:
    """Four registers behind an interface, each a signal of its own."""
    a, b, c, d = (Signal(intbv(0)[len(bus.to_slave) :]) for _ in range(4))

    @always(clk.posedge)
    def write() -> None:
        if bus.write:
            if bus.address == 0:
                a.next = bus.to_slave
            elif bus.address == 1:
                b.next = bus.to_slave
            elif bus.address == 2:
                c.next = bus.to_slave
            else:
                d.next = bus.to_slave

    @always_comb
    def read() -> None:
        bus.from_slave.next = d
        if bus.address == 0:
            bus.from_slave.next = a
        elif bus.address == 1:
            bus.from_slave.next = b
        elif bus.address == 2:
            bus.from_slave.next = c
        total.next = a + b + c + d

    return write, read


class Handshake:
    """Data, valid and ready."""

    def __init__(self, width: int) -> None:
        self.data = Signal(intbv(0)[width:])
        self.valid = Signal(bool(0))
        self.ready = Signal(bool(0))


@entity
def skid_buffer(clk: Any, reset: Any, sink: Handshake, source: Handshake) -> Any:
    """Two places, ready from a register."""
    kept = Signal(intbv(0)[len(sink.data) :])
    occupied = Signal(bool(0))

    @always_comb
    def outputs() -> None:
        sink.ready.next = not occupied
        source.valid.next = sink.valid or occupied
        if occupied:
            source.data.next = kept
        else:
            source.data.next = sink.data

    @always_seq(clk.posedge, reset=reset)
    def keep() -> None:
        if occupied:
            if source.ready:
                occupied.next = False
        elif sink.valid and not source.ready:
            occupied.next = True
            kept.next = sink.data

    return outputs, keep


@block
def half_adder(a: Any, b: Any, s: Any, c: Any) -> Any:
    """A plain block: part of whatever entity it is in."""

    @always_comb
    def add() -> None:
        s.next = a ^ b
        c.next = a & b

    return add


@block
def full_adder(a: Any, b: Any, ci: Any, s: Any, co: Any) -> Any:
    """Plain blocks in a plain block."""
    partial, c1, c2 = (Signal(bool(0)) for _ in range(3))
    first = half_adder(a, b, partial, c1)
    second = half_adder(partial, ci, s, c2)

    @always_comb
    def carry() -> None:
        co.next = c1 or c2

    return first, second, carry


@entity
def ripple_adder(a: Any, b: Any, total: Any) -> Any:
    """A row of plain blocks, three levels deep, flattened into one entity."""
    n = len(a)
    sums = [Signal(bool(0)) for _ in range(n)]
    carries = [Signal(bool(0)) for _ in range(n + 1)]
    carry_out = carries[n]
    cells = [full_adder(a(i), b(i), carries[i], sums[i], carries[i + 1]) for i in range(n)]

    @always_comb
    def collect() -> None:
        for i in range(n):
            total.next[i] = sums[i]
        total.next[n] = carry_out

    return cells, collect


@entity
def stage(clk: Any, d: Any, q: Any, step: int) -> Any:
    """One step of the pipeline, an entity of its own."""

    @always(clk.posedge)
    def add() -> None:
        q.next = (d + step) % 256

    return add


@block
def pair(clk: Any, d: Any, q: Any, step: int) -> Any:
    """A plain block that holds entities."""
    between = Signal(intbv(0)[8:])
    return stage(clk, d, between, step), stage(clk, between, q, step=2 * step)


@entity
def pipeline(clk: Any, d: Any, q: Any) -> Any:
    """Entities in plain blocks in an entity."""
    between = Signal(intbv(0)[8:])
    first = pair(clk, d, between, 1)
    second = pair(clk, between, q, 3)
    return first, second


@block
def plain_top(clk: Any, d: Any, q: Any) -> Any:
    """A top that nobody marked: MyHDL's own decorator will do."""
    inner = stage(clk, d, q, 5)
    return inner
