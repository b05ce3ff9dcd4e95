"""The MACs of one output map, and the second rank into which their sums are copied."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag, signed
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.array.mac import mac
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.words import BIAS_SUM_BITS


@entity
def mac_lane(
    clk: Bit,
    pixels: Word,
    weight: Word,
    first: Bit,
    add: Bit,
    biased: Bit,
    copy: Bit,
    place: Word,
    total: Word,
    design: ArrayDesign,
) -> Any:
    """Multiply the pixels of a tile by the weight of an output map, and sum the products.

    pixels  in   a word of each MAC, MAC 0 lowest
    weight  in   a word for all MACs
    first   in   with the pixels: start new sums
    add     in   with the pixels: a slot is present; without a slot no sum changes
    biased  in   with the pixels: the weight is a delta, which the bias gradient sums, too
    copy    in   three cycles after the last operands of a tile: copy its sums into the second rank
    place   in   number of the MAC whose sum is read there; the number behind the last MAC reads the
                 bias gradient
    total   out  the sum, one cycle later

    Each lane delays its own controls, so that no register drives the MACs of all lanes. Latency: a
    sum is in the second rank four cycles after its last operands. Throughput: a slot per cycle, a
    sum per cycle. Reset: none.
    """
    macs = design.pixels
    fresh, go, go_biased = flag(), flag(), flag()
    totals = [signed(SUM_BITS) for _ in range(macs)]
    rank = [bits(SUM_BITS) for _ in range(macs + 1)]
    delta = bits(WORD_BITS)
    bias = signed(BIAS_SUM_BITS)

    controls = [
        delay(clk, d=first, q=fresh, cycles=2),
        delay(clk, d=add, q=go, cycles=2),
        delay(clk, d=biased, q=go_biased, cycles=2),
        delay(clk, d=weight, q=delta, cycles=2),
    ]
    units = [
        mac(
            clk,
            pixel=pixels((m + 1) * WORD_BITS, m * WORD_BITS),
            weight=weight,
            first=fresh,
            add=go,
            total=totals[m],
        )
        for m in range(macs)
    ]

    @always(clk.posedge)
    def sum_deltas() -> None:
        if go and go_biased:
            if fresh:
                bias.next = delta.signed()
            else:
                bias.next = bias + delta.signed()

    bias_word = bits(SUM_BITS)

    @always_comb
    def widen() -> None:
        whole = intbv(0, min=-(1 << SUM_BITS - 1), max=1 << SUM_BITS - 1)
        whole[:] = bias
        bias_word.next = whole[SUM_BITS:]

    @always(clk.posedge)
    def keep() -> None:
        if copy:
            for m in range(macs):
                rank[m].next = totals[m][SUM_BITS:]
            rank[macs].next = bias_word
        total.next = rank[place]

    return controls, units, sum_deltas, widen, keep
