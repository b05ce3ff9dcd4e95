"""Both backward phases of a layer in one pass: deltas and kernels of the layer are read once.

CNN-MERP, section III.B, has a pass for each phase. Here the phases are halves of one pass, with CUs
of their own. Un-pooling is in front of both. The update reads the kernels from the memories of
delta propagation.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import AxiStream, Stream, flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.cnn_merp.phases.delta import delta
from merp.hdl.cnn_merp.phases.kernel_update import kernel_update
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.phases.stored_stream import inside
from merp.hdl.cnn_merp.ports.backward_ports import BackwardPorts
from merp.hdl.cnn_merp.ports.delta_ports import DeltaHalfPorts
from merp.hdl.cnn_merp.ports.kernel_update_ports import KernelUpdateHalfPorts, UpdateDesign
from merp.hdl.cnn_merp.ports.passes import Half, RunProgress
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.open_stream import open_stream
from merp.hdl.streams.stream_fork import stream_fork
from merp.models.base.counters import PROPAGATION
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

AHEAD = CREDIT_RETURN + 1
"""Deltas by which one half may be ahead of the other, in addition to its own buffer.

This is one more than full throughput needs: each half keeps one position, or row, more than it
uses.
"""


@block
def _both(
    clk: Bit,
    rst: Bit,
    start: Bit,
    propagated: Half,
    updated: Half,
    output_done: Bit,
    ends: Bit,
) -> Any:
    """Complete a pass when both halves are complete; the later half has its last word."""
    propagation_sent, update_sent = flag(), flag()

    @always_comb
    def join() -> None:
        output_done.next = propagated.output_done and updated.output_done
        ends.next = (propagated.ends and (updated.ends or update_sent)) or (
            updated.ends and propagation_sent
        )

    @always(clk.posedge)
    def keep() -> None:
        if propagated.ends:
            propagation_sent.next = True
        if updated.ends:
            update_sent.next = True
        if start or rst:
            propagation_sent.next = False
            update_sent.next = False

    return join, keep


def _taken(ports: BackwardPorts, design: EngineDesign) -> tuple[AxiStream, Any]:
    """Return the stream of deltas in the format of the arithmetic, and its converter, if any."""
    inner, borders = inside(ports, "bp", design, ["s_axis_delta"])
    return inner["s_axis_delta"], borders[0] if borders else ()


@entity
def backward(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: BackwardPorts,
    design: EngineDesign,
    propagation: EngineDesign,
    undone: UnpoolDesign,
) -> Any:
    """Propagate the deltas of a layer for a batch of images, and update its kernels and biases.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column) are loaded first. Then deltas, their masks and maps stream in, and the deltas
    of the layer in front stream out, in the order image, row, column, map. After the last of these,
    new kernels and biases stream out, in the order of the old ones; with momentum, velocities
    stream in parallel. All deltas are propagated with the kernels from before the update. The next
    run needs no reset.

    design belongs to the update, propagation to the other half. undone is the design of un-pooling:
    deltas are stored at pooled resolution.

    Elements that the designs store in a narrower format than they compute in are widened at the
    input and rounded at the output.

    s_axis_delta   in   deltas in the order image, row, column, map
    s_axis_state   in   ReLU/pooling masks from forward propagation, in bytes
    s_axis_map     in   map words in the same order
    s_axis_kernel  in   kernels in the order m, n, row, column
    s_axis_bias    in   biases in the order m
    m_axis_delta   out  deltas in the order image, row, column, map
    m_axis_kernel  out  kernels, updated, in the same order
    m_axis_bias    out  biases, updated.
    s_axis_kernel_velocity, s_axis_bias_velocity  in   velocities in the same orders.
    m_axis_kernel_velocity, m_axis_bias_velocity  out  the same, updated

    Throughput: a delta, a map word and a slot of each half per cycle; then an element per cycle.
    Reset: synchronous, active high; the run is abandoned.
    """
    fmt = design.fmt
    propagated, updated = Half(propagation), Half(design)
    loaded, was_loaded, begins = propagated.loaded, flag(), flag()
    unpool_error, map_error, load_error = flag(), flag(), flag()
    output_done, ends = flag(), flag()

    taken, border = _taken(ports, design)
    opened, expanded = Stream(fmt.width), Stream(fmt.width)
    to_propagate, to_update = AxiStream(fmt.width), AxiStream(fmt.width)
    kernels = AxiStream(fmt.width)

    entrance = open_stream(sink=stream_of(taken), enable=loaded, source=opened)
    expand = unpool(
        clk,
        rst,
        start,
        config=ports.unpool_config,
        sink=opened,
        sink_state=stream_of(ports.s_axis_state),
        source=expanded,
        done=flag(),  # the halves continue after it
        framing_error=unpool_error,
        design=undone,
    )
    fork = stream_fork(
        clk,
        rst,
        start,
        sink=expanded,
        one=stream_of(to_propagate),
        other=stream_of(to_update),
        words=AHEAD,
    )
    velocities = {name: each for name, each in vars(ports).items() if name.endswith("velocity")}
    one_half = delta(
        clk,
        rst,
        start,
        ports=DeltaHalfPorts(
            DeltaDesign(propagation, undone, before=True),
            map_config=ports.delta_config,
            load_config=ports.load_config,
            output_config=ports.output_config,
            dilate_config=ports.dilate_config,
            s_axis_delta=to_propagate,
            s_axis_kernel=ports.s_axis_kernel,
            m_axis_delta=ports.m_axis_delta,
            half=propagated,
            m_axis_kernel=kernels,
        ),
        design=propagation,
        undone=None,
        before=True,
    )
    other_half = kernel_update(
        clk,
        rst,
        begins,
        ports=KernelUpdateHalfPorts(
            UpdateDesign(design, UpdateRule(momentum=bool(velocities))),
            map_config=ports.map_config,
            update_config=ports.update_config,
            s_axis_map=ports.s_axis_map,
            s_axis_delta=to_update,
            s_axis_kernel=kernels,
            s_axis_bias=ports.s_axis_bias,
            m_axis_kernel=ports.m_axis_kernel,
            m_axis_bias=ports.m_axis_bias,
            half=updated,
            **velocities,
        ),
        design=design,
    )

    @always(clk.posedge)
    def follow() -> None:
        was_loaded.next = loaded and not rst

    @always_comb
    def begin() -> None:
        begins.next = loaded and not was_loaded

    @always_comb
    def gather() -> None:
        map_error.next = propagated.map_error or updated.map_error or unpool_error
        load_error.next = propagated.load_error or updated.load_error

    both = _both(
        clk,
        rst,
        start,
        propagated=propagated,
        updated=updated,
        output_done=output_done,
        ends=ends,
    )
    words = word_counters(clk, rst, start, ports)
    counters = [
        run_counters(
            clk,
            rst,
            start,
            first=ports.s_axis_map,
            run=RunProgress(
                ends=ends,
                loaded=loaded,
                complete=updated.complete,  # the last output delta depends on the last input delta
                output_done=output_done,
                verdict=updated.verdict,
                map_error=map_error,
                load_error=load_error,
            ),
            status=ports.status,
        ),
        run_counters(
            clk,
            rst,
            start,
            first=ports.s_axis_delta,
            run=propagated.progress,
            status=ports.status.of_half(PROPAGATION),
        ),
    ]
    return (
        border, entrance, expand, fork, one_half, other_half, follow, begin, gather, both, words,
        counters,
    )  # fmt: skip
