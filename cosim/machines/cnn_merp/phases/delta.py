"""Delta propagation: top, ports, run, and the expected results of one group of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.expected import expected_ports, work_of
from merp.cosim.machines.cnn_merp.phases.pins import inputs_on_pins
from merp.cosim.phases.expectation import Expectation, GroupPass
from merp.hdl.cnn_merp.phases.delta import delta
from merp.hdl.cnn_merp.ports.delta_ports import DeltaPorts
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.input_part import ADDING, WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.state import State, of_maps, packed
from merp.models.golden.stored import Stored, as_it_is
from merp.models.golden.training import leaves, state_behind
from merp.models.machines.cnn_merp.kernel_load import delta_load
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.delta_registers import delta_registers
from merp.models.machines.cnn_merp.phases import delta_design, maps_behind, start_shape
from merp.models.machines.cnn_merp.traffic import backward_counter
from merp.models.network.branches import begun, behind, beside, previous, undone_shape
from merp.models.network.network import Layer, Network
from merp.models.traffic import pass_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORTS = DeltaPorts.streams()
"""The stream of each port of the traffic report. The mask streams carry bytes."""


def delta_top(design: DeltaDesign, array: str = "rtl") -> Top:
    """Return the engine of delta propagation for ``design`` as a top with its own signals.

    Raises:
        ValueError: ``array`` is not a kind of CU array.
    """
    parameters = {"design": design.engine, "undone": design.unpool, "before": design.before}
    if design.add_unpool is not None:
        parameters["add_undone"] = design.add_unpool
    return Top.of(delta, DeltaPorts(design), parameters, array, described)


def delta_run(
    shape: Shape,
    unpooled: Shape,
    design: DeltaDesign,
    deltas: Bits,
    kernels: Bits,
    state: bytes,
    part: InputPart = WHOLE,
    start: Bits | None = None,
    add: Stored | None = None,
) -> Run:
    """Return a run of one group of a layer.

    Args:
        shape: the group, as in forward propagation.
        unpooled: the layer whose ReLU and pooling are undone: this layer or the layer in front of
            it.
        design: design of the run, which the group fits.
        deltas: (images, rows, columns, m) words, of the pooled output or of the sums.
        kernels: (m, n, k, k) words, as in forward propagation.
        state: ReLU/pooling mask of ``unpooled``, kind ``pooled``, packed. It is empty if sums are
            output and un-pooling is behind them.
        part: which part of the layer's output maps ``shape`` is.
        start: initial value of the sums, of any part except the first: (images, rows, columns, n)
            words in the accumulator's format.
        add: the delta of n maps at which the sums start, if ``part`` says so. It is not pooled,
            unless ``design`` expands it.

    Raises:
        ValueError: an array has the wrong size, or a word is not a number of the stored format of
            its tensor.
    """
    size = shape.out_rows, shape.out_columns, shape.m
    maps = shape.n * shape.rows * shape.columns // (unpooled.pooled_rows * unpooled.pooled_columns)
    if design.before:
        size, maps = (shape.pooled_rows, shape.pooled_columns, shape.m), shape.m
    sizes = {
        "deltas": (deltas.shape[1:], size),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
    }
    none = np.zeros(0, np.uint32)
    sums = none if start is None else start
    beside, summands, add_state = add or (None, none, State(kind="pooled"))
    inputs = len(deltas), shape.rows, shape.columns, shape.n
    if part.partial_in:
        sizes["start"] = sums.shape, inputs
    if part.added:
        begun_at = beside or plain_inputs(shape)
        pixels = begun_at.pooled_rows, begun_at.pooled_columns
        sizes["add"] = summands.shape, (len(deltas), *pixels, shape.n)
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    words = {
        "s_axis_delta": deltas.reshape(-1),
        "s_axis_kernel": kernels.reshape(-1),
        "s_axis_state": np.frombuffer(state, np.uint8).astype(np.uint32),
    }
    if design.engine.partial:
        words["s_axis_partial"] = sums.reshape(-1)
    if design.engine.added:
        words["s_axis_add"] = summands.reshape(-1)
    if design.add_unpool is not None:
        add_bytes = packed(add_state, beside or plain_inputs(shape), design.engine.fmt)
        words["s_axis_add_state"] = np.frombuffer(add_bytes, np.uint8).astype(np.uint32)
    return Run(
        config=delta_registers(
            shape,
            unpooled,
            maps,
            len(deltas),
            design.engine,
            design.unpool,
            part,
            design.add_unpool,
            beside,
        ),
        words=inputs_on_pins(words, "dp", DeltaPorts.streams_of(design), design.engine),
    )


def expect_delta(
    shape: Shape,
    unpooled: Shape,
    images: int,
    design: DeltaDesign,
    golden: Bits,
    part: InputPart = WHOLE,
    beside: Shape | None = None,
) -> Expectation:
    """Return the expectation of one group; ``golden`` is the output delta, images first.

    If the sums of a ``part`` are output raw, ``golden`` is these sums in the accumulator's format.
    ``shape``, ``unpooled`` and ``beside`` are as in ``delta_run``.
    """
    engine, before = design.engine, design.before
    maps = shape.m if before else maps_behind(shape, unpooled)
    expanding = design.add_unpool is not None
    beside = beside or plain_inputs(shape) if expanding else None
    formula = _closed_form(shape, unpooled, maps, images, design, part, beside)
    walked = backward_counter.delta_words(
        shape, unpooled, maps, images, engine, before, part, beside
    )
    none = np.zeros(0, np.uint32)
    goldens = {"delta_out": golden if part.last else none}
    if engine.partial:
        goldens["partial_out"] = golden if part.partial_out else none
    ports = expected_ports(
        "dp",
        DeltaPorts.streams_of(design),
        formula,
        walked,
        goldens,
        ("delta_in", "delta_out", "add_in"),
        engine,
    )
    # Products with the zeros of a dilation are not useful operations of the layer.
    work = work_of(delta_shape(shape), images, engine)
    macs = shape.macs(images)
    return Expectation(
        ports=ports,
        first="delta_in",
        last=("partial_out",) if part.partial_out else ("delta_out",),
        loads={"kernel": delta_load(shape, engine).behind},
        work=replace(work, operations=2 * macs, ideal=macs / (engine.taps * engine.n_cu)),
    )


def _closed_form(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    design: DeltaDesign,
    part: InputPart = WHOLE,
    beside: Shape | None = None,
) -> dict[str, int]:
    """Return the words on each port by formula.

    ``beside`` is set if the design expands summands.
    """
    ported = part if design.engine.partial else None
    words = pass_words.delta_port_words(shape, unpooled, maps, images, design.before, ported)
    if beside is not None:
        words |= pass_words.begun_words(beside, shape.n * part.added, images)
    elif design.engine.added:
        words["add_in"] = pass_words.added_words(delta_shape(shape), images) * part.added
    return words


def delta_pass(
    layer: Layer,
    earlier: Layer,
    group: int,
    design: DeltaDesign,
    deltas: Bits,
    state: State,
    kernels: Bits,
    wanted: Bits,
    start: Stored | None = None,
) -> GroupPass:
    """Return the delta propagation of one group.

    Args:
        layer: the layer. Un-pooling in front of the engine undoes its ReLU and pooling.
        earlier: the layer whose pooling un-pooling behind the engine undoes.
        group: number of the group.
        design: design of the pass.
        deltas: (images, rows, columns, groups*m) input words: of the layer's output (un-pooling in
            front of the engine) or of its sums.
        state: ReLU/pooling mask of the layer whose pooling is undone: this layer, or the layer in
            front.
        kernels: (groups*m, n, k, k) words.
        wanted: the expected output, of all maps in front.
        start: initial value of the sums of all groups, or None.
    """
    part = WHOLE if start is None else ADDING
    shape, images = layer.shape, len(deltas)
    own = group * shape.m, (group + 1) * shape.m
    maps = maps_behind(shape, earlier.shape)
    front = group * maps, (group + 1) * maps
    unpooled, undone_maps = (shape, own) if design.before else (earlier.shape, front)
    add = None if start is None else start.of_group(layer, group)
    run = delta_run(
        shape,
        unpooled,
        design,
        np.ascontiguousarray(deltas[..., slice(*own)]),
        kernels[slice(*own)],
        packed(of_maps(state, *undone_maps), unpooled, design.engine.fmt),
        part=part,
        add=add,
    )
    golden = np.ascontiguousarray(wanted[..., slice(*front)])
    beside = None if add is None else add.shape
    return GroupPass(run, expect_delta(shape, unpooled, images, design, golden, part, beside))


@dataclass(frozen=True)
class DeltaPhase:
    """Delta propagation of the layers that share a design.

    Attributes:
        network: network of the layers.
        design: design of the layers.
    """

    name: ClassVar[str] = "dp"

    network: Network
    design: DeltaDesign

    @classmethod
    def of(
        cls, network: Network, layer: Layer, *, state: bool = False, before: bool = False
    ) -> DeltaPhase:
        """Return the phase on the design of ``layer``.

        ``before``: deltas arrive at pooled resolution.
        """
        return cls(network, delta_design(network, layer, before))

    def on(self, network: Network) -> DeltaPhase:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    def ports(self) -> DeltaPorts:
        """The ports of the block, with their own signals."""
        return DeltaPorts(self.design)

    @property
    def streams(self) -> dict[str, str]:
        """The stream of each port of the traffic report."""
        return DeltaPorts.streams_of(self.design)

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""
        return delta_top(self.design, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for a run of one group."""
        unpooled, maps = self._undone(layer)
        design = self.design
        return delta_registers(
            layer.shape, unpooled, maps, images, design.engine, design.unpool, self._part(layer),
            design.add_unpool, self._start(layer),
        )  # fmt: skip

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words (for masks: bytes) on each port in a run of one group."""
        unpooled, maps = self._undone(layer)
        start = self._start(layer) if self.design.add_unpool is not None else None
        return _closed_form(
            layer.shape, unpooled, maps, images, self.design, self._part(layer), start
        )

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """Return the pass of one group with golden deltas."""
        here, (kernels, _) = step.passed(layer), step.parameters[layer.name]
        if self.design.before:
            start = step.started(layer)
            earlier = self._earlier(layer)
            # A fully connected layer reads the maps in front of it flattened.
            size = len(here.x), earlier.shape.pooled_rows, earlier.shape.pooled_columns, -1
            shape, deltas, state = step.stored(layer)
            layer, wanted = replace(layer, shape=shape), step.left(layer).reshape(size)
        else:
            start = None if here.start is None else as_it_is(layer, here.start)
            earlier = behind(self.network, layer)
            deltas, state = here.sums, state_behind(self.network, layer, step.state)
            wanted = leaves(self.network, layer, step.passed, pooled=False)
        return delta_pass(layer, earlier, group, self.design, deltas, state, kernels, wanted, start)

    def _part(self, layer: Layer) -> InputPart:
        return ADDING if begun(self.network, layer) else WHOLE

    def _start(self, layer: Layer) -> Shape:
        """Return the layer whose ReLU and pooling are undone for the initial value of the sums."""
        return start_shape(layer.shape, beside(self.network, layer))

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a delta is not an input of the next layer."""

    def _earlier(self, layer: Layer) -> Layer:
        earlier = previous(self.network, layer)
        assert earlier is not None
        return earlier

    def _undone(self, layer: Layer) -> tuple[Shape, int]:
        """Return the shape of the layer whose pooling is undone, and its maps in a pass."""
        if self.design.before:
            return undone_shape(self.network, layer), layer.shape.m
        undone = behind(self.network, layer)
        return undone.shape, maps_behind(layer.shape, undone.shape)
