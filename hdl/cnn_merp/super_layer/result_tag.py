"""Delay of the result count of a beat, parallel to the pooling units."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import ResultBeat
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def result_tag(
    clk: Bit,
    rst: Bit,
    beat: ResultBeat,
    results: Word,
    last: Bit,
    design: EngineDesign,
    cycles: int,
) -> Any:
    """Delay the number of results of a beat, and the mark of the last results of the run.

    beat           in   the beat of this cycle.
    results, last  out  number and mark of the beat

    Latency: cycles, at least two. Throughput: a beat per cycle. Reset: no results, so that elements
    left in the pooling units have no effect.
    """
    counts = [count(design.r) for _ in range(cycles - 1)]
    marks = [flag() for _ in range(cycles - 1)]

    @always(clk.posedge)
    def follow() -> None:
        counts[0].next = beat.results
        marks[0].next = beat.last
        for i in range(1, cycles - 1):
            counts[i].next = counts[i - 1]
            marks[i].next = marks[i - 1]
        results.next = counts[cycles - 2]
        last.next = marks[cycles - 2]
        if rst:
            for j in range(cycles - 1):
                counts[j].next = 0
            results.next = 0

    return follow
