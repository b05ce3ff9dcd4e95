"""Gradients of the biases if several deltas arrive per cycle."""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.lane import split_index, word_of_lane
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.gradient_array.bias_gradient import bias_gradient
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ


@entity
def bias_gradients(
    clk: Bit,
    rst: Bit,
    element: DeltaElement,
    read_enable: Bit,
    read_index: Word,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Add each of ``delta_beat`` deltas to the sum of its output map, from +0.

    element   in   deltas of neighbouring maps; opening starts their sums. Behind the last map of a
                   position they are arbitrary, because no sum of theirs is read.
    read_enable, read_index  in   the memories are used by the reader; number of the sum
    gradient  out  this sum, GRADIENT_READ cycles later

    Lane i has the maps with map mod delta_beat = i. Throughput: an element per cycle. Reset:
    elements in the pipeline are dropped.
    """
    lanes, width = design.delta_beat, design.fmt.width
    word, lane, found_lane = bits(len(element.index)), count(lanes - 1), count(lanes - 1)
    sums = [bits(width) for _ in range(lanes)]
    side_by_side = ConcatSignal(*reversed(sums))
    found = bits(lanes * width)

    @always_comb
    def join() -> None:
        found.next = side_by_side

    def of_lane(at: int) -> DeltaElement:
        own = copy(element)
        own.data = element.data((at + 1) * width, at * width)
        return own

    adders = [
        bias_gradient(
            clk,
            rst,
            element=of_lane(at),
            read_enable=read_enable,
            read_index=word,
            gradient=sums[at],
            design=design,
        )
        for at in range(lanes)
    ]
    return (
        join,
        adders,
        split_index(clk, index=read_index, word=word, lane=lane),
        delay(clk, d=lane, q=found_lane, cycles=GRADIENT_READ - 1),
        word_of_lane(words=found, lane=found_lane, word=gradient),
    )
