"""Leaky ReLU of the lanes of a beat, and the results that wait for it."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.arithmetic.leaky_relu import leaky_relu
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.super_layer_ports import ResultBeat
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


def leak_latency(design: EngineDesign) -> int:
    """Return the cycles of leaky ReLU.

    Comments in exported files name the parameters that the text of a block reads. A block that
    calls this function reads none more, so plain designs keep their files.
    """
    return design.leak_latency


@block
def leaky_lanes(
    clk: Bit,
    config: OutputConfig,
    beat: ResultBeat,
    rectified: list[Word],
    leaked: list[Word],
    design: EngineDesign,
) -> Any:
    """Apply leaky ReLU to each lane of a beat, next to its ReLU."""
    width, place = design.fmt.width, design.sum_format.width
    return [
        leaky_relu(
            clk,
            leaky=config.leaky,
            slope=config.slope,
            x=beat.data(lane * place + width, lane * place),
            rectified=rectified[lane],
            y=leaked[lane],
            fmt=design.fmt,
            latency=design.leak_latency,
        )
        for lane in range(len(leaked))
    ]


@block
def late_results(clk: Bit, rst: Bit, beat: ResultBeat, number: Word, last: Bit, cycles: int) -> Any:
    """Delay the results of a beat without pooling; the number is 0 behind a reset."""
    valid, arrived = flag(), flag()
    waited = bits(len(number))

    @always_comb
    def mark() -> None:
        valid.next = beat.results != 0

    @always_comb
    def present() -> None:
        number.next = 0
        if arrived:
            number.next = waited

    return (
        mark,
        valid_delay(clk, rst, d=valid, q=arrived, cycles=cycles),
        delay(clk, d=beat.results, q=waited, cycles=cycles),
        delay(clk, d=beat.last, q=last, cycles=cycles),
        present,
    )
