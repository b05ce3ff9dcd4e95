"""Bits are coded, fed back, checked and rotated."""

from myhdl import Signal, always, always_comb, concat, downrange, intbv, modbv

from idioms.cases import case, idiom
from merp import entity

idiom("gray code")


@case("a=u4", "y=u4 z=u4")
@case("a=u9", "y=u9 z=u9")
@entity
def gray_and_back(a, y, z):
    """A loop decodes what is coded."""
    n = len(a)
    code = Signal(intbv(0)[n:])

    @always_comb
    def encode():
        y.next = a ^ (a >> 1)
        code.next = a ^ (a >> 1)

    @always_comb
    def decode():
        v = intbv(0)[n:]
        v[n - 1] = code[n - 1]
        for i in range(n - 2, -1, -1):
            v[i] = v[i + 1] ^ code[i]
        z.next = v

    return encode, decode


@case("x=b", "y=u4")
@entity
def gray_counter(clk, x, y):
    """A counter is coded in the same cycle."""
    n = modbv(0)[4:]
    number = Signal(n)

    @always(clk.posedge)
    def p():
        if x:
            number.next = number + 1
            y.next = ((number + 1) ^ ((number + 1) >> 1)) & 15

    return p


@case("a=u4 b=u4", "y=b z=u3")
@entity
def gray_distance(a, b, y, z):
    """Codes are compared and their difference is counted."""

    @always_comb
    def p():
        d = (a ^ (a >> 1)) ^ (b ^ (b >> 1))
        n = 0
        for i in range(4):
            if d & (1 << i):
                n += 1
        z.next = n
        y.next = a ^ (a >> 1) == b

    return p


idiom("linear feedback")


@case("x=b", "y=m8@1")
@case("x=b", "y=u8@77")
@entity
def feedback_by_concat(clk, x, y):
    """The feedback is a bit of a concatenation."""

    @always(clk.posedge)
    def p():
        if x:
            y.next = concat(y[7:], y[7] ^ y[5] ^ y[4] ^ y[3])

    return p


@case("x=b", "y=m16@1")
@entity
def feedback_by_mask(clk, x, y):
    """A mask is the feedback."""

    @always(clk.posedge)
    def p():
        if y[0]:
            y.next = (y >> 1) ^ 0xB400
        else:
            y.next = y >> 1 if x else y

    return p


@case("", "y=m7@1 z=u3")
@entity
def feedback_of_variable(clk, y, z):
    """A variable makes three steps a cycle."""

    @always(clk.posedge)
    def p():
        v = modbv(0)[7:]
        v[:] = y
        w = intbv(0)[3:]
        for i in range(3):
            b = v[6] ^ v[5]
            w[i] = b
            v <<= 1
            v[0] = b
        y.next = v
        z.next = w

    return p


idiom("check sums")


@case("d=b clear=b", "y=u8")
@entity
def check_of_bits(clk, d, clear, y):
    """A check sum takes a bit in every cycle."""

    @always(clk.posedge)
    def p():
        if clear:
            y.next = 0xFF
        elif y[7] ^ d:
            y.next = ((y << 1) & 0xFF) ^ 0x07
        else:
            y.next = (y << 1) & 0xFF

    return p


@case("d=u8", "y=u8", poly=0x07)
@case("d=u8", "y=u8", poly=0x31)
@entity
def check_of_bytes(clk, d, y, poly):
    """A check sum takes a byte in every cycle, as a number."""

    @always(clk.posedge)
    def p():
        c = y ^ d
        for _ in range(8):
            top = c & 0x80
            c = (c << 1) & 0xFF
            if top:
                c = c ^ poly
        y.next = c

    return p


@case("d=u4", "y=u16@65535")
@entity
def check_of_slices(clk, d, y):
    """A check sum is a vector that is shifted by slices."""

    @always(clk.posedge)
    def p():
        c = intbv(0)[16:]
        c[:] = y
        for i in downrange(4):
            feedback = c[15] ^ d[i]
            c[16:1] = c[15:]
            c[0] = feedback
            c[5] = c[5] ^ feedback
            c[12] = c[12] != feedback
        y.next = c

    return p


@case("d=u32", "y=u32@4294967295")
@entity
def check_of_words(clk, d, y):
    """A check sum has 32 bits, and its polynomial exceeds 2**31."""

    def step(c):
        if c & 1:
            return (c >> 1) ^ 0xEDB88320
        return c >> 1

    @always(clk.posedge)
    def p():
        y.next = step(step(y ^ d))

    return p


idiom("barrel shifter")


@case("a=u8 s=u3", "y=u8 z=u8")
@entity
def rotated_by_shifts(a, s, y, z):
    """Two shifts rotate, and a slice of twice the vector."""

    @always_comb
    def p():
        y.next = (a << s | a >> (8 - s)) & 0xFF
        z.next = (concat(a, a) >> s)[8:]

    return p


@case("a=u8 s=u3 left=b", "y=u8")
@entity
def rotated_in_stages(clk, a, s, left, y):
    """Each bit of the amount is a stage."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        for i in range(3):
            if s[i]:
                if left:
                    v[:] = concat(v[8 - (1 << i) :], v[8 : 8 - (1 << i)])
                else:
                    v[:] = concat(v[1 << i :], v[8 : 1 << i])
        y.next = v

    return p


@case("a=s8 s=u4 kind=u2", "y=s8")
@entity
def shifted_by_kind(a, s, kind, y):
    """The kind of shift is a signal's."""

    @always_comb
    def p():
        match kind:
            case 0:
                y.next = a >> s
            case 1:
                y.next = intbv(a << s)[8:].signed()
            case 2:
                y.next = (a[8:] >> s) - 128
            case _:
                y.next = -1 >> s

    return p
