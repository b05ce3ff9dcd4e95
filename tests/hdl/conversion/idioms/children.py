"""The inputs of children are constants, on their own and in bundles."""

from typing import Any

from myhdl import always, always_comb

from idioms.cases import case, idiom
from merp import entity

idiom("constants as inputs of a child")


@entity
def child_sum(a, b, y):
    """The output is a sum."""

    @always_comb
    def p():
        y.next = a + b

    return p


@entity
def child_register(clk, d, enable, q):
    """A register keeps its input while it is enabled."""

    @always(clk.posedge)
    def p():
        if enable:
            q.next = d

    return p


class Operands:
    """A bundle of two operands and a bit.

    Attributes:
        data: the one operand.
        more: the other operand.
        valid: whether they count.
    """

    def __init__(self, data: Any, more: Any, valid: Any) -> None:
        self.data = data
        self.more = more
        self.valid = valid


@entity
def child_of_bundle(pair, y):
    """The output is a sum, unless the bundle is not valid."""

    @always_comb
    def p():
        if pair.valid:
            y.next = pair.data + pair.more
        else:
            y.next = pair.data

    return p


@case("a=u4", "y=u6 z=s6")
@case("a=s4", "y=s7 z=s6")
@entity
def numbers_as_inputs(a, y, z):
    """The children have numbers as inputs."""
    first = child_sum(a, 20, y)
    second = child_sum(-3, a, z)
    return first, second


@case("a=u4", "y=u4 z=u4")
@entity
def bits_as_inputs(clk, a, y, z):
    """The children have truths and numbers as inputs."""
    first = child_register(clk, a, True, y)
    second = child_register(clk, 11, a(0), z)
    return first, second


@case("a=u4", "y=u5 z=u5 w=u5")
@entity
def fields_as_inputs(a, y, z, w):
    """The fields of bundles are numbers and truths."""
    first = child_of_bundle(Operands(a, 9, True), y)
    second = child_of_bundle(Operands(6, a, a(3)), z)
    third = child_of_bundle(Operands(a, a, False), w)
    return first, second, third
