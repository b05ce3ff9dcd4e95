"""The gradient module of F-CNN: gradients of kernels and biases of one layer."""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import always_comb

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.fcnn.cycle_counters import cycle_counters
from merp.hdl.fcnn.module_ports import status_of, stream_of_words
from merp.hdl.fcnn.run_flags import run_flags
from merp.hdl.fcnn.stream_gradient import (
    GradientActivity,
    GradientConfig,
    GradientStreams,
    stream_gradient,
)
from merp.models.machines.fcnn.params.gradient_registers import COUNTERS, WORDS
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class GradientPorts(DesignPorts[StreamDesign]):
    """Ports of the module. A beat of the input has an element of each lane, a beat of deltas one of
    each lane and map of a block. All beats are full, so tkeep is not read. Counters
    count elements.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", GradientConfig),
        stream_of_words(WORDS["map_in"], "map_in", lambda design: design.lanes),
        stream_of_words(
            WORDS["delta_in"], "delta_in", lambda design: design.maps_at_once * design.lanes
        ),
        stream_of_words(WORDS["gradient_out"], "gradient_out", lambda design: 1),
        status_of(COUNTERS, lambda design: WORDS),
    )
    WORDS = tuple(WORDS)


@entity
def fcnn_gradient(
    clk: Bit, rst: Bit, start: Bit, ports: GradientPorts, design: StreamDesign
) -> Any:
    """Compute the gradients of a layer from its input and the deltas of its sums.

    start            in   pulse: a run begins; registers are stable from here to done
    s_axis_map       in   input maps: block of output maps, input map, row, column, image
    s_axis_delta     in   deltas: block, once again for each input map, row, column, beat; map,
                          image
    m_axis_gradient  out  gradients: block, input map, map of the block; with the first input map
                          its bias; then its kernel, row by row

    A missing map of the last block has elements in the beats of deltas, but no gradients. The
    first sum is read mul_latency + add_latency + 2 cycles after the last centre of a pass. Latency
    from there: A + 1 cycles, those of the tree, and 2 to the port. Throughput: a beat per cycle in
    a pass. Reset: no run.
    """
    activity = GradientActivity()
    running, done, error = flag(), flag(), flag()
    streams = GradientStreams(
        design, sink_map=stream_of(ports.s_axis_map), sink_delta=stream_of(ports.s_axis_delta),
        source=stream_of(ports.m_axis_gradient),
    )  # fmt: skip

    @always_comb
    def look() -> None:
        running.next = (
            activity.issue or activity.drain or activity.stall_output or activity.stall_map
            or activity.stall_delta
        )  # fmt: skip

    return (
        look,
        stream_gradient(
            clk, rst, start, config=ports.config, streams=streams, activity=activity, done=done,
            framing_error=error, design=design,
        ),
        run_flags(
            clk, rst, start, running=running, ended=done, wrong=error, status=ports.status
        ),
        cycle_counters(
            clk, start, running=running, activity=activity, status=ports.status,
            counters=COUNTERS,
        ),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
