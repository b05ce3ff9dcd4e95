"""Forward propagation: top, ports, run, and the expected results of one group of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.expected import expected_ports, work_of
from merp.cosim.machines.cnn_merp.phases.pins import inputs_on_pins, widened_words
from merp.cosim.phases.expectation import Expectation, GroupPass, Pair
from merp.hdl.cnn_merp.phases.forward import forward
from merp.hdl.cnn_merp.ports.forward_ports import ForwardPorts
from merp.models.base.bits import Bits
from merp.models.base.input_part import ADDING, WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.inference import group_maps, group_parameters, own_maps
from merp.models.golden.state import State, joined, of_maps, packed, unpacked
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.kernel_load import forward_load
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.forward_registers import forward_registers
from merp.models.machines.cnn_merp.traffic import backward_counter, counter
from merp.models.network.network import Layer, Network
from merp.models.traffic import pass_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORTS = ForwardPorts.streams()
"""The stream of each port of the traffic report. The mask stream carries bytes."""


def forward_top(design: EngineDesign, array: str = "rtl") -> Top:
    """Return the forward engine for ``design`` as a top with its own signals.

    If ``design.state`` is set, the ReLU/pooling mask for backward propagation is output on a
    separate stream.

    Raises:
        ValueError: ``array`` is not a kind of CU array.
    """
    return Top.of(forward, ForwardPorts(design), {"design": design}, array, described)


def forward_run(
    shape: Shape,
    design: EngineDesign,
    x: Bits,
    kernels: Bits,
    bias: Bits,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
    part: InputPart = WHOLE,
    add: Bits | None = None,
) -> Run:
    """Return a run of one group of a super layer.

    Args:
        shape: the group.
        design: design of the run, which the group fits.
        x: (images, rows, columns, n) words.
        kernels: (m, n, k, k) words.
        bias: (m,) words, or the initial value of the sums: (images, out_rows, out_columns, m) words
            in the accumulator's format.
        stalls: stall patterns by stream name.
        reset_at: as in ``Run``.
        part: which part of the layer's input maps ``shape`` is.
        add: (images, out_rows, out_columns, m) words that are added, if ``part`` says so.

    Raises:
        ValueError: an array has the wrong size, or a word is not a number of the stored format of
            its tensor.
    """
    sizes = {
        "x": (x.shape[1:], (shape.rows, shape.columns, shape.n)),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
        "bias": (bias.shape, (shape.m,)),
    }
    sums = len(x), shape.out_rows, shape.out_columns, shape.m
    start, none = bias.reshape(-1), np.zeros(0, np.uint32)
    summands = none if add is None else add
    if part.partial_in:
        sizes["bias"] = bias.shape, sums
    if part.added:
        sizes["add"] = summands.shape, sums
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    words = {
        "s_axis_map": x.reshape(-1),
        "s_axis_kernel": kernels.reshape(-1),
        "s_axis_bias": start if part.biases else none,
    }
    if design.partial:
        words["s_axis_partial"] = start if part.partial_in else none
    if design.added:
        words["s_axis_add"] = summands.reshape(-1)
    return Run(
        config=forward_registers(shape, len(x), design, part),
        words=inputs_on_pins(words, "fp", ForwardPorts.streams_of(design), design),
        stalls=stalls or {},
        reset_at=reset_at,
    )


def expect_forward(
    shape: Shape,
    images: int,
    design: EngineDesign,
    golden: Bits,
    state: bytes | None = None,
    part: InputPart = WHOLE,
) -> Expectation:
    """Return the expectation of one group.

    ``golden`` is (images, pooled rows, pooled columns, m). If the sums of a ``part`` are output
    raw, it is (images, out_rows, out_columns, m) in the accumulator's format. ``state`` is the
    expected mask for backward propagation, if the design writes it.
    """
    formula = _closed_form(shape, images, design, part)
    walked = counter.port_words(shape, images, design, part)
    none = np.zeros(0, np.uint32)
    goldens = {"map_out": golden if part.last else none}
    if design.state:
        written = backward_counter.state_bytes(shape, shape.m, images)
        walked["state_out"] = written if part.last else 0
        goldens["state_out"] = np.frombuffer(state or b"", np.uint8).astype(np.uint32)
    if design.partial:
        goldens["partial_out"] = golden if part.partial_out else none
    return Expectation(
        ports=expected_ports(
            "fp",
            ForwardPorts.streams_of(design),
            formula,
            walked,
            goldens,
            ("map_in", "map_out", "add_in"),
            design,
        ),
        first="map_in",
        last=("partial_out",) if part.partial_out else ("map_out",),
        loads={"kernel": forward_load(shape, design).behind, "bias": 0},
        work=work_of(shape, images, design),
        early_end=part.last and not every_position_counts(shape),
    )


def _closed_form(
    shape: Shape, images: int, design: EngineDesign, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the words on each port by formula, and the output bytes of a written mask."""
    words = pass_words.port_words(shape, images, part if design.partial else None)
    if design.added:
        words["add_in"] = pass_words.added_words(shape, images) * part.added
    if design.state:
        written = pass_words.state_bytes(shape, shape.m, images)
        words["state_out"] = written * part.last
    return words


def every_position_counts(shape: Shape) -> bool:
    """Return whether the last word waits for the last position, which is in a pooling window."""
    if shape.pool is None:
        return True
    rows, columns = shape.pool.covers(shape.pooled_rows, shape.pooled_columns)
    return rows >= shape.out_rows and columns >= shape.out_columns


def forward_pass(
    layer: Layer,
    group: int,
    design: EngineDesign,
    x: Bits,
    made: Pair,
    wanted: Bits,
    state: State | None = None,
    add: Bits | None = None,
) -> GroupPass:
    """Return the forward propagation of one group.

    Args:
        layer: the layer.
        group: its number.
        design: design of the pass.
        x: (images, rows, columns, groups*n) words.
        made: kernels and biases.
        wanted: the expected output, of all groups.
        state: ReLU/pooling mask of the whole layer, if the design writes it.
        add: (images, out_rows, out_columns, groups*m) words that are added to the sums, or None.
    """
    shape = layer.shape
    part = WHOLE if add is None else ADDING
    maps = group * shape.m, (group + 1) * shape.m
    own = group_parameters(layer, group, *made)
    run = forward_run(
        shape, design, group_maps(x, layer, group), *own, part=part,
        add=None if add is None else own_maps(add, layer, group),
    )  # fmt: skip
    golden = np.ascontiguousarray(wanted[..., slice(*maps)])
    kept = packed(of_maps(state, *maps), shape, design.fmt) if state is not None else None
    return GroupPass(run, expect_forward(shape, len(x), design, golden, kept, part))


def _whole(layer: Layer) -> InputPart:
    """Return the part of a run of all input maps of a group."""
    return WHOLE if layer.add is None else ADDING


@dataclass(frozen=True)
class ForwardPhase:
    """Forward propagation of the layers that share a design.

    Attributes:
        network: network of the layers.
        design: design of the layers.
    """

    name: ClassVar[str] = "fp"

    network: Network
    design: EngineDesign

    @classmethod
    def of(
        cls, network: Network, layer: Layer, *, state: bool = False, before: bool = False
    ) -> ForwardPhase:
        """Return the phase on the design of ``layer``.

        ``state``: masks for the backward phases are written.
        """
        return cls(network, replace(design_of(network, layer), state=state))

    def on(self, network: Network) -> ForwardPhase:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    def ports(self) -> ForwardPorts:
        """The ports of the block, with their own signals."""
        return ForwardPorts(self.design)

    @property
    def streams(self) -> dict[str, str]:
        """The stream of each port of the traffic report."""
        return ForwardPorts.streams_of(self.design)

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""
        return forward_top(self.design, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for a run of one group."""
        return forward_registers(layer.shape, images, self.design, _whole(layer))

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words (for masks: bytes) on each port in a run of one group."""
        return _closed_form(layer.shape, images, self.design, _whole(layer))

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """Return the pass of one group.

        Its input is golden, or the hardware's output in ``made``.
        """
        return forward_pass(
            layer, group, self.design, step.x(layer), step.parameters[layer.name],
            step.y(layer), step.state(layer) if self.design.state else None, step.add(layer),
        )  # fmt: skip

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the output maps of the groups of ``records``, in full even if words are missing.

        The audit reports missing words, and the following layers can still run.
        """
        shape = layer.shape
        size = images, shape.pooled_rows, shape.pooled_columns, shape.m
        groups = [record.array(PORTS["map_out"], size) for record in records]
        return widened_words(np.concatenate(groups, axis=-1), "fp", "map_out", self.design)

    def states(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> State:
        """Return the ReLU/pooling masks that all groups wrote for backward propagation."""
        written = [record.words(PORTS["state_out"]).astype(np.uint8) for record in records]
        shape = layer.shape
        return joined([unpacked(each.tobytes(), shape, shape.m, images) for each in written])
