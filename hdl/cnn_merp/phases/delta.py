"""Delta propagation: from the deltas of a layer to the deltas of the layer in front of it.

CNN-MERP, section III.B: the datapath of forward propagation with transposed and rotated kernels.
Un-pooling and ReLU' are behind it (the paper's order) or in front of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myhdl import always_comb, block

from merp.hdl.arithmetic.widen import widen, widen_lanes
from merp.hdl.base.signals import AxiStream, Stream, beats, beats_of, flag, stream_of
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.either_delta_loader import either_delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.kernel_loader.kernel_reader import kernel_reader
from merp.hdl.cnn_merp.phases.datapath import DatapathPorts, DatapathProgress, Inside, datapath
from merp.hdl.cnn_merp.phases.map_entrance import map_entrance
from merp.hdl.cnn_merp.phases.run_counters import run_counts
from merp.hdl.cnn_merp.phases.stored_stream import inside
from merp.hdl.cnn_merp.ports.delta_ports import DeltaPorts
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite
from merp.hdl.cnn_merp.ports.passes import Half, RunProgress, run_signals
from merp.hdl.cnn_merp.upsampling.dilater import dilater
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.cnn_merp.upsampling.unpool_beats import unpool_beats
from merp.hdl.cnn_merp.upsampling.wide_unpool import wide_unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.open_stream import open_stream
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _begin(start: Bit, raw: Bit, begins: Bit) -> Any:
    """Start un-pooling behind the datapath in runs that use it."""

    @always_comb
    def admit() -> None:
        begins.next = start and not raw

    return admit


@block
def _begin_added(start: Bit, added: Bit, begins: Bit) -> Any:
    """Start un-pooling of the start values of the sums in runs that use it."""

    @always_comb
    def admit() -> None:
        begins.next = start and added

    return admit


@block
def _any_error(deltas: Bit, summands: Bit, added: Bit, error: Bit) -> Any:
    """Combine the errors of un-pooling; the start values count only in runs that un-pool them."""

    @always_comb
    def tell() -> None:
        error.next = deltas or (summands and added)

    return tell


@block
def _either(delta: AxiStream, partial: AxiStream, ends: Bit) -> Any:
    """Detect the last word of the run, on either output stream."""

    @always_comb
    def end() -> None:
        ends.next = (delta.tvalid and delta.tready and delta.tlast) or (
            partial.tvalid and partial.tready and partial.tlast
        )

    return end


@block
def _undone(raw: Bit, expanded: Bit, error: Bit, all_expanded: Bit, wrong: Bit) -> Any:
    """Disable un-pooling behind the datapath in a run whose sums are sent raw."""

    @always_comb
    def overlook() -> None:
        all_expanded.next = expanded or raw
        wrong.next = error and not raw

    return overlook


@block
def _tell_half(delta: Stream, map_error: Bit, dilate_error: Bit, half: Half) -> Any:
    """Drive the signals of a half of a pass that no single block drives."""

    @always_comb
    def tell() -> None:
        half.ends.next = delta.valid and delta.ready and delta.last
        half.map_error.next = map_error or dilate_error

    return tell


STORED = "s_axis_delta", "s_axis_add", "s_axis_kernel", "m_axis_delta"
"""Streams of elements, which memory may store in a narrower format than the arithmetic."""


def _undoing(
    config: UnpoolConfig, state: AxiStream, done: Bit, error: Bit, undone: UnpoolDesign
) -> dict[str, Any]:
    """Return the common arguments of all un-pooling blocks, except their streams of deltas."""
    return {
        "config": config,
        "sink_state": stream_of(state),
        "done": done,
        "framing_error": error,
        "design": undone,
    }


def _loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: DeltaPorts,
    design: EngineDesign,
    sink: Stream,
    loading: Loading,
    memories: Mapping[str, Any],
) -> Any:
    """Make the kernel loader, including fully connected layers if the design runs them.

    loading: progress of the load. memories: write ports.
    """
    loads: dict[str, Any] = dict(
        config=ports.load_config.also(size=ports.kernel_config.size if design.widened else None),
        sink=sink,
        loading=loading,
        design=design,
    )
    if design.folded:
        return either_delta_loader(
            clk, rst, start, fold_config=ports.fold_config, **loads, **memories
        )
    return delta_loader(clk, rst, start, **loads, **memories)


def _reader(
    clk: Bit, rst: Bit, start: Bit, ports: DeltaPorts, design: EngineDesign, read: KernelRead
) -> Any:
    """Make the block that sends the kernels to the other half of a pass."""
    return kernel_reader(
        clk,
        rst,
        start,
        final_issue=ports.half.verdict.final_issue,
        config=ports.load_config,
        read=read,
        source=stream_of(ports.m_axis_kernel),
        design=design,
    )


@entity
def delta(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: DeltaPorts,
    design: EngineDesign,
    undone: UnpoolDesign | None,
    before: bool,
    add_undone: UnpoolDesign | None = None,
) -> Any:
    """Propagate the deltas of a layer for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column, as in forward propagation) are loaded first. Then deltas stream in and out in
    the order image, row, column, map. The ReLU/pooling masks are a stream of bytes. The next run
    needs no reset.

    before: ReLU' and pooling of this layer are undone in front of the datapath, so deltas are
    stored at pooled resolution. Otherwise ReLU' and pooling of the layer in front are undone behind
    the datapath. With add_undone, the same is done in front of the start values of the sums.

    With fold_config, fully connected layers run, too, folded: their deltas and weights arrive in
    their natural order.

    With kernel_config, layers with smaller kernels run, too: zeros replace the missing taps.

    Elements that the design stores in a narrower format than it computes in are widened at the
    input and rounded at the output. Partial sums are unchanged.

    As one half of a pass, it has half instead of status. It takes expanded deltas, and sends the
    kernels to the other half after use.

    s_axis_delta      in   deltas in the order image, row, column, map
    s_axis_kernel     in   kernels in the order m, n, row, column
    s_axis_state      in   ReLU/pooling masks from forward propagation, in bytes
    m_axis_delta      out  deltas in the order image, row, column, map
    s_axis_partial    in   partial sums in the order image, row, column, map, in the format of the
                           accumulator. The sums start at them instead of +0, so the deltas of a
                           layer can be computed in parts, a run for each
    m_axis_partial    out  partial sums in the order image, row, column, map, in the format of the
                           accumulator, before un-pooling and ReLU'. The run of the next part starts
                           at them; they replace the output deltas
    s_axis_add        in   deltas in the order image, row, column, map, at which the sums start.
                           Other layers have propagated them to the same maps
    s_axis_add_state  in   masks of these deltas, in bytes, if they arrive at pooled resolution, as
                           the output of the layer that adds the same maps. Its ReLU' and pooling
                           are undone in front of the sums
    half              out  of a half of a pass: its progress
    m_axis_kernel     out  kernels in the order m, n, row, column, after all deltas have used them

    Throughput: a word in, a slot of n_cu window products, and a word out per cycle. Streams with
    several words per beat carry a beat per cycle, but if pooling is undone, one element per cycle
    is expanded. Reset: synchronous, active high; the run is abandoned.
    """
    kernel = KernelWrite(design, by_tap=design.folded)
    bias = BiasWrite(design)
    wide = design.map_port > 1
    run = run_signals(ports, design)
    loaded, load_error, verdict = run["loaded"], run["load_error"], run["verdict"]
    dilate_error, unpool_error, input_error = (flag() for _ in range(3))
    progress = DatapathProgress(run["complete"], run["output_done"], flag())
    expanded, ends, output_done = flag(), run["ends"], flag()
    front_error = unpool_error if add_undone is None else flag()
    # Expanded deltas already have the format of the arithmetic.
    stored = STORED if undone else STORED[1:]
    inner, borders = inside(ports, "dp", design, stored)
    taken, given = inner.get("s_axis_delta", ports.s_axis_delta), inner["m_axis_delta"]
    added_in, kernels_in = inner.get("s_axis_add"), inner["s_axis_kernel"]
    deltas_in, deltas_out = stream_of(taken), beats_of(given)
    dilated = Stream(design.map_port * design.fmt.width)

    expand: list[Any] = []
    undo: dict[str, Any] = {}
    if undone is not None:
        undo = _undoing(ports.unpool_config, ports.s_axis_state, expanded, front_error, undone)
    if undone is not None and before:
        opened, between = Stream(len(deltas_in.data)), Stream(len(deltas_in.data))
        if wide:
            opened.keep = taken.tkeep
        unpools = unpool_beats if wide else unpool
        expand = [
            open_stream(sink=deltas_in, enable=loaded, source=opened),
            unpools(clk, rst, start, sink=opened, source=between, **undo),
        ]
        layer_in, layer_out = between, deltas_out
    elif undone is not None:
        between = beats(deltas_out) if wide else Stream(design.fmt.width)
        begins = start
        if design.partial:
            begins = flag()
            expand = [_begin(start=start, raw=ports.pass_config.partial_out, begins=begins)]
        unpools = wide_unpool if wide else unpool
        expand.append(unpools(clk, rst, begins, sink=between, source=deltas_out, **undo))
        layer_in, layer_out = deltas_in, between
    else:
        layer_in, layer_out = deltas_in, deltas_out

    layer_in, entrance = map_entrance(clk, rst, start, ports, design, layer_in)
    expand += [entrance] if entrance else []
    spread = dilater(
        clk,
        rst,
        start,
        config=ports.dilate_config,
        sink=layer_in,
        source=dilated,
        framing_error=dilate_error,
        design=design,
    )
    memories = {"kernel": kernel, "bias": bias}
    loading = Loading(loaded, load_error)
    loader = _loader(clk, rst, start, ports, design, stream_of(kernels_in), loading, memories)
    own: dict[str, Any] = {**memories, "loaded": loaded, "verdict": verdict}
    if added_in:
        added_sums = Stream(design.map_port * design.partial_width)
        summands = stream_of(added_in)
        if add_undone is not None:
            added = ports.pass_config.added
            add_begins, add_expanded, add_error = (flag() for _ in range(3))
            pooled, summands = beats_of(added_in), Stream(len(summands.data))
            undo_added = _undoing(
                ports.add_unpool_config, ports.s_axis_add_state, add_expanded, add_error,
                add_undone,
            )  # fmt: skip
            expand += [
                _begin_added(start=start, added=added, begins=add_begins),
                (unpool_beats if wide else unpool)(
                    clk, rst, add_begins, sink=pooled, source=summands, **undo_added
                ),
                _any_error(deltas=front_error, summands=add_error, added=added, error=unpool_error),
            ]
        # The same transfers.
        added_sums.valid, added_sums.ready = summands.valid, summands.ready
        added_sums.last = summands.last
        sums: dict[str, Any] = dict(y=added_sums.data, width=design.accumulator_format.width)
        if wide:
            expand.append(widen_lanes(x=summands.data, lanes=design.map_port, **sums))
        else:
            expand.append(widen(x=summands.data, **sums))
        own["sink_added"] = added_sums
    read = KernelRead(design)
    if ports.has("half"):
        own["read"] = read
    own |= {"sink": dilated, "source": layer_out, "progress": progress}
    layer = datapath(
        clk, rst, start, ports=DatapathPorts(Inside(ports, design), **own), design=design
    )
    if ports.has("half"):
        reader = _reader(clk, rst, start, ports, design, read)
        told = _tell_half(
            delta=deltas_out,
            map_error=progress.map_error,
            dilate_error=dilate_error,
            half=ports.half,
        )
        return borders, expand, spread, loader, layer, reader, told
    m_axis_delta = ports.m_axis_delta
    parts: list[Any] = []
    if not design.partial:

        @always_comb
        def gather() -> None:
            ends.next = m_axis_delta.tvalid and m_axis_delta.tready and m_axis_delta.tlast
            output_done.next = progress.output_done and expanded
            input_error.next = progress.map_error or dilate_error or unpool_error

    else:
        parts.append(_either(delta=m_axis_delta, partial=ports.m_axis_partial, ends=ends))
        all_expanded, undo_error = expanded, unpool_error
        if not before:
            all_expanded, undo_error = flag(), flag()
            parts.append(
                _undone(
                    raw=ports.pass_config.partial_out,
                    expanded=expanded,
                    error=unpool_error,
                    all_expanded=all_expanded,
                    wrong=undo_error,
                )
            )

        @always_comb
        def gather() -> None:
            output_done.next = progress.output_done and all_expanded
            input_error.next = progress.map_error or dilate_error or undo_error

    run |= {"output_done": output_done, "map_error": input_error}
    words, counters = run_counts(
        clk, rst, start, ports, first=ports.s_axis_delta, run=RunProgress(**run)
    )
    return borders, expand, spread, loader, layer, gather, words, counters, parts
