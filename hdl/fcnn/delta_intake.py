"""Pooled deltas in front of the activation, from three streams in step."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.tanh_slope import tanh_slope
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import BYTE, bits
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.formats import FloatFormat
from merp.models.machines.fcnn.params.pool_design import PoolDesign


@block
def _canonical(x: Word, y: Word, fmt: FloatFormat) -> Any:
    """Give +0 + x: -0 becomes +0."""
    sign_at, frac_bits, nan, exp_max = fmt.width - 1, fmt.frac_bits, fmt.nan, fmt.exp_max

    @always_comb
    def add() -> None:
        y.next = x
        if x[sign_at:frac_bits] == 0:
            y.next = 0
        if x[sign_at:frac_bits] == exp_max and x[frac_bits:] != 0:
            y.next = nan

    return add


@block
def _masked(mask: Bit, x: Word, y: Word) -> Any:
    """Give x, or +0 if its mask is clear."""

    @always_comb
    def choose() -> None:
        if mask:
            y.next = x
        else:
            y.next = 0

    return choose


@block
def delta_lane(clk: Bit, delta: Word, state: Word, y: Word, coded: Word, design: PoolDesign) -> Any:
    """Apply the derivative of the activation to the delta of a lane.

    delta, state, y  in   the delta, its state byte and the result of tanh
    coded            out  the new delta, slope_latency cycles later, with its position above it

    With pooling, a delta is added to +0, so that -0 becomes +0.
    """
    width, fmt = design.fmt.width, design.fmt
    moved = bits(width)
    passed = bits(width) if design.pools else coded
    parts: list[Any] = []
    if design.activation == "tanh":
        parts.append(
            tanh_slope(
                clk, delta=delta, y=y, product=moved, fmt=fmt, mul_latency=design.mul_latency,
                add_latency=design.add_latency,
            )
        )  # fmt: skip
    elif design.activation == "relu":
        parts.append(_masked(mask=state(0), x=delta, y=moved))
    else:
        moved = delta
    if not design.pools:

        @always_comb
        def give() -> None:
            coded.next = moved

        return parts, give

    code = state(1 + design.code_bits, 1)
    late = code
    if design.slope_latency:
        late = bits(design.code_bits)
        parts.append(delay(clk, d=code, q=late, cycles=design.slope_latency))
    joined = ConcatSignal(late, passed)

    @always_comb
    def join() -> None:
        coded.next = joined

    parts += [_canonical(x=moved, y=passed, fmt=fmt), join]
    return parts


@block
def delta_lanes(
    clk: Bit, deltas: Word, states: Word, maps: Word, coded: Word, design: PoolDesign
) -> Any:
    """Apply the derivative of the activation to a beat: a ``delta_lane`` for each lane."""
    width, whole = design.fmt.width, design.coded_width
    each = [bits(whole) for _ in range(design.lanes)]
    together = ConcatSignal(*reversed(each)) if design.lanes > 1 else each[0]

    @always_comb
    def join() -> None:
        coded.next = together

    lanes = [
        delta_lane(
            clk,
            delta=deltas((lane + 1) * width, lane * width),
            state=states((lane + 1) * BYTE, lane * BYTE),
            y=maps((lane + 1) * width, lane * width),
            coded=one,
            design=design,
        )
        for lane, one in enumerate(each)
    ]
    return join, lanes
