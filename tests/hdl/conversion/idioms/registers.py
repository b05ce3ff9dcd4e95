"""What is kept from cycle to cycle: memories, values after resets, variables of instances."""

from myhdl import Signal, always, always_comb, always_seq, enum, instance, intbv, modbv

from idioms.cases import case, idiom, signal
from merp import entity

idiom("memories")


@case("address=u3 d=u8 write=b", "y=u8 z=u8")
@case("address=u3 d=s8 write=b", "y=s8 z=s8")
@entity
def memory(clk, address, d, write, y, z):
    """A memory is written and read by a signal, and read by a constant."""
    words = [signal("s8") if d.min < 0 else signal("u8") for _ in range(8)]

    @always(clk.posedge)
    def p():
        if write:
            words[address].next = d
        y.next = words[address]
        z.next = words[5]

    return p


@case("address=0..6 d=u4 write=b", "y=u4 z=u6")
@entity
def memory_with_contents(clk, address, d, write, y, z):
    """A memory of six words has contents, and constants name some of them."""
    words = [signal(f"u4@{3 * i % 16}") for i in range(6)]

    @always(clk.posedge)
    def store():
        if write:
            words[address].next = d
        else:
            words[0].next = d
            words[3].next = words[2] ^ 15

    @always_comb
    def load():
        y.next = words[address]
        z.next = words[1] + words[address] + words[5]

    return store, load


@case("x=b s=u2", "y=b z=u3")
@entity
def delay_line(clk, x, s, y, z):
    """A list of bits moves on, and a signal taps it."""
    line = [signal("b") for _ in range(4)]

    @always(clk.posedge)
    def p():
        line[0].next = x
        for i in range(1, 4):
            line[i].next = line[i - 1]

    @always_comb
    def q():
        y.next = line[s] and not line[3]
        z.next = line[0] + line[1] + line[2] + line[s]

    return p, q


@case("address=u2 other=u2 d=u4", "y=b z=u5")
@entity
def memory_in_condition(clk, address, other, d, y, z):
    """Words are compared, indexed and an index."""
    words = [signal("u4") for _ in range(4)]

    @always(clk.posedge)
    def p():
        if words[address] < d:
            words[address].next = d - words[other][2:] if d > 3 else d
        elif words[other][0]:
            words[other].next[3:1] = d[2:]
        y.next = words[address] == words[other]
        z.next = words[words[address][2:]] + words[(address + 1) % 4]

    return p


idiom("resets")


@case("x=b reset=sync+", "y=u4@3 z=b@1")
@case("x=b reset=sync-", "y=u4@3 z=b@1")
@case("x=b reset=async+", "y=u4@3 z=b@1")
@case("x=b reset=async-", "y=u4@3 z=b@1")
@entity
def reset_of_registers(clk, reset, x, y, z):
    """A reset brings back the values of the beginning."""

    @always_seq(clk.posedge, reset=reset)
    def p():
        if x:
            y.next = (y + 5) % 16
        z.next = y[3] ^ x

    return p


@case("a=u3 reset=sync-", "y=s4@-2 z=u3")
@case("a=u3 reset=async+", "y=s4@-2 z=u3")
@entity
def reset_of_states(clk, reset, a, y, z):
    """A reset brings back a state, a memory and parts of a register."""
    states = enum("first", "second")
    state = Signal(states.second)
    words = [signal(f"u3@{i + 1}") for i in range(4)]

    @always_seq(clk.posedge, reset=reset)
    def p():
        if state == states.first:
            state.next = states.second
            words[a[2:]].next = a
        else:
            state.next = states.first
            y.next[2:] = a[2:]
        z.next = words[a[2:]]

    return p


@case("x=b reset=sync+", "y=u4")
@case("x=b reset=sync-", "y=u4")
@entity
def reset_by_hand(clk, reset, x, y):
    """Processes read the reset as a bit, too."""
    active = reset.active

    @always(clk.posedge)
    def p():
        if reset == active:
            y.next = 9
        elif (x and not reset) or reset:
            y.next = y ^ 6
        else:
            y.next = y >> 1

    return p


idiom("instance with a clock")


@case("a=u4", "y=u4 z=u5")
@entity
def waits_for_clock(clk, a, y, z):
    """A process waits for the clock for ever."""

    @instance
    def p():
        while True:
            yield clk.posedge
            y.next = a
            z.next = y + a

    return p


@case("a=u4 x=b", "y=u4 z=u4")
@entity
def keeps_variables(clk, a, x, y, z):
    """Variables of a process live on, and wrap."""

    @instance
    def p():
        count = modbv(0)[4:]
        place = 3
        while True:
            yield clk.posedge
            if x:
                count += a
            place = (place + 1) % 10
            y.next = count
            z.next = place

    return p


@case("a=u4 reset=async+", "y=u4")
@entity
def waits_for_either(clk, reset, a, y):
    """A process waits for the clock and for its reset."""

    @instance
    def p():
        while True:
            yield clk.posedge, reset.posedge
            if reset:
                y.next = 6
            else:
                y.next = y ^ a

    return p


@case("a=s4", "y=s6")
@entity
def sums_until_limit(clk, a, y):
    """A variable of bits keeps a sum that starts again."""

    @instance
    def p():
        total = intbv(0, min=-30, max=30)
        while True:
            yield clk.posedge
            if -20 < total < 20:
                total[:] = total + a
            else:
                total[:] = 0
            y.next = total

    return p
