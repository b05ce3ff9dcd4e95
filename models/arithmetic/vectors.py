"""Vectors of sixteen numbers as a type of the compiled code: one operation acts on sixteen lanes.

numba vectorises a loop only if it can prove that this is safe; explicit vectors need no proof. LLVM
splits a vector into the widths that the processor has, so results are the same on every processor.
Nothing is reassociated or contracted (LLVM's default). Therefore each lane has IEEE 754's result.

These operations work in compiled code only. Their semantics must not change: numba's cache would
not notice a change in the functions that use them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16

_compiled: Callable[[Callable[..., Any]], Any] = intrinsic  # called without ``typing``

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_LLVM = {types.float32: ir.FloatType(), types.int32: _INT, types.float64: _DOUBLE}
_HAS_FMA = bool(binding.get_host_cpu_features().get("fma"))


def _of(element: Any) -> Any:
    return ir.VectorType(element, LANES)


def _all(element: Any, value: float) -> Any:
    """Return a constant in every lane."""
    return ir.Constant(_of(element), [value] * LANES)


class Vector(types.Type):
    """Type of ``LANES`` numbers of one kind."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Vector({element})")


FLOATS, INTEGERS = Vector(types.float32), Vector(types.int32)
DOUBLES = Vector(types.float64)


@register_model(Vector)
class _Model(models.PrimitiveModel):
    """LLVM, too, treats a vector as one value."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _of(_LLVM[kind.element]))


def _operator(function: Any, kind: Vector, instruction: str) -> None:
    """Implement ``function`` of two vectors of a kind as one instruction."""

    def generic(self: Any, args: Any, kws: Any) -> Any:
        return signature(kind, kind, kind) if args == (kind, kind) else None

    infer_global(function)(type(instruction, (AbstractTemplate,), {"generic": generic}))

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    lower_builtin(function, kind, kind)(make)


_operator(operator.add, FLOATS, "fadd")
_operator(operator.mul, FLOATS, "fmul")
_operator(operator.add, DOUBLES, "fadd")
_operator(operator.sub, DOUBLES, "fsub")
_operator(operator.mul, DOUBLES, "fmul")
_operator(operator.add, INTEGERS, "add")  # these operations are modulo 2^32
_operator(operator.sub, INTEGERS, "sub")
_operator(operator.mul, INTEGERS, "mul")
_operator(operator.and_, INTEGERS, "and_")
_operator(operator.lshift, INTEGERS, "shl")  # by 0 to 31
_operator(operator.rshift, INTEGERS, "ashr")


def _spread(kind: Vector) -> Callable[..., Any]:
    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        llvm = _of(_LLVM[kind.element])
        value = context.cast(builder, args[0], form.args[0], kind.element)
        first = builder.insert_element(ir.Constant(llvm, None), value, _INT(0))
        return builder.shuffle_vector(first, first, _all(_INT, 0))

    return make


@_compiled
def floats(typing: Any, value: Any) -> Any:
    """Spread a binary32 number over all lanes."""
    return FLOATS(value), _spread(FLOATS)


@_compiled
def integers(typing: Any, value: Any) -> Any:
    """Spread a whole number of 32 bits over all lanes."""
    return INTEGERS(value), _spread(INTEGERS)


@_compiled
def doubles(typing: Any, value: Any) -> Any:
    """Spread a binary64 number over all lanes."""
    return DOUBLES(value), _spread(DOUBLES)


def _place(context: Any, builder: Any, form: Any, args: Any) -> Any:
    """Return the address of a vector in an array whose elements have a smaller alignment."""
    array, kind = context.make_array(form.args[0])(context, builder, args[0]), form.args[0]
    at = context.cast(builder, args[1], form.args[1], types.intp)
    pointer = builder.gep(array.data, [at])
    return builder.bitcast(pointer, _of(_LLVM[kind.dtype]).as_pointer())


@_compiled
def load(typing: Any, array: Any, at: Any) -> Any:
    """Load a vector of the elements from ``at`` on of a contiguous one-dimensional array."""

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, form, args), align=4)

    return Vector(array.dtype)(array, at), make


@_compiled
def spread(typing: Any, array: Any, at: Any) -> Any:
    """Spread element ``at`` of a contiguous one-dimensional array over all lanes."""
    kind = Vector(array.dtype)

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        data = context.make_array(form.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [context.cast(builder, args[1], form.args[1], types.intp)])
        return _spread(kind)(context, builder, kind(kind.element), [builder.load(place)])

    return kind(array, at), make


@_compiled
def store(typing: Any, array: Any, at: Any, vector: Any) -> Any:
    """Write a vector into a contiguous one-dimensional array, from ``at`` on."""

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, form, args), align=4)
        return context.get_dummy_value()

    return types.none(array, at, vector), make


@_compiled
def collect(
    typing: Any, source: Any, at: Any, offsets: Any, together: Any, target: Any, to: Any
) -> Any:
    """Copy ``source[at + offsets[lane]]`` to ``target[to + lane]``; all are one-dimensional.

    together: whether the offsets are contiguous.
    """

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        first, places, last = (
            context.make_array(form.args[index])(context, builder, args[index]).data
            for index in (0, 2, 4)
        )
        vector = _of(_LLVM[form.args[0].dtype]).as_pointer()
        at, to = (
            context.cast(builder, args[index], form.args[index], types.intp) for index in (1, 5)
        )
        target = builder.gep(last, [to])
        with builder.if_else(args[3]) as (then, otherwise):
            with then:
                place = builder.add(at, builder.load(places))
                found = builder.bitcast(builder.gep(first, [place]), vector)
                value = builder.load(found, align=4)
                builder.store(value, builder.bitcast(target, vector), align=4)
            with otherwise:
                for lane in range(LANES):
                    place = builder.add(at, builder.load(builder.gep(places, [_LONG(lane)])))
                    value = builder.load(builder.gep(first, [place]))
                    builder.store(value, builder.gep(target, [_LONG(lane)]))
        return context.get_dummy_value()

    return types.none(source, at, offsets, types.boolean, target, to), make


def _chosen(comparison: str) -> Callable[..., Any]:
    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed(comparison, *args), *args)

    return make


@_compiled
def larger(typing: Any, a: Any, b: Any) -> Any:
    """Return the larger of two integers, in each lane."""
    return INTEGERS(INTEGERS, INTEGERS), _chosen(">")


@_compiled
def smaller(typing: Any, a: Any, b: Any) -> Any:
    """Return the smaller of two integers, in each lane."""
    return INTEGERS(INTEGERS, INTEGERS), _chosen("<")


@_compiled
def flushed(typing: Any, vector: Any, least: Any) -> Any:
    """Replace binary32 numbers smaller than a given number by zeros of their sign.

    ``least``: bits of this positive number, int32; None if no number is flushed.
    """
    if isinstance(least, types.NoneType):
        return FLOATS(FLOATS, least), lambda context, builder, form, args: args[0]

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], _of(_INT))
        border = _spread(INTEGERS)(context, builder, INTEGERS(form.args[1]), args[1:])
        magnitude = builder.and_(bits, _all(_INT, 0x7FFFFFFF))
        small = builder.icmp_unsigned("<", magnitude, border)
        zero = builder.and_(bits, _all(_INT, -0x80000000))
        return builder.bitcast(builder.select(small, zero, bits), _of(ir.FloatType()))

    return FLOATS(FLOATS, least), make


@_compiled
def scaled(typing: Any, high: Any, low: Any, exponent: Any) -> Any:
    """Return (high * 2^16 + low) * 2^exponent in each lane, rounded once to binary32.

    ``high`` is signed, ``low`` is not. Exponents from 1 - 1023 to 1023 give normal binary64
    numbers, in which everything but the rounding is exact.
    """

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        doubles = _of(_DOUBLE)
        top = builder.fmul(builder.sitofp(args[0], doubles), _all(_DOUBLE, 65536.0))
        number = builder.fadd(top, builder.uitofp(args[1], doubles))
        field = builder.zext(builder.add(args[2], _all(_INT, 1023)), _of(_LONG))
        power = builder.bitcast(builder.shl(field, _all(_LONG, 52)), doubles)
        return builder.fptrunc(builder.fmul(number, power), _of(ir.FloatType()))

    return FLOATS(INTEGERS, INTEGERS, INTEGERS), make


@_compiled
def whole(typing: Any, vector: Any) -> Any:
    """Convert integers of 32 bits to binary64 numbers."""

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        return builder.sitofp(args[0], _of(_DOUBLE))

    return DOUBLES(INTEGERS), make


@_compiled
def power(typing: Any, exponent: Any) -> Any:
    """Return 2^exponent in each lane, binary64; exponents from -1022 to 1023."""

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        field = builder.zext(builder.add(args[0], _all(_INT, 1023)), _of(_LONG))
        return builder.bitcast(builder.shl(field, _all(_LONG, 52)), _of(_DOUBLE))

    return DOUBLES(INTEGERS), make


@_compiled
def single(typing: Any, vector: Any) -> Any:
    """Round binary64 numbers to binary32."""

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        return builder.fptrunc(args[0], _of(ir.FloatType()))

    return FLOATS(DOUBLES), make


@_compiled
def accumulated(typing: Any, a: Any, b: Any, total: Any) -> Any:
    """Return ``total + a * b`` in each lane, rounded once; the product must be a binary64 number.

    The product is exact, so a fused instruction and two separate instructions give the same result.
    A processor with the fused instruction uses it.
    """

    def make(context: Any, builder: Any, form: Any, args: Any) -> Any:
        if not _HAS_FMA:
            return builder.fadd(args[2], builder.fmul(*args[:2]))
        form = ir.FunctionType(_of(_DOUBLE), [_of(_DOUBLE)] * 3)
        fma = cgutils.get_or_insert_function(builder.module, form, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, args)

    return DOUBLES(DOUBLES, DOUBLES, DOUBLES), make
