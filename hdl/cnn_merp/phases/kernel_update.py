"""The kernel update: maps and deltas in, new kernels and biases out.

CNN-MERP, sections III.B and V.C: the banks and windows of forward propagation, with deltas instead
of kernels and gradient memories instead of accumulators. With a ``kernel_port`` of several
elements, the update takes as many elements of the kernels per cycle.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import AxiStream, Stream, beats_of, bits, flag, stream_of
from merp.hdl.cnn_merp.delta_buffer.delta_buffer import delta_buffer
from merp.hdl.cnn_merp.delta_buffer.delta_ports import Arriving, SlotDeltas
from merp.hdl.cnn_merp.delta_buffer.delta_row_buffer import delta_row_buffer
from merp.hdl.cnn_merp.gradient_array.bias_gradient import bias_gradient
from merp.hdl.cnn_merp.gradient_array.bias_gradients import bias_gradients
from merp.hdl.cnn_merp.gradient_array.gradient_array import gradient_array
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.hdl.cnn_merp.phases.input_path import InputPorts, input_path
from merp.hdl.cnn_merp.phases.map_entrance import map_entrance
from merp.hdl.cnn_merp.phases.run_counters import run_counts
from merp.hdl.cnn_merp.phases.stored_stream import inside
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.kernel_update_ports import KernelUpdatePorts
from merp.hdl.cnn_merp.ports.passes import RunProgress, run_signals
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientAccess,
    ParameterStreams,
    Passage,
    UpdateProgress,
    UpdateRegisters,
)
from merp.hdl.cnn_merp.update_unit.update_unit import update_unit
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.cnn_merp.upsampling.unpool_beats import unpool_beats
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.piece_cutter import piece_cutter
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

ARRAYS = {"position": gradient_array, "row": row_array}


STORED = (
    "s_axis_map", "s_axis_delta", "s_axis_kernel", "s_axis_bias", "s_axis_kernel_velocity",
    "s_axis_bias_velocity", "m_axis_kernel", "m_axis_bias", "m_axis_kernel_velocity",
    "m_axis_bias_velocity",
)  # fmt: skip
"""Streams of elements, which memory may store in a narrower format than the arithmetic."""

FROM_OTHER_HALF = "s_axis_delta", "s_axis_kernel"
"""The streams that the other half of a pass supplies, in the format of the arithmetic."""


def _folding(ports: KernelUpdatePorts, design: EngineDesign) -> dict[str, Any]:
    """Return the ports of the input side that not every design has."""
    found: dict[str, Any] = {}
    if design.folded:
        found["folded"] = ports.fold_config.folded
        if design.ku_kind == "row":
            found["fold"] = ports.fold_config
    if design.map_port > 1:
        found["port"] = ports.port_config
    return found


def _whole_deltas(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: KernelUpdatePorts,
    design: EngineDesign,
    sink: AxiStream,
    undone: UnpoolDesign | None,
    error: Bit,
) -> tuple[Stream, Any, Any]:
    """Return the deltas to be kept, and the blocks that make them from the input deltas.

    Pooled deltas are expanded; beats of several deltas are cut for the buffer. ``error``: their
    stream was framed wrong.
    """
    wide = design.map_port > 1
    expand: Any = ()
    spread: Any = ()
    deltas = stream_of(sink)
    if undone is not None:
        expanded = Stream(len(deltas.data))
        undo: dict[str, Any] = dict(
            config=ports.unpool_config,
            sink=beats_of(sink),
            sink_state=stream_of(ports.s_axis_state),
            source=expanded,
            done=flag(),  # the update continues after it
            framing_error=error,
            design=undone,
        )
        deltas = expanded
        if wide:
            spread = unpool_beats(clk, rst, start, **undo)
        else:
            expand = unpool(clk, rst, start, **undo)
    if wide:
        pieces = Stream(design.delta_beat * design.fmt.width)
        expand = piece_cutter(
            clk,
            rst,
            start,
            length=ports.port_config.deltas,
            lengths=ports.port_config.positions,
            sink=deltas,
            source=pieces,
            width=design.fmt.width,
        )
        deltas = pieces
    return deltas, expand, spread


def _buffer(
    clk: Bit, rst: Bit, start: Bit, ports: KernelUpdatePorts, design: EngineDesign, **signals: Any
) -> Any:
    """Make the buffer for two positions of deltas, or for two rows if sums are taken by row."""
    config = ports.map_config
    if design.map_port > 1:
        config = config.but(last_cus=ports.port_config.last_beats)
    if design.ku_kind == "position":
        return delta_buffer(clk, rst, start, config=config, design=design, **signals)
    if design.folded:
        config = config.also(first_images=ports.fold_config.first_images)
    return delta_row_buffer(clk, rst, start, config=config, design=design, **signals)


def _biases(
    clk: Bit, rst: Bit, design: EngineDesign, element: DeltaElement, access: GradientAccess
) -> Any:
    """Make the gradients of the biases, which the update unit reads."""
    return (bias_gradients if design.delta_beat > 1 else bias_gradient)(
        clk,
        rst,
        element=element,
        read_enable=access.place.bias.enable,
        read_index=access.place.bias.index,
        gradient=access.bias,
        design=design,
    )


def _extent(ports: KernelUpdatePorts, design: EngineDesign) -> Extent:
    """Return the registers for the range of the update, as far as the design has them."""
    return Extent(
        ports.map_config,
        ports.pass_config.biases if design.partial else None,
        ports.fold_config.filling if design.folded else None,
        ports.kernel_config.size if design.widened else None,
    )


def _passage(inner: dict[str, AxiStream], words: str = "") -> Passage:
    """Return the streams of kernels and biases, or of their ``words``."""
    return Passage(
        ParameterStreams(*(stream_of(inner[f"s_axis_{of}{words}"]) for of in ("kernel", "bias"))),
        ParameterStreams(*(beats_of(inner[f"m_axis_{of}{words}"]) for of in ("kernel", "bias"))),
    )


@entity
def kernel_update(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: KernelUpdatePorts,
    design: EngineDesign,
    undone: UnpoolDesign | None = None,
) -> Any:
    """Sum the gradients of a layer over a batch of images, and update its kernels and biases.

    start begins a run; the configuration must be stable from start to status_done. Maps and deltas
    (of the sums before ReLU and pooling) stream in together in the order image, row, column, map.
    After the last of them, kernels (order m, n, row, column) and then biases stream in and out.
    With momentum (if the velocity streams exist), their velocities stream in parallel. With weight
    decay (if its register exists), the old kernels and biases, times the decay factor, are added to
    their gradients. The next run needs no reset.

    With undone, deltas arrive at pooled resolution and are expanded here, with the ReLU/pooling
    masks of this layer, a stream of bytes.

    With fold_config, fully connected layers run, too: their elements arrive, and their kernels
    arrive and are sent, in their natural order. If gradients are summed by row, images are its
    columns.

    With kernel_config, layers with smaller kernels run, too; missing taps are not stored.

    Elements that the design stores in a narrower format than it computes in are widened at the
    input and rounded at the output.

    As one half of a pass (half in the place of status), it takes expanded deltas, and the kernels
    that the other half has used.

    s_axis_map     in   map words in the order image, row, column, map
    s_axis_delta   in   deltas in the same order
    s_axis_kernel  in   kernels in the order m, n, row, column
    s_axis_bias    in   biases in the order m
    s_axis_state   in   ReLU/pooling masks from forward propagation, in bytes
    m_axis_kernel  out  kernels, updated, in the same order
    m_axis_bias    out  biases, updated.
    s_axis_kernel_velocity, s_axis_bias_velocity  in   velocities in the same orders.
    m_axis_kernel_velocity, m_axis_bias_velocity  out  the same, updated
    half           out  of a half of a pass: its progress

    Throughput: a map word and a delta word in and a slot per cycle; then an element per cycle.
    Reset: synchronous, active high; the run is abandoned.
    """
    if design.p != 1:
        raise ValueError(f"a kernel update must have p = 1, not {design.p}")
    width = design.fmt.width
    by_rows = design.ku_kind == "row"
    run = run_signals(ports, design)
    enable = run["loaded"]
    filled, opening = flag(), flag()
    slot = RowSlot(design) if by_rows else Slot(design)
    held = bits(design.window_width)
    deltas = bits(design.n_cu * width)
    element = DeltaElement(design)
    verdict = run["verdict"]
    map_error, delta_error, load_error = run["map_error"], flag(), run["load_error"]
    access = GradientAccess(design)
    progress = UpdateProgress()
    progress.ends, progress.done = run["ends"], run["output_done"]

    given = FROM_OTHER_HALF if ports.has("half") else ()
    inner, borders = inside(ports, "ku", design, [each for each in STORED if each not in given])
    inner |= {name: vars(ports)[name] for name in given}
    maps_in, delta_words = inner["s_axis_map"], inner["s_axis_delta"]
    map_words, filler = map_entrance(clk, rst, start, ports, design, stream_of(maps_in))
    windows = input_path(
        clk,
        rst,
        start,
        ports=InputPorts(
            enable=enable,
            config=ports.map_config,
            sink=map_words,
            credit=filled,
            slot=slot,
            held=held,
            verdict=verdict,
            complete=run["complete"],
            framing_error=map_error,
            **_folding(ports, design),
        ),
        design=design,
        sums="row" if by_rows else "gradient",
    )
    unpool_error = flag()
    deltas_in, expand, spread = _whole_deltas(
        clk, rst, start, ports, design, delta_words, undone, unpool_error
    )
    if undone is not None:

        @always_comb
        def gather() -> None:
            load_error.next = delta_error or progress.framing_error or unpool_error

    else:

        @always_comb
        def gather() -> None:
            load_error.next = delta_error or progress.framing_error

    second = _buffer(
        clk,
        rst,
        start,
        ports,
        design,
        sink=deltas_in,
        slot=slot,
        operand=SlotDeltas(deltas, opening),
        arriving=Arriving(filled, element, delta_error),
    )
    units = ARRAYS[design.ku_kind](
        clk,
        rst,
        slot=slot,
        opening=opening,
        window=held,
        deltas=deltas,
        read=access.place.kernel,
        gradient=access.kernel,
        design=design,
    )
    bias = _biases(clk, rst, design, element, access)
    velocities = None
    if ports.has("s_axis_kernel_velocity"):
        velocities = _passage(inner, "_velocity")
    updater = update_unit(
        clk,
        rst,
        start,
        final_issue=verdict.final_issue,
        config=UpdateRegisters(_extent(ports, design), ports.update_config),
        gradients=access,
        parameters=_passage(inner),
        velocities=velocities,
        progress=progress,
        design=design,
    )
    words: Any = ()
    counters: Any = ()
    if not ports.has("half"):  # a pass counts for both of its halves
        words, counters = run_counts(
            clk, rst, start, ports, first=ports.s_axis_map, run=RunProgress(**run)
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
