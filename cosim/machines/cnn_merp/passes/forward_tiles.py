"""Forward propagation in passes: the output sums of one input part start the next part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, Part, PassPlace, Tiles, in_order
from merp.cosim.machines.cnn_merp.phases.forward import (
    PORTS,
    expect_forward,
    forward_run,
    forward_top,
)
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.phases.audit.run_and_audit import given
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.input_part import part_of
from merp.models.base.shape import Shape
from merp.models.golden.convolution import finished, from_biases, from_maps, partial_sums
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import activated
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class ForwardTiles(Tiles):
    """One group of a layer.

    Attributes:
        shape: shape of the whole group.
        design: design of all passes, which every part fits.
        x: (images, rows, columns, n) words.
        kernels: (m, n, k, k) words.
        bias: (m,) words.
        cut: parts of the m output maps and of the n input maps.
        add: (images, out_rows, out_columns, m) words that are added to the sums, or None.
    """

    shape: Shape
    design: EngineDesign
    x: Bits
    kernels: Bits
    bias: Bits
    cut: Cut
    add: Bits | None = None

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs every pass, as a top."""
        return forward_top(self.design, array)

    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Return ``maps`` (images, pooled rows, pooled columns, m).

        If the design writes masks, the result also has ``state``: the mask bytes of all output
        parts, one part after the other.
        """
        arrays = {"maps": in_order(self.cut.outputs, [row["maps"] for row in rows])}
        if self.design.state:
            arrays["state"] = np.concatenate([row["state"] for row in rows])
        return arrays

    def row(self, outputs: int) -> Made:
        """Run the passes of one part of the output maps. Results are named as in ``joined``."""
        shape, design, images = self.shape, self.design, len(self.x)
        maps = len(self.cut.outputs[outputs])
        start = self.bias[self.cut.outputs[outputs]]
        golden = self._beginning(outputs)
        for inputs in range(len(self.cut.inputs)):
            each, golden = self._pass(PassPlace(outputs, inputs), start, golden)
            record = given((yield each)).record
            full = images, shape.out_rows, shape.out_columns, maps
            start = record.array(PORTS["partial_out"], full) if design.partial else start
        pooled = images, shape.pooled_rows, shape.pooled_columns, maps
        written = record.array(PORTS["map_out"], pooled)
        arrays = {"maps": widened_words(written, "fp", "map_out", design)}
        return arrays | ({"state": record.words(PORTS["state_out"])} if design.state else {})

    def alone(self, place: PassPlace) -> GroupPass:
        """Return one pass, with golden sums of the input maps before its own part."""
        shape, fmt, summation = self.shape, self.design.fmt, self.design.summation
        outputs, before = self.cut.outputs[place.outputs], self.cut.inputs_before(place)
        start, golden = self.bias[outputs], self._beginning(place.outputs)
        if before.size:
            start = golden = partial_sums(
                *self._operands(outputs, before), golden, shape.stride, shape.pad, fmt, summation
            )
        return self._pass(place, start, golden)[0]

    def _beginning(self, outputs: int) -> Bits:
        """Return the golden words at which the sums of a part start."""
        design, maps = self.design, self.cut.outputs[outputs]
        if self.add is None:
            return from_biases(self.bias[maps], design.fmt, design.summation)
        return from_maps(self.add[..., maps], design.fmt, design.summation, self.bias[maps])

    def _operands(self, outputs: Part, inputs: Part) -> tuple[Bits, Bits]:
        """Return input maps and kernels of parts."""
        return (
            np.ascontiguousarray(self.x[..., inputs]),
            np.ascontiguousarray(self.kernels[np.ix_(outputs, inputs)]),
        )

    def _pass(self, place: PassPlace, start: Bits, golden: Bits) -> tuple[GroupPass, Bits]:
        """Return a pass whose sums start at ``start``, and the golden sums after it.

        Args:
            golden: the golden sums before the pass, in the accumulator's format.
        """
        shape, design, images = self.shape, self.design, len(self.x)
        fmt, summation = design.fmt, design.summation
        part = part_of(place.inputs, len(self.cut.inputs), added=self.add is not None)
        outputs, inputs = self.cut.outputs[place.outputs], self.cut.inputs[place.inputs]
        small = replace(shape, n=len(inputs), m=len(outputs))
        x, kernels = self._operands(outputs, inputs)
        golden = partial_sums(x, kernels, golden, shape.stride, shape.pad, fmt, summation)
        wanted, state = golden, b""
        if part.last:
            activation = finished(golden, fmt, summation)
            activation = activated(activation, shape, fmt)
            wanted = as_stored(pool_maps(activation, shape.pool, fmt), "fp", "map_out", design)
            state = packed(keep_state(activation, shape, "pooled", fmt), shape, fmt)
        add = None
        if self.add is not None and part.added:
            add = np.ascontiguousarray(self.add[..., outputs])
        run = forward_run(small, design, x, kernels, start, part=part, add=add)
        written = state if design.state else None
        return GroupPass(run, expect_forward(small, images, design, wanted, written, part)), golden
