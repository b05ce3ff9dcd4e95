"""The convolution module of F-CNN: forward propagation, or delta propagation, of one layer."""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import always, always_comb

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.fcnn.beat_ports import full_beats
from merp.hdl.fcnn.cycle_counters import cycle_counters
from merp.hdl.fcnn.module_ports import status_of, stream_of_words
from merp.hdl.fcnn.run_flags import run_flags
from merp.hdl.fcnn.stream_conv import ConvActivity, ConvConfig, ConvStreams, stream_conv
from merp.models.machines.fcnn.params.conv_registers import COUNTERS, WORDS
from merp.models.machines.fcnn.params.stream_design import StreamDesign


def _one(design: StreamDesign) -> int:
    return 1


def _sums(design: StreamDesign) -> int:
    return design.maps_at_once * design.lanes


class ConvPorts(DesignPorts[StreamDesign]):
    """Ports of the module. A beat of a map has an element of each lane, a beat of sums one of each
    lane and map. All beats are full, so tkeep of an input is not read. Counters count
    elements.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", ConvConfig),
        stream_of_words(WORDS["map_in"], "map_in", lambda design: design.lanes),
        stream_of_words(WORDS["kernel"], "kernel", _one),
        stream_of_words(WORDS["bias"], "bias", _one),
        stream_of_words(WORDS["partial_in"], "partial_in", _sums),
        stream_of_words(WORDS["sum_out"], "sum_out", _sums),
        status_of(COUNTERS, lambda design: WORDS),
    )
    WORDS = tuple(WORDS)


@entity
def fcnn_conv(clk: Bit, rst: Bit, start: Bit, ports: ConvPorts, design: StreamDesign) -> Any:
    """Convolve the maps of a layer, or its deltas, and add each input map to partial sums.

    start           in   pulse: a run begins; registers are stable from here to done
    s_axis_map      in   maps: block of output maps, input map, row, column, image
    s_axis_kernel   in   kernel elements: block, input map, map of the block, row, column
    s_axis_bias     in   the bias of each output map, if biased
    s_axis_partial  in   sums of the pass before, if there is one; in the first pass if begun
    m_axis_sum      out  sums of each pass: block, input map, row, column, beat; map, image

    A missing map of the last block has elements in the beats of sums, but no kernels and no bias.
    Latency: 1 + cu_latency + add_latency + 2 cycles from the beat that completes a window to its
    sums. Throughput: a beat per cycle. Reset: no run.
    """
    activity = ConvActivity()
    left, started, running, ended, error = (flag() for _ in range(5))
    source = ports.m_axis_sum

    @always_comb
    def look() -> None:
        running.next = left or not activity.drain

    @always_comb
    def end() -> None:
        ended.next = started and not running

    @always(clk.posedge)
    def follow() -> None:
        if source.tvalid and source.tready and source.tlast:
            left.next = False
        if start:
            left.next = True
            started.next = True
        if rst:
            left.next = False
            started.next = False

    streams = ConvStreams(
        design, sink_map=stream_of(ports.s_axis_map), sink_kernel=stream_of(ports.s_axis_kernel),
        sink_bias=stream_of(ports.s_axis_bias), sink_partial=stream_of(ports.s_axis_partial),
        source=stream_of(source),
    )  # fmt: skip
    wide = [each for each in ports.sources.values() if each.tkeep is not None]
    return (
        look, end, follow, [full_beats(stream=each) for each in wide],
        stream_conv(
            clk, rst, start, config=ports.config, streams=streams, activity=activity,
            framing_error=error, design=design,
        ),
        run_flags(
            clk, rst, start, running=running, ended=ended, wrong=error, status=ports.status
        ),
        cycle_counters(
            clk, start, running=running, activity=activity, status=ports.status,
            counters=COUNTERS,
        ),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
