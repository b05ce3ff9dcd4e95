"""Designs that no hardware can follow; ``# refused`` marks the statement that none has."""

from myhdl import Signal, StopSimulation, always, always_comb, concat, delay, instance, intbv

from idioms.cases import refused, signal
from merp import entity


@refused("a=u4", "y=u4")
@entity
def grows_without_bound(clk, a, y):
    """A variable grows from cycle to cycle."""

    @instance
    def p():
        total = 0
        while True:
            yield clk.posedge
            total = total + a  # refused
            y.next = total & 15

    return p


@refused("a=u4", "y=u4")
@entity
def divides_truly(a, y):
    """A quotient is no integer."""

    @always_comb
    def p():
        y.next = int(a / 2)  # refused

    return p


@refused("a=u4", "y=u4")
@entity
def multiplies_by_float(a, y):
    """A factor is no integer."""

    @always_comb
    def p():
        y.next = int(a * 0.75)  # refused

    return p


@refused("a=1..16 b=1..16", "y=u4")
@entity
def loops_while_data(a, b, y):
    """The data tells how often a loop runs."""

    @always_comb
    def p():
        v = a + 0
        w = b + 0
        while v != w:  # refused
            if v > w:
                v = v - w
            else:
                w = w - v
        y.next = v

    return p


@refused("a=u4", "y=u4")
@entity
def calls_itself(a, y):
    """A helper calls itself."""

    def ones(v):
        if v == 0:
            return 0
        return (v & 1) + ones(v >> 1)  # refused

    @always_comb
    def p():
        y.next = ones(a)

    return p


@refused("a=u4", "y=u4 z=u5")
@entity
def reads_next(clk, a, y, z):
    """A process reads what a signal is going to be."""

    @always(clk.posedge)
    def p():
        y.next = a
        z.next = y.next + 1  # refused

    return p


@refused("s=u2", "y=u8")
@entity
def memory_of_many_widths(s, y):
    """The words of a memory have different widths."""
    words = [signal(f"u{5 + i}@{i}") for i in range(4)]

    @always_comb
    def p():
        y.next = words[s]  # refused

    return p


@refused("a=u2 s=u1", "y=u4")
@entity
def chooses_text(a, s, y):
    """A signal chooses one of several strings."""
    names = ("01", "10")

    @always_comb
    def p():
        y.next = concat(names[s], a)  # refused

    return p


@refused("a=u4", "y=u4")
@entity
def prints(clk, a, y):
    """A process prints."""

    @always(clk.posedge)
    def p():
        y.next = a
        print("a is", a)  # refused

    return p


@refused("", "y=b")
@entity
def waits_for_time(clk, y):
    """A process waits for a time."""

    @instance
    def p():
        while True:
            yield delay(3)  # refused
            y.next = not y

    return p


@refused("a=u2 b=u2", "y=u2")
@entity
def chooses_among_others(clk, a, b, y):
    """A signal chooses an element of a list that another process drives too."""
    held = [Signal(intbv(0)[2:]) for _ in range(4)]

    @always(clk.posedge)
    def chosen():
        held[a].next = b  # refused

    @always(clk.posedge)
    def first():
        held[0].next = a

    @always_comb
    def p():
        y.next = held[3]

    return chosen, first, p


@refused("a=u4 n=u2", "y=u4")
@entity
def list_of_open_length(a, n, y):
    """How many elements a list has depends on data."""

    @always_comb
    def p():
        y.next = sum([a[i] for i in range(4) if n > i])  # refused

    return p


@refused("a=u4 n=u2", "y=u4")
@entity
def memory_within_process(clk, a, n, y):
    """A process makes a list of vectors and changes them."""

    @instance
    def p():
        words = [intbv(0)[4:] for _ in range(4)]  # refused
        while True:
            yield clk.posedge
            words[n][:] = a
            y.next = words[n - 1]

    return p


@refused("a=u4", "y=u4")
@entity
def always_raises(a, y):
    """A process raises an error in any case."""

    @always_comb
    def p():
        y.next = a
        raise ValueError  # refused

    return p


@refused("a=u4", "y=u4")
@entity
def waits_for_less(a, y):
    """A process runs first, then waits for less than it reads."""

    @instance
    def p():
        while True:
            y.next = a ^ y  # refused
            yield a

    return p


@refused("a=u4", "y=u4")
@entity
def ends_simulation(clk, a, y):
    """A process ends the simulation."""

    @always(clk.posedge)
    def p():
        if a == 9:
            raise StopSimulation  # refused
        else:
            y.next = a

    return p
