"""Forward propagation: one super layer, from input map words to output map words.

Source: CNN-MERP, section V, figures 7 to 10.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, beats_of, flag, stream_of
from merp.hdl.cnn_merp.cu_array.added_beats import added_beats
from merp.hdl.cnn_merp.cu_array.added_maps import added_maps
from merp.hdl.cnn_merp.kernel_loader.beat_filler import beat_filler
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.kernel_loader.kernel_loader import kernel_loader
from merp.hdl.cnn_merp.phases.datapath import DatapathPorts, DatapathProgress, Inside, datapath
from merp.hdl.cnn_merp.phases.map_entrance import fold_filler, map_entrance
from merp.hdl.cnn_merp.phases.run_counters import run_counts
from merp.hdl.cnn_merp.phases.stored_stream import inside
from merp.hdl.cnn_merp.ports.forward_ports import ForwardPorts
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite
from merp.hdl.cnn_merp.ports.passes import RunProgress, run_signals
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.stream_end import stream_end
from merp.models.machines.cnn_merp.params.design import EngineDesign

STORED = "s_axis_map", "s_axis_add", "s_axis_kernel", "s_axis_bias", "m_axis_map"
"""Streams of elements, which memory may store in a narrower format than the arithmetic."""


def _filled_by_loader(design: EngineDesign) -> bool:
    """Check whether the loader pads kernels of fully connected layers, one kernel at a time."""
    return design.folded and design.kernel_port > 1 and design.widened


def _kernel_entrance(
    clk: Bit, rst: Bit, start: Bit, ports: ForwardPorts, design: EngineDesign, sink: Stream
) -> tuple[Stream, Any]:
    """Return the stream for the loader, and the block that pads ``sink`` to whole kernels."""
    if not design.folded or _filled_by_loader(design):
        return sink, ()
    whole = Stream(len(sink.data))
    if design.kernel_port == 1:
        return whole, fold_filler(clk, rst, start, ports, sink, whole)
    filler = beat_filler(
        clk,
        rst,
        start,
        config=ports.load_config,
        length=ports.fold_config.elements,
        filling=ports.fold_config.filling,
        sink=sink,
        source=whole,
        design=design,
    )
    return whole, filler


@entity
def forward(clk: Bit, rst: Bit, start: Bit, ports: ForwardPorts, design: EngineDesign) -> Any:
    """Compute one super layer: convolution, ReLU and pooling, for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column) and biases are loaded first. Then maps stream in and out in the order image,
    row, column, map. The next run needs no reset.

    With m_axis_state, the ReLU/pooling masks for backward propagation are sent in parallel to the
    maps, in bytes. With maximum pooling, or without pooling, each word of m_axis_map has a field.
    It holds the ReLU mask bit, if the run has ReLU, and above it the position in the window. With
    average pooling, each activation has a mask bit. Fields follow each other without gaps; zeros
    fill up the last byte. A run without masks and positions sends nothing. status_done waits for
    both streams.

    With fold_config, fully connected layers run, too: their elements and weights arrive in their
    natural order, and zeros fill up their last map.

    With kernel_config, layers with smaller kernels run, too: zeros replace the missing taps.

    Elements that the design stores in a narrower format than it computes in are widened at the
    input and rounded at the output. Masks and partial sums are unchanged.

    As a half of a pass (half in the place of status), its words and cycles are counted by the
    enclosing block.

    s_axis_map      in   map words in the order image, row, column, map
    s_axis_kernel   in   kernels in the order m, n, row, column
    s_axis_bias     in   biases in the order m
    m_axis_map      out  map words in the order image, row, column, map
    m_axis_state    out  ReLU/pooling masks for backward propagation, in bytes
    s_axis_partial  in   partial sums in the order image, row, column, map, in the format of the
                         accumulator. The sums start at them instead of biases, so the input maps of
                         a layer can be processed in parts, a run for each
    m_axis_partial  out  partial sums in the order image, row, column, map, in the format of the
                         accumulator, before ReLU and pooling. The run of the next part starts at
                         them; they replace maps and masks
    s_axis_add      in   map words of another layer in the order image, row, column, map, added to
                         the sums before ReLU and pooling. The sums start at these words, each plus
                         its bias
    half            out  of a half of a pass: its progress

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle, as far
    as the masks fit a byte per cycle. Reset: synchronous, active high; the run is abandoned.
    """
    run = run_signals(ports, design)
    verdict = run["verdict"]
    progress = DatapathProgress(run["complete"], run["output_done"], run["map_error"])
    loaded, load_error, ends = run["loaded"], run["load_error"], run["ends"]
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    inner, borders = inside(ports, "fp", design, STORED)
    maps_in, maps_out = inner["s_axis_map"], inner["m_axis_map"]
    added_in = inner.get("s_axis_add")
    kernels_in, biases_in = inner["s_axis_kernel"], inner["s_axis_bias"]
    map_words, map_filler = map_entrance(clk, rst, start, ports, design, stream_of(maps_in))
    kernel_words, kernel_filler = _kernel_entrance(
        clk, rst, start, ports, design, stream_of(kernels_in)
    )
    fillers = [each for each in (map_filler, kernel_filler) if each]
    with_biases = None
    biased: list[Any] = []
    if design.partial:
        with_biases, pass_config = flag(), ports.pass_config

        @always_comb
        def choose() -> None:
            with_biases.next = not pass_config.partial_in

        biased.append(choose)

    loader = kernel_loader(
        clk,
        rst,
        start,
        config=ports.load_config.also(
            with_biases=with_biases,
            size=ports.kernel_config.size if design.widened else None,
            filling=ports.fold_config.filling if _filled_by_loader(design) else None,
        ),
        sink_kernel=kernel_words,
        sink_bias=stream_of(biases_in),
        kernel=kernel,
        bias=bias,
        loading=Loading(loaded, load_error),
        design=design,
    )
    summands: Any = ()
    more: dict[str, Any] = {}
    if added_in:
        added_sums = Stream(design.map_port * design.partial_width)
        add: dict[str, Any] = dict(
            enable=loaded, sink=beats_of(added_in), bias=bias, source=added_sums, design=design
        )
        if design.map_port == 1:
            summands = added_maps(
                clk, rst, start, wanted=ports.pass_config.added, config=ports.map_config, **add
            )
        else:
            summands = added_beats(clk, rst, start, words=ports.add_config.words, **add)
        more["sink_added"] = added_sums
    layer = datapath(
        clk,
        rst,
        start,
        ports=DatapathPorts(
            Inside(ports, design),
            kernel=kernel,
            bias=bias,
            loaded=loaded,
            sink=map_words,
            source=beats_of(maps_out),
            verdict=verdict,
            progress=progress,
            **more,
        ),
        design=design,
    )
    m_axis_map = ports.m_axis_map
    if ports.has("half"):
        told = stream_end(stream=m_axis_map, ends=ends)
        return borders, fillers, loader, summands, layer, told
    words, counters = run_counts(
        clk, rst, start, ports, first=ports.s_axis_map, run=RunProgress(**run)
    )

    if not design.partial:
        ended = stream_end(stream=m_axis_map, ends=ends)
        return borders, fillers, loader, summands, layer, words, counters, ended

    m_axis_partial = ports.m_axis_partial

    @always_comb
    def end_either() -> None:
        ends.next = (m_axis_map.tvalid and m_axis_map.tready and m_axis_map.tlast) or (
            m_axis_partial.tvalid and m_axis_partial.tready and m_axis_partial.tlast
        )

    return borders, fillers, biased, loader, summands, layer, words, counters, end_either
