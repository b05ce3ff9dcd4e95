"""CUs with narrow factors that share multipliers, including all decoders of words."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.cu_narrow import cu_narrow
from merp.hdl.cnn_merp.cu_array.decoded import activation_of, operand_of
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.narrow_products import shared_multipliers
from merp.models.base.fused import activation_bits, operand_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def narrow_units(clk: Bit, window: Word, kernels: Word, sums: Word, design: EngineDesign) -> Any:
    """Multiply a window by the kernels of all units, and add each unit's products.

    window   in   binary32, tap 0 lowest
    kernels  in   binary32, tap 0 lowest in each unit, unit 0 lowest
    sums     out  format of the accumulator, unit 0 lowest

    Latency: cu_latency. Throughput: one per cycle. Reset: none.
    """
    taps, units, fmt = design.taps, design.n_cu, design.accumulator_format
    width = operand_bits(design.operand_precision)
    decoded = [bits(activation_bits(1, design.operand_precision)) for _ in range(taps)]
    operands = [bits(width) for _ in range(units * taps)]
    factors = bits(taps * len(decoded[0]))
    kernel = [bits(taps * width) for _ in range(units)]
    products = [bits(taps * 2 * design.operand_precision) for _ in range(units)]
    found = [bits(fmt.width) for _ in range(units)]
    joined = ConcatSignal(*reversed(decoded)) if taps > 1 else decoded[0]
    joined_sums = ConcatSignal(*reversed(found)) if units > 1 else found[0]

    decoders = [
        *(
            activation_of(clk, window((tap + 1) * 32, tap * 32), decoded[tap], design)
            for tap in range(taps)
        ),
        *(
            operand_of(kernels((at + 1) * 32, at * 32), operands[at], design)
            for at in range(units * taps)
        ),
    ]
    waits = []
    for j in range(units):
        own = operands[j * taps : (j + 1) * taps]
        word = ConcatSignal(*reversed(own)) if taps > 1 else own[0]
        waits.append(delay(clk, d=word, q=kernel[j], cycles=1))

    @always_comb
    def join() -> None:
        factors.next = joined
        sums.next = joined_sums

    multipliers = shared_multipliers(
        clk, factors, kernel, products, design.taps, design.operand_precision
    )
    adders = [
        cu_narrow(
            clk, window=factors, kernel=kernel[j], products=products[j], y=found[j], design=design
        )
        for j in range(units)
    ]
    return decoders, waits, join, multipliers, adders
