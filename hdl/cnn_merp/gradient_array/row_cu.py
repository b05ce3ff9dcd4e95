"""One computational unit of the row-wise kernel update (page ``row_array``)."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.gradient_array.row_lane import SCALE_PLACE, SUM_PLACE, row_lane
from merp.hdl.cnn_merp.gradient_array.row_largest import row_largest
from merp.hdl.cnn_merp.gradient_array.row_ports import DeltaFactor, RowControl, Sweep, TapFactors
from merp.hdl.cnn_merp.gradient_array.row_sum import row_sum
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_align import fused_align
from merp.hdl.fused.fused_product import fused_product
from merp.hdl.fused.narrow_align import narrow_align
from merp.models.base.fused import DISTANCE_BITS, EXPONENT_BITS, PRODUCT, activation_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import SCALE_BITS, exponent_bits, sum_bits


def _joined(words: list[Any]) -> Any:
    return ConcatSignal(*reversed(words)) if len(words) > 1 else words[0]


@block
def _sign(clk: Bit, x: Bit, delta: Bit, minus: Bit) -> Any:
    @always(clk.posedge)
    def differ() -> None:
        minus.next = x != delta

    return differ


@entity
def row_cu(
    clk: Bit,
    control: RowControl,
    scales: Word,
    exponents: Word,
    activations: Word,
    delta: DeltaFactor,
    elements: Word,
    design: EngineDesign,
    multiplied: Word = None,
) -> Any:
    """Multiply windows by deltas, and add the sums over a row for each tap to the gradient.

    control      in   timing
    scales       in   scales of the elements of the window, tap 0 lowest, for the exponent pass
    exponents    in   exponents of these elements, SCALE cycles after the mantissa pass has read
                      them
    activations  in   the elements decoded for the mantissa pass
    delta        in   the same for the delta
    multiplied   in   (with narrow factors, in place of the factors) products of the significands
    elements     out  elements of the gradient memories, lane 0 lowest, two cycles after their
                      address

    Throughput: a window per cycle, and ku_lanes gradients. Reset: only through control.
    """
    taps, dsp, lanes = design.taps, design.fused_dsp, design.ku_lanes
    width, window = activation_bits(dsp), design.fused_window
    narrow, exponent_width = multiplied is not None, exponent_bits(design)
    products = [bits(window) for _ in range(taps)]
    terms = [bits(window) for _ in range(taps)]
    distances = [bits(DISTANCE_BITS) for _ in range(taps)]
    sums = [bits(1 << SUM_PLACE) for _ in range(taps)]
    held = [bits(1 << SCALE_PLACE) for _ in range(taps)]
    several = design.kernel_port > 1
    element = design.accumulator_format.width if several else design.fmt.width
    words = [bits(design.gradient_banks * element) for _ in range(lanes)]
    # Tap t is lane t mod lanes of the step t div lanes, and steps alternate among the banks.
    word = _joined([
        lane((bank + 1) * element, bank * element)
        for bank in range(design.gradient_banks)
        for lane in words
    ] if design.gradient_banks > 1 else words)  # fmt: skip

    minus = [flag() for _ in range(taps if narrow else 0)]
    signs = [
        _sign(
            clk,
            x=exponents((tap + 1) * exponent_width - 1),
            delta=delta.exponent(EXPONENT_BITS),
            minus=minus[tap],
        )
        for tap in range(len(minus))
    ]

    def term(tap: int) -> tuple[Any, ...]:
        """Return the aligned product of a tap."""
        if narrow:
            size = 2 * design.operand_precision
            product = multiplied((tap + 1) * size, tap * size)
            return (
                narrow_align(
                    clk,
                    product=product,
                    minus=minus[tap],
                    distance=distances[tap],
                    term=terms[tap],
                    later=0,
                ),
            )
        return (
            fused_product(
                clk,
                activation=activations((tap + 1) * width, tap * width),
                kernel=delta.operand,
                y=products[tap],
                dsp=dsp,
                latency=PRODUCT,
            ),
            fused_align(
                clk, product=products[tap], distance=distances[tap], term=terms[tap], later=0
            ),
        )

    sweep = Sweep(control.first, control.keep_largest, control.active, control.keep_scales)
    units = [
        (
            row_largest(
                clk,
                sweep=sweep,
                factors=TapFactors(
                    scales((tap + 1) * SCALE_BITS, tap * SCALE_BITS),
                    delta.scale,
                ),
                exponents=TapFactors(
                    exponents(tap * exponent_width + EXPONENT_BITS, tap * exponent_width),
                    delta.exponent(EXPONENT_BITS, 0) if narrow else delta.exponent,
                ),
                distance=distances[tap],
                scale=held[tap],
                narrow=narrow,
            ),
            *term(tap),
            row_sum(
                clk,
                clear=control.clear,
                keep=control.keep_sums,
                term=terms[tap],
                held=sums[tap],
                width=sum_bits(design),
            ),
        )
        for tap in range(taps)
    ]
    accumulators = [
        row_lane(
            clk,
            control=control,
            sums=_joined(sums[lane::lanes]),
            scales=_joined(held[lane::lanes]),
            element=words[lane],
            design=design,
        )
        for lane in range(lanes)
    ]

    @always_comb
    def join() -> None:
        elements.next = word

    return signs, units, accumulators, join
