"""Add a bias to one of several elements of a beat that are added to sums."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.widen import widen
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.ports.kernels import BiasWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def added_lane(
    clk: Bit,
    bias: BiasWrite,
    loaded: Word,
    step: Word,
    accept: Bit,
    word: Word,
    total: Word,
    design: EngineDesign,
    at: int,
) -> Any:
    """Add the bias to element ``at`` of each beat; the first element of a run belongs to map 0.

    bias    in   the biases of the run, written in the order of maps before its first beat
    loaded  in   number of written biases
    step    in   map_port modulo the maps of the run, or map_port if both are equal
    accept  in   a beat is taken
    word    in   the element of this lane
    total   out  element plus bias in the format of the accumulator

    Each lane stores all biases, because its map changes from beat to beat. Latency: 1 + add_latency
    cycles. Throughput: an element per cycle. Reset: none, begin with biases.
    """
    fmt = design.accumulator_format
    maps = design.groups * design.n_cu
    biases = [bits(design.fmt.width) for _ in range(maps)]
    place = count(maps)  # map of the next element
    after = count(2 * maps + design.map_port)
    element, offset = bits(design.fmt.width), bits(design.fmt.width)
    wide_element, wide_offset = bits(fmt.width), bits(fmt.width)

    @always_comb
    def look_ahead() -> None:
        after.next = place + step

    @always(clk.posedge)
    def take() -> None:
        if bias.enable != 0:
            biases[loaded].next = bias.data
            # The map of the first element; as many maps as biases have been loaded by now.
            place.next = at
            for few in range(1, at + 1):
                if loaded + 1 == few:
                    place.next = at % few
        if accept:
            if after >= loaded:
                place.next = after - loaded
            else:
                place.next = after

    @always(clk.posedge)
    def fetch() -> None:
        offset.next = biases[place]
        element.next = word

    return (
        look_ahead,
        take,
        fetch,
        widen(x=element, y=wide_element, width=fmt.width),
        widen(x=offset, y=wide_offset, width=fmt.width),
        fp_add(clk, a=wide_element, b=wide_offset, y=total, fmt=fmt, latency=design.add_latency),
    )
