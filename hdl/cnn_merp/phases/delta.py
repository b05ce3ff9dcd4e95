"""Delta propagation: from the delta of a layer to that of the layer in front of it.

CNN-MERP section III.B: the datapath of forward propagation, kernels transposed and rotated while
they are loaded, with un-pooling and ReLU' behind it (the paper's order) or before it.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import always_comb, block

from merp.hdl.arithmetic.widen import widen, widen_lanes
from merp.hdl.base.element_counter import counter_of
from merp.hdl.base.signals import AxiStream, Stream, beats, beats_of, bits, flag, stream_of
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.either_delta_loader import either_delta_loader
from merp.hdl.cnn_merp.kernel_loader.kernel_reader import kernel_reader
from merp.hdl.cnn_merp.phases.datapath import Progress, datapath
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.phases.stored_stream import inside, stored_stream
from merp.hdl.cnn_merp.ports.kernels import (
    BiasWrite,
    KernelConfig,
    KernelRead,
    KernelWrite,
    LoadConfig,
)
from merp.hdl.cnn_merp.ports.maps import FoldConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.passes import Half, PassConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.status import DeltaStatus
from merp.hdl.cnn_merp.upsampling.dilater import DilateConfig, dilater
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.cnn_merp.upsampling.unpool_beats import unpool_beats
from merp.hdl.cnn_merp.upsampling.unpool_ports import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.wide_unpool import wide_unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.open_stream import open_stream
from merp.hdl.streams.piece_cutter import piece_cutter
from merp.hdl.streams.tail_filler import tail_filler
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _begin(start: Bit, raw: Bit, begins: Bit) -> Any:
    """Un-pooling behind the datapath begins with runs that have something for it."""

    @always_comb
    def admit() -> None:
        begins.next = start and not raw

    return admit


@block
def _begin_added(start: Bit, added: Bit, begins: Bit) -> Any:
    """Un-pooling of what sums start at begins with runs that have something for it."""

    @always_comb
    def admit() -> None:
        begins.next = start and added

    return admit


@block
def _any_error(deltas: Bit, summands: Bit, added: Bit, error: Bit) -> Any:
    """An un-pooling tells; that of what sums start at only in a run that it has a part in."""

    @always_comb
    def tell() -> None:
        error.next = deltas or (summands and added)

    return tell


@block
def _either(delta: AxiStream, partial: AxiStream, ends: Bit) -> Any:
    """The run's last word is transferred, by whichever stream it leaves."""

    @always_comb
    def end() -> None:
        ends.next = (delta.tvalid and delta.tready and delta.tlast) or (
            partial.tvalid and partial.tready and partial.tlast
        )

    return end


@block
def _undone(raw: Bit, expanded: Bit, error: Bit, all_expanded: Bit, wrong: Bit) -> Any:
    """Un-pooling behind the datapath has no part in a run whose sums leave raw."""

    @always_comb
    def overlook() -> None:
        all_expanded.next = expanded or raw
        wrong.next = error and not raw

    return overlook


@block
def _tell_half(delta: Stream, map_error: Bit, dilate_error: Bit, half: Half) -> Any:
    """What a half of a pass tells that none of its blocks does alone."""

    @always_comb
    def tell() -> None:
        half.ends.next = delta.valid and delta.ready and delta.last
        half.map_error.next = map_error or dilate_error

    return tell


@entity
def delta(
    clk: Bit,
    rst: Bit,
    start: Bit,
    map_config: MapConfig,
    load_config: LoadConfig,
    output_config: OutputConfig,
    dilate_config: DilateConfig,
    unpool_config: UnpoolConfig | None,
    s_axis_delta: AxiStream,
    s_axis_kernel: AxiStream,
    s_axis_state: AxiStream | None,
    m_axis_delta: AxiStream,
    status: DeltaStatus | None,
    design: Design,
    undone: UnpoolDesign | None,
    before: bool,
    fold_config: FoldConfig | None = None,
    pass_config: PassConfig | None = None,
    s_axis_partial: AxiStream | None = None,
    m_axis_partial: AxiStream | None = None,
    kernel_config: KernelConfig | None = None,
    port_config: PortConfig | None = None,
    s_axis_add: AxiStream | None = None,
    s_axis_add_state: AxiStream | None = None,
    add_unpool_config: UnpoolConfig | None = None,
    add_undone: UnpoolDesign | None = None,
    half: Half | None = None,
    m_axis_kernel: AxiStream | None = None,
) -> Any:
    """Propagate the delta of one layer for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column, as in forward propagation) are loaded first, then deltas stream in and out in
    the order image, row, column, map. State is a stream of bytes. The next run needs no reset.

    before: ReLU' and pooling of this layer are undone before the datapath, so that deltas are
    stored at pooled resolution; otherwise those of the layer in front of it are, behind it.
    With add_undone the same is done in front of what the sums start at.

    With fold_config fully connected layers run, too, folded: their deltas and weights come in their
    natural order.

    With kernel_config layers with smaller kernels run, too: zeros stand for the taps they lack.

    Elements that the design stores in a narrower format than it computes in are widened when they
    come in and rounded when they leave; partial sums are as ever.

    As one half of a pass (half in the place of status) it takes deltas that were expanded, and
    gives the kernels that it has used to the other half.

    s_axis_delta   in   deltas in the order image, row, column, map
    s_axis_kernel  in   kernels in the order m, n, row, column
    s_axis_state   in   state from forward propagation, in bytes
    m_axis_delta   out  deltas in the order image, row, column, map
    s_axis_partial  in   partial sums in the order image, row, column, map
                         of the accumulator's format, at which the sums start in place of +0: the
                         deltas of a layer can come in parts, a run for each
    m_axis_partial  out  partial sums in the order image, row, column, map
                         of the accumulator's format, before un-pooling and ReLU', at which the run
                         of the part that follows starts; they leave in place of deltas
    s_axis_add     in   deltas in the order image, row, column, map
                         at which the sums start: what other layers have propagated to the same maps
    s_axis_add_state  in   state of these deltas, in bytes
                         where they come at pooled resolution, as the output's of the layer that
                         adds the same maps: its ReLU' and pooling are undone in front of the sums
    half           out  of a half of a pass: how far it is
    m_axis_kernel  out  kernels in the order m, n, row, column, when no delta needs them any more

    Throughput: a word in, a slot of n_cu window products, and a word out per cycle; of streams of
    several in a beat so many, but an element per cycle is expanded where pooling is undone.
    Reset: synchronous, active high; the run is abandoned.
    """
    folds = fold_config is not None
    kernel = KernelWrite(design, by_tap=folds)
    bias = BiasWrite(design)
    loaded = flag()
    load_error, dilate_error, unpool_error, input_error = (flag() for _ in range(4))
    verdict = Verdict(design)
    progress = Progress()
    expanded, ends, output_done = flag(), flag(), flag()
    if half is not None:
        loaded, load_error, verdict = half.loaded, half.load_error, half.verdict
        progress.complete, progress.output_done = half.complete, half.output_done
    front_error = unpool_error if add_undone is None else flag()
    fmt, deltas, kernels = design.fmt, design.stored("deltas"), design.stored("kernels")
    # Deltas that were expanded are of the arithmetic's format already.
    taken = s_axis_delta if half else inside(s_axis_delta, deltas, fmt)
    given = inside(m_axis_delta, deltas, fmt)
    added_in, kernels_in = inside(s_axis_add, deltas, fmt), inside(s_axis_kernel, kernels, fmt)
    borders = [
        stored_stream(sink=sink, source=source, stored=stored, fmt=fmt)
        for sink, source, stored in (
            (s_axis_delta, taken, deltas),
            (s_axis_add, added_in, deltas),
            (s_axis_kernel, kernels_in, kernels),
            (given, m_axis_delta, deltas),
        )
        if sink is not source
    ]
    deltas_in, deltas_out = stream_of(taken), beats_of(given)
    state = s_axis_state and stream_of(s_axis_state)
    dilated = Stream(design.map_port * design.fmt.width)

    expand: list[Any] = []
    if undone is not None and before:
        opened, between = Stream(len(deltas_in.data)), Stream(len(deltas_in.data))
        if port_config is not None:
            opened.keep = taken.tkeep
        expand = [
            open_stream(sink=deltas_in, enable=loaded, source=opened),
            (unpool if port_config is None else unpool_beats)(
                clk,
                rst,
                start,
                config=unpool_config,
                sink=opened,
                sink_state=state,
                source=between,
                done=expanded,
                framing_error=front_error,
                design=undone,
            ),
        ]
        layer_in, layer_out = between, deltas_out
    elif undone is not None:
        between = Stream(design.fmt.width) if port_config is None else beats(deltas_out)
        begins = None
        if pass_config is not None and design.partial:
            begins = flag()
            expand = [_begin(start=start, raw=pass_config.partial_out, begins=begins)]
        expand += [
            (unpool if port_config is None else wide_unpool)(
                clk,
                rst,
                start if begins is None else begins,
                config=unpool_config,
                sink=between,
                sink_state=state,
                source=deltas_out,
                done=expanded,
                framing_error=unpool_error,
                design=undone,
            )
        ]
        layer_in, layer_out = deltas_in, between
    else:
        layer_in, layer_out = deltas_in, deltas_out

    if port_config is not None:
        pieces = Stream(len(layer_in.data))
        cutter = piece_cutter(
            clk,
            rst,
            start,
            length=port_config.elements,
            lengths=port_config.pixels,
            sink=layer_in,
            source=pieces,
            width=design.fmt.width,
            filling=fold_config and fold_config.filling,
        )
        expand = [*expand, cutter]
        layer_in = pieces
    elif fold_config is not None:
        whole = Stream(design.fmt.width)
        filler = tail_filler(
            clk,
            rst,
            start,
            length=fold_config.elements,
            filling=fold_config.filling,
            sink=layer_in,
            source=whole,
        )
        expand = [*expand, filler]
        layer_in = whole
    spread = dilater(
        clk,
        rst,
        start,
        config=dilate_config,
        sink=layer_in,
        source=dilated,
        framing_error=dilate_error,
        design=design,
    )
    loads: dict[str, Any] = dict(
        config=load_config,
        sink=stream_of(kernels_in),
        kernel=kernel,
        bias=bias,
        loaded=loaded,
        framing_error=load_error,
        design=design,
        size=kernel_config and kernel_config.size,
    )
    if fold_config is None:
        loader = delta_loader(clk, rst, start, **loads)
    else:
        loader = either_delta_loader(clk, rst, start, fold_config=fold_config, **loads)
    added_sums = None
    if s_axis_add is not None:
        summands = stream_of(added_in)
        if add_undone is not None and s_axis_add_state is not None and pass_config is not None:
            add_begins, add_expanded, add_error = (flag() for _ in range(3))
            pooled, summands = beats_of(added_in), Stream(len(summands.data))
            expand += [
                _begin_added(start=start, added=pass_config.added, begins=add_begins),
                (unpool if port_config is None else unpool_beats)(
                    clk,
                    rst,
                    add_begins,
                    config=add_unpool_config,
                    sink=pooled,
                    sink_state=stream_of(s_axis_add_state),
                    source=summands,
                    done=add_expanded,
                    framing_error=add_error,
                    design=add_undone,
                ),
                _any_error(
                    deltas=front_error,
                    summands=add_error,
                    added=pass_config.added,
                    error=unpool_error,
                ),
            ]
        added_sums = copy(summands)  # the same transfers
        added_sums.data = bits(design.map_port * design.partial_width)
        sums: dict[str, Any] = dict(y=added_sums.data, width=design.accumulator_format.width)
        if port_config is None:
            filled = widen(x=summands.data, **sums)
        else:
            filled = widen_lanes(x=summands.data, lanes=design.map_port, **sums)
        expand = [*expand, filled]
    read = KernelRead(design) if m_axis_kernel is not None else None
    layer = datapath(
        clk,
        rst,
        start,
        map_config=map_config,
        output_config=output_config,
        kernel=kernel,
        bias=bias,
        loaded=loaded,
        sink=dilated,
        source=layer_out,
        verdict=verdict,
        progress=progress,
        design=design,
        folded=fold_config and fold_config.folded,
        pass_config=pass_config,
        sink_partial=s_axis_partial and stream_of(s_axis_partial),
        source_partial=m_axis_partial and beats_of(m_axis_partial),
        port=port_config,
        sink_added=added_sums,
        read=read,
    )
    if half is not None and m_axis_kernel is not None:
        reader = kernel_reader(
            clk,
            rst,
            start,
            final_issue=verdict.final_issue,
            config=load_config,
            read=read,
            source=stream_of(m_axis_kernel),
            design=design,
        )
        told = _tell_half(
            delta=deltas_out, map_error=progress.map_error, dilate_error=dilate_error, half=half
        )
        return borders, expand, spread, loader, layer, reader, told
    assert status is not None
    assert s_axis_state is not None
    ports = [
        (s_axis_delta, status.delta_in),
        (s_axis_kernel, status.kernel),
        (s_axis_state, status.state_in),
        (m_axis_delta, status.delta_out),
    ]
    parts: list[Any] = []
    if pass_config is None or s_axis_partial is None or m_axis_partial is None:

        @always_comb
        def gather() -> None:
            ends.next = m_axis_delta.tvalid and m_axis_delta.tready and m_axis_delta.tlast
            output_done.next = progress.output_done and expanded
            input_error.next = progress.map_error or dilate_error or unpool_error

    else:
        ports += [(s_axis_partial, status.partial_in), (m_axis_partial, status.partial_out)]
        parts.append(_either(delta=m_axis_delta, partial=m_axis_partial, ends=ends))
        all_expanded, undo_error = expanded, unpool_error
        if not before:
            all_expanded, undo_error = flag(), flag()
            parts.append(
                _undone(
                    raw=pass_config.partial_out,
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

    if s_axis_add is not None:
        ports.append((s_axis_add, status.add_in))
    if s_axis_add_state is not None:
        ports.append((s_axis_add_state, status.add_state_in))
    words = [
        counter_of(stream)(clk, rst, start, stream=stream, words=counted)
        for stream, counted in ports
    ]
    counters = run_counters(
        clk,
        rst,
        start,
        first=s_axis_delta,
        ends=ends,
        loaded=loaded,
        complete=progress.complete,
        output_done=output_done,
        verdict=verdict,
        map_error=input_error,
        load_error=load_error,
        status=status,
    )
    return borders, expand, spread, loader, layer, gather, words, counters, parts
