"""The kernel update: maps and deltas in, new kernels and biases out.

CNN-MERP sections III.B and V.C: the banks and windows of forward propagation, with the deltas in
the place of the kernels and gradient memories in the place of the accumulators. With a
``kernel_port`` of several elements the update takes so many of the kernels per cycle.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.element_counter import counter_of
from merp.hdl.base.signals import AxiStream, Stream, beats_of, bits, count, flag, stream_of
from merp.hdl.cnn_merp.delta_buffer.delta_buffer import delta_buffer
from merp.hdl.cnn_merp.delta_buffer.delta_row_buffer import delta_row_buffer
from merp.hdl.cnn_merp.gradient_array.bias_gradient import bias_gradient
from merp.hdl.cnn_merp.gradient_array.bias_gradients import bias_gradients
from merp.hdl.cnn_merp.gradient_array.gradient_array import gradient_array
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.hdl.cnn_merp.phases.input_path import input_path
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.phases.stored_stream import inside, stored_stream
from merp.hdl.cnn_merp.ports.gradients import DeltaElement, GradientRead, UpdateConfig
from merp.hdl.cnn_merp.ports.kernels import KernelConfig
from merp.hdl.cnn_merp.ports.maps import (
    FoldConfig,
    FoldRowConfig,
    GradientMapConfig,
    UpdatePortConfig,
)
from merp.hdl.cnn_merp.ports.passes import Half, UpdatePassConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.hdl.cnn_merp.ports.status import KernelUpdateStatus
from merp.hdl.cnn_merp.update_unit.update_unit import update_unit
from merp.hdl.cnn_merp.update_unit.wide_update import wide_update
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.cnn_merp.upsampling.unpool_beats import unpool_beats
from merp.hdl.cnn_merp.upsampling.unpool_ports import UnpoolConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.piece_cutter import piece_cutter
from merp.hdl.streams.tail_filler import tail_filler
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

ARRAYS = {"position": gradient_array, "row": row_array}


@entity
def kernel_update(
    clk: Bit,
    rst: Bit,
    start: Bit,
    map_config: GradientMapConfig,
    update_config: UpdateConfig,
    s_axis_map: AxiStream,
    s_axis_delta: AxiStream,
    s_axis_kernel: AxiStream,
    s_axis_bias: AxiStream,
    m_axis_kernel: AxiStream,
    m_axis_bias: AxiStream,
    status: KernelUpdateStatus | None,
    design: Design,
    s_axis_kernel_velocity: AxiStream | None = None,
    s_axis_bias_velocity: AxiStream | None = None,
    m_axis_kernel_velocity: AxiStream | None = None,
    m_axis_bias_velocity: AxiStream | None = None,
    unpool_config: UnpoolConfig | None = None,
    s_axis_state: AxiStream | None = None,
    undone: UnpoolDesign | None = None,
    pass_config: UpdatePassConfig | None = None,
    fold_config: FoldConfig | None = None,
    kernel_config: KernelConfig | None = None,
    port_config: UpdatePortConfig | None = None,
    half: Half | None = None,
) -> Any:
    """Sum the gradients of one layer over a batch of images and update its kernels and biases.

    start begins a run; the configuration must be stable from start to status_done. Maps and deltas
    (of the sums before ReLU and pooling) stream in together in the order image, row, column, map;
    after the last of them kernels (order m, n, row, column) and then biases stream in and out, with
    momentum (the velocity streams are there) their velocities beside them. With weight decay (its
    register is there) so many times the old kernels and biases are added to their gradients. The
    next run needs no reset.

    With undone, deltas come at pooled resolution and are expanded here, with the state of
    this layer, a stream of bytes.

    With fold_config fully connected layers run, too: their elements come, and their kernels come
    and leave, in their natural order. Where gradients are summed by row, images are its columns.

    With kernel_config layers with smaller kernels run, too; nothing is kept of the taps they lack.

    Elements that the design stores in a narrower format than it computes in are widened when they
    come in and rounded when they leave.

    As one half of a pass (half in the place of status) it takes deltas that were expanded, and the
    kernels that the other half has used.

    s_axis_map     in   map words in the order image, row, column, map
    s_axis_delta   in   deltas in the same order
    s_axis_kernel  in   kernels in the order m, n, row, column
    s_axis_bias    in   biases in the order m
    s_axis_state   in   state from forward propagation, in bytes
    m_axis_kernel  out  kernels, updated, in the same order
    m_axis_bias    out  biases, updated
    s_axis_kernel_velocity, s_axis_bias_velocity  in  velocities in the same orders
    m_axis_kernel_velocity, m_axis_bias_velocity  out  the same, updated
    half           out  of a half of a pass: how far it is

    Throughput: a map word and a delta word in and a slot per cycle; then an element per cycle.
    Reset: synchronous, active high; the run is abandoned.
    """
    if design.p != 1:
        raise ValueError(f"a kernel update has p = 1, not {design.p}")
    width = design.fmt.width
    by_rows = design.ku_kind == "row"
    enable = flag()
    filled, opening = flag(), flag()
    slot = RowSlot(design) if by_rows else Slot(design)
    held = bits(design.window_width)
    deltas = bits(design.n_cu * width)
    element = DeltaElement(design)
    verdict = Verdict(design)
    complete, output_done = flag(), flag()
    map_error, delta_error, update_error, load_error = flag(), flag(), flag(), flag()
    read = GradientRead(design)
    kernel_element, bias_element = bits(design.gradient_read * width), bits(width)
    bias_read = flag()
    bias_index = count(design.groups * design.n_cu - 1)
    ends = flag()  # a transfer with the run's last word, whichever stream it leaves by
    if half is not None:
        enable, verdict, ends = half.loaded, half.verdict, half.ends
        complete, output_done = half.complete, half.output_done
        map_error, load_error = half.map_error, half.load_error

    fmt, kernels, gradients = design.fmt, design.stored("kernels"), design.stored("gradients")
    maps_in = inside(s_axis_map, design.stored_input, fmt)
    # The other half gives elements of the arithmetic's format.
    delta_words = s_axis_delta if half else inside(s_axis_delta, design.stored("deltas"), fmt)
    kernels_in = s_axis_kernel if half else inside(s_axis_kernel, kernels, fmt)
    biases_in = inside(s_axis_bias, kernels, fmt)
    kernels_out, biases_out = inside(m_axis_kernel, kernels, fmt), inside(m_axis_bias, kernels, fmt)
    kernel_velocities_in = inside(s_axis_kernel_velocity, gradients, fmt)
    kernel_velocities_out = inside(m_axis_kernel_velocity, gradients, fmt)
    bias_velocities_in = inside(s_axis_bias_velocity, gradients, fmt)
    bias_velocities_out = inside(m_axis_bias_velocity, gradients, fmt)
    borders = [
        stored_stream(sink=sink, source=source, stored=stored, fmt=fmt)
        for sink, source, stored in (
            (s_axis_map, maps_in, design.stored_input),
            (s_axis_delta, delta_words, design.stored("deltas")),
            (s_axis_kernel, kernels_in, kernels),
            (s_axis_bias, biases_in, kernels),
            (s_axis_kernel_velocity, kernel_velocities_in, gradients),
            (s_axis_bias_velocity, bias_velocities_in, gradients),
            (kernels_out, m_axis_kernel, kernels),
            (biases_out, m_axis_bias, kernels),
            (kernel_velocities_out, m_axis_kernel_velocity, gradients),
            (bias_velocities_out, m_axis_bias_velocity, gradients),
        )
        if sink is not source
    ]
    map_words, filler, folded, fold_rows = stream_of(maps_in), (), None, None
    if fold_config is not None:
        folded = fold_config.folded
        if isinstance(fold_config, FoldRowConfig):
            fold_rows = fold_config
    if port_config is not None:
        map_pieces = Stream(len(map_words.data))
        filler = piece_cutter(
            clk,
            rst,
            start,
            length=port_config.elements,
            lengths=port_config.pixels,
            sink=map_words,
            source=map_pieces,
            width=width,
            filling=fold_config and fold_config.filling,
        )
        map_words = map_pieces
    elif fold_config is not None:
        whole_maps = Stream(width)
        filler = tail_filler(
            clk,
            rst,
            start,
            length=fold_config.elements,
            filling=fold_config.filling,
            sink=map_words,
            source=whole_maps,
        )
        map_words = whole_maps
    windows = input_path(
        clk,
        rst,
        start,
        enable=enable,
        config=map_config,
        sink=map_words,
        credit=filled,
        slot=slot,
        held=held,
        verdict=verdict,
        complete=complete,
        framing_error=map_error,
        design=design,
        sums="row" if by_rows else "gradient",
        folded=folded,
        fold=fold_rows,
        port=port_config,
    )
    deltas_in = stream_of(delta_words)
    expand: Any = ()
    spread: Any = ()
    delta_map_config = map_config
    if unpool_config is not None and s_axis_state is not None and undone is not None:
        deltas_in = Stream(len(deltas_in.data))
        unpool_error = flag()
        undo: dict[str, Any] = dict(
            config=unpool_config,
            sink=beats_of(delta_words),
            sink_state=stream_of(s_axis_state),
            source=deltas_in,
            done=flag(),  # the update outlasts it
            framing_error=unpool_error,
            design=undone,
        )
        if port_config is None:
            expand = unpool(clk, rst, start, **undo)
        else:
            spread = unpool_beats(clk, rst, start, **undo)

        @always_comb
        def gather() -> None:
            load_error.next = delta_error or update_error or unpool_error

    else:

        @always_comb
        def gather() -> None:
            load_error.next = delta_error or update_error

    if port_config is not None:
        delta_pieces = Stream(design.delta_beat * width)
        expand = piece_cutter(
            clk,
            rst,
            start,
            length=port_config.deltas,
            lengths=port_config.positions,
            sink=deltas_in,
            source=delta_pieces,
            width=width,
        )
        deltas_in = delta_pieces
        delta_map_config = map_config.but(last_cus=port_config.last_beats)
    second = (delta_row_buffer if by_rows else delta_buffer)(
        clk,
        rst,
        start,
        config=delta_map_config,
        sink=deltas_in,
        slot=slot,
        filled=filled,
        deltas=deltas,
        opening=opening,
        element=element,
        framing_error=delta_error,
        design=design,
        **({"fold": fold_rows} if by_rows else {}),
    )
    units = ARRAYS[design.ku_kind](
        clk,
        rst,
        slot=slot,
        opening=opening,
        window=held,
        deltas=deltas,
        read=read,
        gradient=kernel_element,
        design=design,
    )
    bias = (bias_gradients if design.delta_beat > 1 else bias_gradient)(
        clk,
        rst,
        element=element,
        read_enable=bias_read,
        read_index=bias_index,
        gradient=bias_element,
        design=design,
    )
    updater = (wide_update if design.kernel_port > 1 else update_unit)(
        clk,
        rst,
        start,
        final_issue=verdict.final_issue,
        map_config=map_config,
        config=update_config,
        read=read,
        kernel_gradient=kernel_element,
        bias_read=bias_read,
        bias_index=bias_index,
        bias_gradient=bias_element,
        sink_kernel=stream_of(kernels_in),
        sink_bias=stream_of(biases_in),
        source_kernel=beats_of(kernels_out),
        source_bias=beats_of(biases_out),
        ends=ends,
        done=output_done,
        framing_error=update_error,
        design=design,
        sink_kernel_velocity=kernel_velocities_in and stream_of(kernel_velocities_in),
        sink_bias_velocity=bias_velocities_in and stream_of(bias_velocities_in),
        source_kernel_velocity=kernel_velocities_out and beats_of(kernel_velocities_out),
        source_bias_velocity=bias_velocities_out and beats_of(bias_velocities_out),
        **({} if pass_config is None else {"with_biases": pass_config.biases}),
        **({} if fold_config is None else {"filling": fold_config.filling}),
        **({} if kernel_config is None else {"size": kernel_config.size}),
    )
    words: Any = ()
    counters: Any = ()
    if status is not None:  # a pass counts for its halves
        ports: list[tuple[Any, Any]] = [
            (s_axis_map, status.map_in),
            (s_axis_delta, status.delta_in),
            (s_axis_kernel, status.kernel),
            (m_axis_kernel, status.kernel_out),
            (s_axis_bias, status.bias),
            (m_axis_bias, status.bias_out),
        ]
        if s_axis_kernel_velocity is not None:
            ports += [
                (s_axis_kernel_velocity, status.kernel_velocity_in),
                (m_axis_kernel_velocity, status.kernel_velocity_out),
                (s_axis_bias_velocity, status.bias_velocity_in),
                (m_axis_bias_velocity, status.bias_velocity_out),
            ]
        if s_axis_state is not None:
            ports.append((s_axis_state, status.state_in))
        words = [
            counter_of(stream)(clk, rst, start, stream=stream, words=counted)
            for stream, counted in ports
        ]
        counters = run_counters(
            clk,
            rst,
            start,
            first=s_axis_map,
            ends=ends,
            loaded=enable,
            complete=complete,
            output_done=output_done,
            verdict=verdict,
            map_error=map_error,
            load_error=load_error,
            status=status,
        )

    @always(clk.posedge)
    def open_ports() -> None:
        if start:
            enable.next = True
        if rst:
            enable.next = False

    return (
        borders, filler, windows, expand, spread, second, units, bias, updater, words, counters,
        open_ports, gather,
    )  # fmt: skip
