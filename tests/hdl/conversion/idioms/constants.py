"""What does not change: vectors, tuples, bounds of loops and members of enumerations."""

from myhdl import Signal, always, always_comb, always_seq, enum, intbv

from idioms.cases import case, idiom
from merp import entity

idiom("constant vectors")

CONSTANT = intbv(9)[4:]


@case("a=u4", "y=u5 z=u4 w=u4")
@case("a=s4", "y=s6 z=u4 w=u4")
@entity
def constant_operand(a, y, z, w):
    """Constant vectors of the block and of the module are operands."""
    k = intbv(6)[4:]

    @always_comb
    def p():
        y.next = a + CONSTANT
        z.next = (a ^ k) & 15
        w.next = ~k & a

    return p


@case("a=u4", "y=u7 z=b")
@entity
def parts_of_constant(clk, a, y, z):
    """Slices and bits of a constant vector, and of one with a sign."""
    k = intbv(0xB5)[8:]
    m = intbv(-6, min=-8, max=8)

    @always(clk.posedge)
    def p():
        y.next = k[7:3] + a + len(k) - m
        z.next = k[a[3:]] and m[3]

    return p


@case("a=u4", "y=u5")
@entity
def constant_decides(a, y):
    """Constant vectors are compared and shift."""
    k = intbv(3)[3:]

    @always_comb
    def p():
        if a == CONSTANT:
            y.next = 31
        elif a - k < 0:
            y.next = a << k - 1
        else:
            y.next = a >> k

    return p


idiom("constant tuples")


@case("a=u4 s=u2", "y=s9", t=(3, -7, 0, 12))
@case("a=s4 s=0..3", "y=s9", t=(-8, 15, 6))
@entity
def signed_entries(a, s, y, t):
    """Entries with signs are added, multiplied and negated."""

    @always_comb
    def p():
        y.next = t[s] * a - t[s] + (-t[s] >> 1)

    return p


@case("a=u4 s=u2", "y=u4 z=s4", t=(1, 3, 7, 15), u=(-1, -2, -4, -8))
@entity
def masks_of_tuple(clk, a, s, y, z, t, u):
    """Entries are masks, and are masked."""

    @always(clk.posedge)
    def p():
        y.next = a & t[s] & t[(s + 1) & 3]
        z.next = u[s] | (t[s] & 6)

    return p


@case(
    "a=u4 s=u2 r=u1",
    "y=u3 z=b",
    t=((1, 9), (-3, 4), (15, 0), (7, 8)),
    bits=(True, False, True, True),
)
@entity
def tuple_of_tuples(a, s, r, y, z, t, bits):
    """Entries of tuples of tuples decide, and entries are truths."""

    @always_comb
    def p():
        z.next = bits[s] and a[s]
        y.next = 0
        for i in range(4):
            if i == s:
                if t[i][0] < a:
                    y.next = 1 + i
                elif a == t[i][1]:
                    y.next = 6
        if t[3][1] + r == a:
            y.next = 7

    return p


idiom("expressions as bounds of loops")


@case("a=u8", "y=u8", n=8)
@case("a=u6", "y=u6", n=6)
@entity
def bounds_of_parameter(a, y, n):
    """Neighbours are combined by a loop up to the parameter less one."""

    @always_comb
    def p():
        for i in range(n - 1):
            y.next[i] = a[i] ^ a[i + 1]
        y.next[n - 1] = a[n - 1]

    return p


@case("a=u8", "y=u6", n=3)
@case("a=s8", "y=u6", n=2)
@entity
def loop_from_expression(clk, a, y, n):
    """The bounds and the step of a loop are expressions."""

    @always(clk.posedge)
    def p():
        total = 0
        for i in range(n // 2, 2 * n, 1):
            total += a[i + 1]
        for i in range(len(a) - 1, n, -n):
            total += a[i] * i
        y.next = total

    return p


@case("a=u4", "y=u4", n=4)
@entity
def label_in_loop(a, y, n):
    """Labels within a loop depend on its variable."""

    @always_comb
    def p():
        y.next = 0
        for i in range(1, n):
            if a == i * n - 1:
                y.next = i
            elif a == n + i:
                y.next = 15 - i

    return p


idiom("members of enumerations")


@case("x=b", "y=u3")
@entity
def keywords_as_states(clk, x, y):
    """The states are named like keywords and with underscores."""
    states = enum("begin", "in_", "_x", "signal", "End")
    state = Signal(states.begin)

    @always(clk.posedge)
    def p():
        if state == states.begin:
            if x:
                state.next = states.in_
            y.next = 1
        elif state == states.in_:
            state.next = states._x
            y.next = 2
        elif state == states._x:
            state.next = states.signal if x else states.begin
            y.next = 3
        elif state == states.signal:
            state.next = states.End
            y.next = 4
        else:
            state.next = states.begin
            y.next = 5

    return p


@case("x=b reset=sync+", "y=u2 z=b")
@case("x=b reset=async-", "y=u2 z=b")
@entity
def enumeration_with_code(clk, reset, x, y, z):
    """The states have a code with one bit each; outputs follow from the state."""
    states = enum("wire", "process", "_", "a__b", encoding="one_hot")
    state = Signal(states.wire)

    @always_seq(clk.posedge, reset=reset)
    def step():
        if state == states.wire:
            state.next = states.process
        elif state in (states.process, states._):
            if x:
                state.next = states.a__b
            else:
                state.next = states._
        else:
            state.next = states.wire

    @always_comb
    def show():
        z.next = state != states.wire
        if state == states.process:
            y.next = 1
        elif state == states._:
            y.next = 2
        elif state == states.a__b:
            y.next = 3
        else:
            y.next = 0

    return step, show


@case("x=b", "y=u2")
@entity
def states_in_match(clk, x, y):
    """A match statement names the states, a variable holds the next one."""
    states = enum("type", "port_", "loop", "__z")
    state = Signal(states.loop)

    @always(clk.posedge)
    def p():
        following = states.loop
        match state:
            case states.loop:
                y.next = 0
                following = states.type
            case states.type | states.port_:
                y.next = 1
                if x:
                    following = states.__z
                else:
                    following = states.port_
            case _:
                y.next = 3
        state.next = following

    return p
