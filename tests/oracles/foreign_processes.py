"""Single blocks as authors of other MyHDL designs write them: counters, shifters, machines.

They are foreign on purpose: MyHDL's manual is their style, not this package's.
"""

from typing import Any

from myhdl import ConcatSignal, Signal, always, always_comb, always_seq, enum, intbv, modbv

from merp.hdl.conversion.entity import entity


@entity
def counter(clk: Any, reset: Any, enable: Any, count: Any) -> Any:
    """Count modulo 2**n while enabled; asynchronous reset."""

    @always_seq(clk.posedge, reset=reset)
    def increment() -> None:
        if enable:
            count.next = count + 1

    return increment


@entity
def gray_counter(clk: Any, reset: Any, gray: Any) -> Any:
    """Binary counter with a Gray-coded output."""
    width = len(gray)
    binary = Signal(modbv(0)[width:])

    @always_seq(clk.posedge, reset=reset)
    def increment() -> None:
        binary.next = binary + 1

    @always_comb
    def encode() -> None:
        gray.next = (binary >> 1) ^ binary

    return increment, encode


@entity
def shift_register(clk: Any, reset: Any, load: Any, d: Any, si: Any, q: Any, so: Any) -> Any:
    """Parallel load, serial in, serial out."""
    n = len(q)
    stages = Signal(intbv(0)[n:])

    @always_seq(clk.posedge, reset=reset)
    def shift() -> None:
        if load:
            stages.next = d
        else:
            stages.next[n:1] = stages[n - 1 :]
            stages.next[0] = si

    @always_comb
    def outputs() -> None:
        q.next = stages
        so.next = stages[n - 1]

    return shift, outputs


@entity
def uart_tx(clk: Any, reset: Any, start: Any, data: Any, tx: Any, busy: Any, divisor: int) -> Any:
    """Eight bits, no parity, one stop bit; the enumeration of its states is its own."""
    t_state = enum("IDLE", "START_BIT", "DATA_BITS", "STOP_BIT")
    state = Signal(t_state.IDLE)
    baud = Signal(intbv(0, 0, divisor))
    index = Signal(intbv(0, 0, 8))
    shifter = Signal(intbv(0)[8:])

    @always_seq(clk.posedge, reset=reset)
    def send() -> None:
        if state == t_state.IDLE:
            tx.next = True
            if start:
                shifter.next = data
                baud.next = 0
                state.next = t_state.START_BIT
        elif baud != divisor - 1:
            baud.next = baud + 1
        else:
            baud.next = 0
            if state == t_state.START_BIT:
                tx.next = False
                index.next = 0
                state.next = t_state.DATA_BITS
            elif state == t_state.DATA_BITS:
                tx.next = shifter[0]
                shifter.next = shifter >> 1
                if index == 7:
                    state.next = t_state.STOP_BIT
                else:
                    index.next = index + 1
            else:
                tx.next = True
                state.next = t_state.IDLE

    @always_comb
    def status() -> None:
        busy.next = state != t_state.IDLE

    return send, status


@entity
def traffic_light(clk: Any, reset: Any, car: Any, red: Any, green: Any) -> Any:
    """Machine in two processes: next state and register."""
    states = enum("STOP", "AMBER", "GO")
    state, following = Signal(states.STOP), Signal(states.STOP)

    @always_comb
    def decide() -> None:
        following.next = state
        red.next = False
        green.next = False
        if state == states.STOP:
            red.next = True
            if car:
                following.next = states.GO
        elif state == states.GO:
            green.next = True
            if not car:
                following.next = states.AMBER
        else:
            following.next = states.STOP

    @always_seq(clk.posedge, reset=reset)
    def store() -> None:
        state.next = following

    return decide, store


@entity
def edge_detector(clk: Any, level: Any, rise: Any, fall: Any) -> Any:
    """One cycle high after each edge."""
    before = Signal(bool(0))

    @always(clk.posedge)
    def remember() -> None:
        before.next = level

    @always_comb
    def compare() -> None:
        rise.next = level and not before
        fall.next = before and not level

    return remember, compare


@entity
def priority_encoder(request: Any, index: Any, valid: Any) -> Any:
    """Index of the lowest request; a loop with a break."""
    n = len(request)

    @always_comb
    def encode() -> None:
        index.next = 0
        valid.next = False
        for i in range(n):
            if request[i]:
                index.next = i
                valid.next = True
                break

    return encode


@entity
def barrel_shifter(value: Any, amount: Any, left: Any, result: Any) -> Any:
    """Logical shift by a signal, in both directions."""
    mask = (1 << len(value)) - 1

    @always_comb
    def shift() -> None:
        if left:
            result.next = (value << amount) & mask
        else:
            result.next = value >> amount

    return shift


@entity
def signed_mac(clk: Any, clear: Any, a: Any, b: Any, total: Any) -> Any:
    """Sum of signed products; the product is as wide as it can get."""
    reach = 1 << (len(a) + len(b) - 1)
    product = Signal(intbv(0, min=-reach, max=reach))

    @always(clk.posedge)
    def accumulate() -> None:
        product.next = a * b
        if clear:
            total.next = 0
        else:
            total.next = total + product

    return accumulate


@entity
def lfsr(clk: Any, reset: Any, word: Any) -> Any:
    """Fibonacci register of 8 bits, taps 8, 6, 5, 4."""

    @always_seq(clk.posedge, reset=reset)
    def step() -> None:
        word.next[8:1] = word[7:0]
        word.next[0] = word[7] ^ word[5] ^ word[4] ^ word[3]

    return step


@entity
def pwm(clk: Any, reset: Any, duty: Any, out_high: Any) -> Any:
    """High for ``duty`` of 2**n cycles."""
    phase = Signal(modbv(0)[len(duty) :])

    @always_seq(clk.posedge, reset=reset)
    def run() -> None:
        phase.next = phase + 1
        out_high.next = phase < duty

    return run


@entity
def debouncer(clk: Any, reset: Any, button: Any, clean: Any, cycles: int = 4) -> Any:
    """Follow the button after ``cycles`` equal samples."""
    sample = [Signal(bool(0)) for _ in range(2)]
    quiet = Signal(intbv(0, 0, cycles))

    @always_seq(clk.posedge, reset=reset)
    def watch() -> None:
        sample[0].next = button
        sample[1].next = sample[0]
        if sample[1] == clean:
            quiet.next = 0
        elif quiet == cycles - 1:
            clean.next = sample[1]
            quiet.next = 0
        else:
            quiet.next = quiet + 1

    return watch


@entity
def clock_enable(clk: Any, reset: Any, tick: Any, ratio: int) -> Any:
    """One cycle in ``ratio`` is high: an enable in place of a divided clock."""
    count = Signal(intbv(ratio - 1, 0, ratio))

    @always_seq(clk.posedge, reset=reset)
    def divide() -> None:
        tick.next = False
        if count == 0:
            count.next = ratio - 1
            tick.next = True
        else:
            count.next = count - 1

    return divide


SINE = (0, 12, 25, 37, 49, 60, 71, 81, 90, 98, 106, 112, 117, 122, 125, 126)


@entity
def sine_rom(clk: Any, phase: Any, sample: Any) -> Any:
    """Quarter of a sine in a tuple of the module."""

    @always(clk.posedge)
    def read() -> None:
        sample.next = SINE[int(phase)]

    return read


@entity
def byte_swap(word: Any, swapped: Any) -> Any:
    """The bytes in reverse order, by slices and a concatenation."""
    joined = ConcatSignal(word(8, 0), word(16, 8), word(24, 16), word(32, 24))

    @always_comb
    def assign() -> None:
        swapped.next = joined

    return assign


@entity
def saturating_adder(a: Any, b: Any, total: Any) -> Any:
    """A variable of fixed width in a combinational process."""
    n = len(total)
    largest = (1 << n) - 1

    @always_comb
    def add() -> None:
        wide = intbv(0)[n + 1 :]
        wide[:] = a + b
        if wide > largest:
            total.next = largest
        else:
            total.next = wide[n:]

    return add
