"""Two layers fused in forward propagation: the map between them stays on chip.

Source: Alwani et al., "Fused-layer CNN accelerators", MICRO 2016. Here each layer has an engine of
CNN-MERP. The second engine stores only the rows of its windows from the map between the layers.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import BYTE, AxiStream, Stream, flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.cnn_merp.phases.forward import forward
from merp.hdl.cnn_merp.phases.run_counters import run_counters
from merp.hdl.cnn_merp.ports.forward_ports import ForwardHalfPorts
from merp.hdl.cnn_merp.ports.fused_forward_ports import FusedForwardPorts
from merp.hdl.cnn_merp.ports.passes import Half, RunProgress
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.open_stream import open_stream
from merp.hdl.streams.stream_demux import stream_demux
from merp.hdl.streams.stream_end import stream_end
from merp.hdl.streams.stream_fork import stream_fork
from merp.hdl.streams.stream_mux import stream_mux
from merp.hdl.streams.turn_counter import turn_counter
from merp.models.base.counters import FIRST
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_registers import SECOND

AHEAD = CREDIT_RETURN
"""Words of the map between the layers by which memory and the second layer may be apart.

It is the number that a word per cycle needs.
"""


@block
def _connect(sink: Stream, source: Stream) -> Any:
    """Connect a stream under another name."""

    @always_comb
    def connect() -> None:
        source.data.next = sink.data
        source.last.next = sink.last
        source.valid.next = sink.valid
        sink.ready.next = source.ready

    return connect


@block
def _taken(stream: Stream, taken: Bit) -> Any:
    """Detect the transfer of a word."""

    @always_comb
    def tell() -> None:
        taken.next = stream.valid and stream.ready

    return tell


@block
def _share_out(
    clk: Bit, rst: Bit, start: Bit, words: Word, sink: AxiStream, sources: list[AxiStream]
) -> Any:
    """Give a stream to one engine, or to two engines in turns of a fixed number of words."""
    given = stream_of(sink)
    if len(sources) == 1:
        return _connect(sink=given, source=stream_of(sources[0]))
    taken, second, turn_ends = flag(), flag(), flag()
    one, other = (stream_of(each) for each in sources)
    return (
        _taken(stream=given, taken=taken),
        turn_counter(clk, rst, start, words=words, taken=taken, second=second, turn_ends=turn_ends),
        stream_demux(second=second, turn_ends=turn_ends, sink=given, one=one, other=other),
    )


@block
def _gather(
    clk: Bit, rst: Bit, start: Bit, words: Word, sinks: list[AxiStream], source: AxiStream
) -> Any:
    """Take a stream from one engine, or from two engines in turns of a fixed number of words."""
    made = stream_of(source)
    if len(sinks) == 1:
        return _connect(sink=stream_of(sinks[0]), source=made)
    taken, second, turn_ends = flag(), flag(), flag()
    one, other = (stream_of(each) for each in sinks)
    unfinished = copy(one)  # the last word of all belongs to other
    unfinished.last = flag()
    return (
        _taken(stream=made, taken=taken),
        turn_counter(clk, rst, start, words=words, taken=taken, second=second, turn_ends=turn_ends),
        stream_mux(second=second, one=unfinished, other=other, source=made),
    )


@block
def _both_end(
    clk: Bit, rst: Bit, start: Bit, map_ends: Bit, between_ends: Bit, between_sent: Bit, ends: Bit
) -> Any:
    """Detect the end of maps on two streams: the later stream has the last word of all."""
    map_sent = flag()

    @always_comb
    def join() -> None:
        ends.next = (map_ends and (between_ends or between_sent)) or (between_ends and map_sent)

    @always(clk.posedge)
    def keep() -> None:
        if map_ends:
            map_sent.next = True
        if between_ends:
            between_sent.next = True
        if start or rst:
            map_sent.next = False
            between_sent.next = False

    return join, keep


@block
def _every(each: list[Bit], every: Bit) -> Any:
    """Compute the AND of several conditions."""
    joined = ConcatSignal(*each)
    whole = (1 << len(each)) - 1

    @always_comb
    def judge() -> None:
        every.next = joined == whole

    return judge


@block
def _some(each: list[Bit], some: Bit) -> Any:
    """Compute the OR of several conditions."""
    joined = ConcatSignal(*each)

    @always_comb
    def judge() -> None:
        some.next = joined != 0

    return judge


def _half_ports(
    ports: FusedForwardPorts,
    design: EngineDesign,
    half: Half,
    layer: str = "",
    **streams: AxiStream,
) -> ForwardHalfPorts:
    """Ports of the engine of a layer, whose registers have names that begin with ``layer``."""
    names = "map_config", "load_config", "output_config"
    registers = {name: vars(ports)[f"{layer}{name}"] for name in names}
    return ForwardHalfPorts(design, half=half, **registers, **streams)


@entity
def fused_forward(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: FusedForwardPorts,
    design: EngineDesign,
    second: EngineDesign,
    groups: int,
) -> Any:
    """Compute two super layers in series for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column) and biases of both layers are loaded first. Then maps stream in, and the maps
    of the second layer stream out, in the order image, row, column, map. The next run needs no
    reset.

    design is the design of the first layer, second the design of an engine of the second layer. One
    or two groups of the second layer are computed in parallel, each with an engine. The groups
    follow each other in the output maps of the first layer, in the stream of kernels, and in the
    output stream.

    For training, the map between the layers is sent, too, and the masks of both layers for backward
    propagation. The masks of two groups alternate by the bytes of a position, so these must be
    whole bytes.

    Elements that the designs store in a narrower format than they compute in are widened at the
    input and rounded at the output. This includes the map between the layers.

    s_axis_map            in   map words in the order image, row, column, map
    s_axis_kernel         in   kernels in the order m, n, row, column
    s_axis_bias           in   biases in the order m
    s_axis_second_kernel  in   kernels in the order m, n, row, column of the second layer, group by
                               group
    s_axis_second_bias    in   biases in the order m of the second layer, group by group
    m_axis_map            out  map words in the order image, row, column, map
    m_axis_between        out  map words in the order image, row, column, map of the first layer,
                               which the second layer receives at the same time
    m_axis_between_state  out  ReLU/pooling masks of the first layer for backward propagation, in
                               bytes
    m_axis_state          out  ReLU/pooling masks for backward propagation, in bytes

    Throughput: a map word in, a slot of every engine, and a map word out per cycle. Reset:
    synchronous, active high; the run is abandoned.
    """
    half = Half(design)
    halves = [Half(second) for _ in range(groups)]
    engines, last = [half, *halves], halves[-1]
    loaded, load_error, map_error = flag(), flag(), flag()
    complete, output_done = flag(), flag()
    kernels, maps = second.stored("kernels").width, second.stored("maps").width
    opened = AxiStream(len(ports.s_axis_map.tdata))
    between = AxiStream(maps)
    to_second = AxiStream(maps) if second.state else between
    kernels_in = [AxiStream(kernels) for _ in halves]
    biases_in = [AxiStream(kernels) for _ in halves]
    maps_in = [AxiStream(maps) for _ in halves]
    maps_out = [AxiStream(maps) for _ in halves]
    states_out = [AxiStream(BYTE) for _ in halves] if second.state else []

    entrance = open_stream(
        sink=stream_of(ports.s_axis_map), enable=loaded, source=stream_of(opened)
    )
    first_layer = forward(
        clk,
        rst,
        start,
        ports=_half_ports(
            ports,
            design,
            half,
            s_axis_map=opened,
            s_axis_kernel=ports.s_axis_kernel,
            s_axis_bias=ports.s_axis_bias,
            m_axis_map=between,
            **({"m_axis_state": ports.m_axis_between_state} if second.state else {}),
        ),
        design=design,
    )
    second_layer = [
        forward(
            clk,
            rst,
            start,
            ports=_half_ports(
                ports,
                second,
                halves[group],
                SECOND,
                s_axis_map=maps_in[group],
                s_axis_kernel=kernels_in[group],
                s_axis_bias=biases_in[group],
                m_axis_map=maps_out[group],
                **({"m_axis_state": states_out[group]} if second.state else {}),
            ),
            design=second,
        )
        for group in range(groups)
    ]
    turns = vars(ports.turn_config) if groups > 1 else {}
    shares = [
        _share_out(clk, rst, start, words=turns.get(turn), sink=sink, sources=sources)
        for turn, sink, sources in (
            ("kernels", ports.s_axis_second_kernel, kernels_in),
            ("maps", ports.s_axis_second_bias, biases_in),
            ("inputs", to_second, maps_in),
        )
    ]
    leaving = [("maps", maps_out, ports.m_axis_map)]
    if second.state:
        leaving.append(("state", states_out, ports.m_axis_state))
    results = [
        _gather(clk, rst, start, words=turns.get(turn), sinks=sinks, source=source)
        for turn, sinks, source in leaving
    ]

    # An engine continues after its last word if pooling drops the last positions.
    done_with_maps = [each.complete for each in engines]
    done_with_maps += [each.verdict.idle for each in engines]
    done_with_results = [each.output_done for each in engines]
    map_ends, ends = flag(), flag()
    ending: list[Any] = [stream_end(stream=ports.m_axis_map, ends=map_ends)]
    if not second.state:
        ends = map_ends
    else:
        between_ends, between_sent = flag(), flag()
        done_with_results.append(between_sent)
        ending += [
            stream_fork(
                clk,
                rst,
                start,
                sink=stream_of(between),
                one=stream_of(ports.m_axis_between),
                other=stream_of(to_second),
                words=AHEAD,
            ),
            stream_end(stream=ports.m_axis_between, ends=between_ends),
            _both_end(
                clk,
                rst,
                start,
                map_ends=map_ends,
                between_ends=between_ends,
                between_sent=between_sent,
                ends=ends,
            ),
        ]
    progress = [
        _every(each=[each.loaded for each in engines], every=loaded),
        _every(each=done_with_maps, every=complete),
        _every(each=done_with_results, every=output_done),
        _some(each=[each.load_error for each in engines], some=load_error),
        # Only the last group has a last of its own on the stream of maps.
        _some(each=[half.map_error, last.map_error], some=map_error),
    ]
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
                complete=complete,
                output_done=output_done,
                verdict=last.verdict,
                map_error=map_error,
                load_error=load_error,
            ),
            status=ports.status,
        ),
        run_counters(
            clk,
            rst,
            start,
            first=ports.s_axis_map,
            run=half.progress.but(loaded=loaded),
            status=ports.status.of_half(FIRST),
        ),
    ]
    return (
        entrance, first_layer, second_layer, shares, results, ending, progress, words, counters,
    )  # fmt: skip
