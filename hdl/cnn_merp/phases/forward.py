"""Forward propagation: one super layer, from map words in to map words out.

CNN-MERP section V, figures 7 to 10.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.element_counter import counter_of
from merp.hdl.base.signals import AxiStream, Stream, beats_of, flag, stream_of
from merp.hdl.cnn_merp.cu_array.added_beats import added_beats
from merp.hdl.cnn_merp.cu_array.added_maps import added_maps
from merp.hdl.cnn_merp.kernel_loader.beat_filler import beat_filler
from merp.hdl.cnn_merp.kernel_loader.kernel_loader import kernel_loader
from merp.hdl.cnn_merp.phases.datapath import Progress, datapath
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.phases.stored_stream import inside, stored_stream
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelConfig, KernelWrite, LoadConfig
from merp.hdl.cnn_merp.ports.maps import FoldConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.passes import AddConfig, Half, PassConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.status import ForwardStatus
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.piece_cutter import piece_cutter
from merp.hdl.streams.stream_end import stream_end
from merp.hdl.streams.tail_filler import tail_filler
from merp.models.machines.cnn_merp.params.design import Design


@entity
def forward(
    clk: Bit,
    rst: Bit,
    start: Bit,
    map_config: MapConfig,
    load_config: LoadConfig,
    output_config: OutputConfig,
    s_axis_map: AxiStream,
    s_axis_kernel: AxiStream,
    s_axis_bias: AxiStream,
    m_axis_map: AxiStream,
    status: ForwardStatus | None,
    design: Design,
    m_axis_state: AxiStream | None = None,
    fold_config: FoldConfig | None = None,
    pass_config: PassConfig | None = None,
    s_axis_partial: AxiStream | None = None,
    m_axis_partial: AxiStream | None = None,
    kernel_config: KernelConfig | None = None,
    port_config: PortConfig | None = None,
    s_axis_add: AxiStream | None = None,
    add_config: AddConfig | None = None,
    half: Half | None = None,
) -> Any:
    """Compute one super layer: convolution, ReLU and pooling, for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column) and biases are loaded first, then maps stream in and out in the order image,
    row, column, map. The next run needs no reset.

    With m_axis_state the state for backward propagation leaves beside the maps, in bytes. With
    maximum pooling, or none, it is a field per word of m_axis_map: the mask of ReLU lowest, if the
    run has ReLU, then the position in the window. With average pooling it is the mask bit of every
    activation. Fields follow each other without gaps; the last byte is filled up with zeros. A run
    that has neither sends nothing. status_done waits for both streams.

    With fold_config fully connected layers run, too: their elements and weights come in their
    natural order, and zeros fill up what their last map lacks.

    With kernel_config layers with smaller kernels run, too: zeros stand for the taps they lack.

    Elements that the design stores in a narrower format than it computes in are widened when they
    come in and rounded when they leave; state and partial sums are as ever.

    As a half of a pass (half in the place of status) its words and cycles are counted there.

    s_axis_map     in   map words in the order image, row, column, map
    s_axis_kernel  in   kernels in the order m, n, row, column
    s_axis_bias    in   biases in the order m
    m_axis_map     out  map words in the order image, row, column, map
    m_axis_state   out  state for backward propagation, in bytes
    s_axis_partial  in   partial sums in the order image, row, column, map
                         of the accumulator's format, at which the sums start in place of biases:
                         the input maps of a layer can come in parts, a run for each
    m_axis_partial  out  partial sums in the order image, row, column, map
                         of the accumulator's format, before ReLU and pooling, at which the run of
                         the part that follows starts; they leave in place of maps and state
    s_axis_add     in   map words of another layer in the order image, row, column, map
                         which are added to the sums before ReLU and pooling: these start at them,
                         each plus its bias
    half           out  of a half of a pass: how far it is

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle, as far
    as the state fits a byte per cycle.
    Reset: synchronous, active high; the run is abandoned.
    """
    verdict = Verdict(design)
    progress = Progress()
    loaded, load_error, ends = flag(), flag(), flag()
    if half is not None:
        loaded, load_error, verdict = half.loaded, half.load_error, half.verdict
        progress.complete, progress.output_done = half.complete, half.output_done
        progress.map_error, ends = half.map_error, half.ends
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    fmt, maps, kernels = design.fmt, design.stored("maps"), design.stored("kernels")
    given = design.stored_input
    maps_in, maps_out = inside(s_axis_map, given, fmt), inside(m_axis_map, maps, fmt)
    added_in = inside(s_axis_add, maps, fmt)
    kernels_in, biases_in = inside(s_axis_kernel, kernels, fmt), inside(s_axis_bias, kernels, fmt)
    borders = [
        stored_stream(sink=sink, source=source, stored=stored, fmt=fmt)
        for sink, source, stored in (
            (s_axis_map, maps_in, given),
            (s_axis_add, added_in, maps),
            (s_axis_kernel, kernels_in, kernels),
            (s_axis_bias, biases_in, kernels),
            (maps_out, m_axis_map, maps),
        )
        if sink is not source
    ]
    map_words, kernel_words = stream_of(maps_in), stream_of(kernels_in)
    fillers, folded, filled = [], None, False
    if port_config is not None:
        map_pieces = Stream(len(map_words.data))
        fillers = [
            piece_cutter(
                clk,
                rst,
                start,
                length=port_config.elements,
                lengths=port_config.pixels,
                sink=map_words,
                source=map_pieces,
                width=design.fmt.width,
                filling=fold_config and fold_config.filling,
            )
        ]
        map_words = map_pieces
    if fold_config is not None:
        folded = fold_config.folded
        whole_maps, whole_kernels = Stream(design.fmt.width), Stream(len(kernel_words.data))
        fills = [(map_words, whole_maps)] if port_config is None else []
        several = design.kernel_port > 1
        filled = several and kernel_config is not None  # by the loader, a kernel at a time
        fills += [] if several else [(kernel_words, whole_kernels)]
        fillers += [
            tail_filler(
                clk,
                rst,
                start,
                length=fold_config.elements,
                filling=fold_config.filling,
                sink=sink,
                source=source,
            )
            for sink, source in fills
        ]
        if several and not filled:
            fillers += [
                beat_filler(
                    clk,
                    rst,
                    start,
                    config=load_config,
                    length=fold_config.elements,
                    filling=fold_config.filling,
                    sink=kernel_words,
                    source=whole_kernels,
                    design=design,
                )
            ]
        map_words = whole_maps if port_config is None else map_words
        kernel_words = kernel_words if filled else whole_kernels
    with_biases = None
    if pass_config is not None and design.partial:
        with_biases = flag()

        @always_comb
        def choose() -> None:
            with_biases.next = not pass_config.partial_in

    loader = kernel_loader(
        clk,
        rst,
        start,
        config=load_config,
        sink_kernel=kernel_words,
        sink_bias=stream_of(biases_in),
        kernel=kernel,
        bias=bias,
        loaded=loaded,
        framing_error=load_error,
        design=design,
        with_biases=with_biases,
        size=kernel_config and kernel_config.size,
        filling=fold_config.filling if filled and fold_config is not None else None,
    )
    summands: Any = ()
    added_sums = None
    if s_axis_add is not None and pass_config is not None:
        added_sums = Stream(design.map_port * design.partial_width)
        add: dict[str, Any] = dict(
            enable=loaded, sink=beats_of(added_in), bias=bias, source=added_sums, design=design
        )
        if add_config is None:
            summands = added_maps(
                clk, rst, start, wanted=pass_config.added, config=map_config, **add
            )
        else:
            summands = added_beats(clk, rst, start, words=add_config.words, **add)
    layer = datapath(
        clk,
        rst,
        start,
        map_config=map_config,
        output_config=output_config,
        kernel=kernel,
        bias=bias,
        loaded=loaded,
        sink=map_words,
        source=beats_of(maps_out),
        verdict=verdict,
        progress=progress,
        design=design,
        state=m_axis_state and stream_of(m_axis_state),
        folded=folded,
        pass_config=pass_config,
        sink_partial=s_axis_partial and stream_of(s_axis_partial),
        source_partial=m_axis_partial and beats_of(m_axis_partial),
        port=port_config,
        sink_added=added_sums,
    )
    if half is not None:
        told = stream_end(stream=m_axis_map, ends=ends)
        return borders, fillers, loader, summands, layer, told
    assert status is not None
    ports = [
        (s_axis_map, status.map_in),
        (s_axis_kernel, status.kernel),
        (s_axis_bias, status.bias),
        (m_axis_map, status.map_out),
    ]
    if m_axis_state is not None:
        ports.append((m_axis_state, status.state_out))
    if s_axis_partial is not None and m_axis_partial is not None:
        ports += [(s_axis_partial, status.partial_in), (m_axis_partial, status.partial_out)]
    if s_axis_add is not None:
        ports.append((s_axis_add, status.add_in))
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
        loaded=loaded,
        complete=progress.complete,
        output_done=progress.output_done,
        verdict=verdict,
        map_error=progress.map_error,
        load_error=load_error,
        status=status,
    )

    if m_axis_partial is None:
        ended = stream_end(stream=m_axis_map, ends=ends)
        return borders, fillers, loader, summands, layer, words, counters, ended

    @always_comb
    def end_either() -> None:
        ends.next = (m_axis_map.tvalid and m_axis_map.tready and m_axis_map.tlast) or (
            m_axis_partial.tvalid and m_axis_partial.tready and m_axis_partial.tlast
        )

    return borders, fillers, choose, loader, summands, layer, words, counters, end_either
