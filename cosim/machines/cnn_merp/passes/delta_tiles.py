"""Delta propagation in passes: the output sums of one part are the input sums of the next part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, Part, PassPlace, Tiles, in_order
from merp.cosim.machines.cnn_merp.phases.delta import PORTS, delta_run, delta_top, expect_delta
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.phases.audit.run_and_audit import given
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.input_part import part_of
from merp.models.base.shape import Shape
from merp.models.golden.convolution import finished, from_biases, from_maps, partial_sums
from merp.models.golden.delta import spread, swapped
from merp.models.golden.state import State, chosen, packed
from merp.models.golden.stored import Stored
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.phases import maps_behind
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class DeltaTiles(Tiles):
    """One group of a layer.

    Attributes:
        shape: shape of the whole group, as in forward propagation.
        design: design of all passes, which every part fits.
        unpooled: the layer whose ReLU and pooling are undone: this layer or the layer in front of
            it.
        deltas: (images, rows, columns, m) input words.
        kernels: (m, n, k, k) words.
        state: ReLU/pooling mask of the maps of ``unpooled``.
        cut: parts of the output maps and of the m input maps. The output maps are maps of the layer
            in front if its pooling is undone, otherwise the n input maps of the layer.
        start: initial value of the sums of the n input maps, or None.
    """

    shape: Shape
    unpooled: Shape
    design: DeltaDesign
    deltas: Bits
    kernels: Bits
    state: State
    cut: Cut
    start: Stored | None = None

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs every pass, as a top."""
        return delta_top(self.design, array)

    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Return ``deltas``: (images, rows, columns, maps) words, as the layer outputs them."""
        return {"deltas": in_order(self.cut.outputs, [row["deltas"] for row in rows])}

    def row(self, outputs: int) -> Made:
        """Run the passes of one part of the output maps. Results are named as in ``joined``."""
        golden, start = self._at_rest(outputs), None
        size = *self._size, golden.shape[-1]
        for inputs in range(len(self.cut.inputs)):
            each, golden = self._pass(PassPlace(outputs, inputs), start, golden)
            record = given((yield each)).record
            if self.design.engine.partial:
                start = record.array(PORTS["partial_out"], size)
        wanted = each.expected.ports["delta_out"].golden
        assert wanted is not None
        left = record.array(PORTS["delta_out"], wanted.shape)
        return {"deltas": widened_words(left, "dp", "delta_out", self.design.engine)}

    def alone(self, place: PassPlace) -> GroupPass:
        """Return one pass, with golden sums of the deltas before its own part."""
        golden, start = self._at_rest(place.outputs), None
        before = self.cut.inputs_before(place)
        if before.size:
            start = golden = self._sums(place.outputs, before, golden)
        return self._pass(place, start, golden)[0]

    @property
    def _size(self) -> tuple[int, int, int]:
        """Number of images, rows and columns of the sums."""
        return len(self.deltas), self.shape.rows, self.shape.columns

    def _at_rest(self, outputs: int) -> Bits:
        """Return the initial value of the sums of a part."""
        engine, maps = self.design.engine, self._inputs_of(self.cut.outputs[outputs])
        if self.start is not None:
            taken = self.start.of_maps(maps)
            summands = unpool(taken.delta, taken.state, taken.shape, engine.fmt)
            return from_maps(summands, engine.fmt, engine.summation)
        return from_biases(np.zeros(maps.size, np.uint32), engine.fmt, engine.summation)

    def _operands(self, outputs: int, inputs: Part) -> tuple[Bits, Bits]:
        """Return deltas and kernels of parts."""
        taken = self._inputs_of(self.cut.outputs[outputs])
        return (
            np.ascontiguousarray(self.deltas[..., inputs]),
            np.ascontiguousarray(self.kernels[np.ix_(inputs, taken)]),
        )

    def _sums(self, outputs: int, inputs: Part, golden: Bits) -> Bits:
        """Return the golden sums after some deltas; ``golden`` is the sums before them."""
        engine = self.design.engine
        deltas, kernels = self._operands(outputs, inputs)
        small = replace(self.shape, n=kernels.shape[1], m=len(inputs))
        if self.design.before:
            deltas = unpool(deltas, chosen(self.state, inputs), small, engine.fmt)
        return partial_sums(
            spread(deltas, small), swapped(kernels), golden, 1, 0, engine.fmt, engine.summation
        )

    def _pass(self, place: PassPlace, start: Bits | None, golden: Bits) -> tuple[GroupPass, Bits]:
        """Return a pass whose sums start at ``start``, and the golden sums after it.

        Args:
            golden: the golden sums before the pass, in the accumulator's format.
        """
        design, images = self.design, len(self.deltas)
        part = part_of(place.inputs, len(self.cut.inputs), added=self.start is not None)
        outputs, inputs = self.cut.outputs[place.outputs], self.cut.inputs[place.inputs]
        deltas, kernels = self._operands(place.outputs, inputs)
        small = replace(self.shape, n=kernels.shape[1], m=len(inputs))
        undone, state = self._undone(small, outputs, inputs)
        golden = self._sums(place.outputs, inputs, golden)
        wanted = self._leaving(golden, state) if part.last else golden
        add, beside = None, None
        if self.start is not None:
            beside = self.start.shape
            add = self.start.of_maps(self._inputs_of(outputs)) if part.added else None
        run = delta_run(
            small,
            undone,
            design,
            deltas,
            kernels,
            packed(state, undone, design.engine.fmt) if design.before or part.last else b"",
            part=part,
            start=start if part.partial_in else None,
            add=add,
        )
        return GroupPass(
            run, expect_delta(small, undone, images, design, wanted, part, beside)
        ), golden

    def _inputs_of(self, outputs: Part) -> Part:
        """Return the input maps of the layer that belong to the given output maps.

        A fully connected layer reads every element of a map in front as a map of its own.
        """
        if self.design.before:
            return outputs
        maps = maps_behind(self.shape, self.unpooled)
        return np.arange(self.shape.n).reshape(-1, maps)[:, outputs].reshape(-1)

    def _undone(self, small: Shape, outputs: Part, inputs: Part) -> tuple[Shape, State]:
        """Return the shape whose pooling a pass undoes, and its ReLU/pooling mask."""
        maps = inputs if self.design.before else outputs
        undone = small if self.design.before else self.unpooled
        return undone, chosen(self.state, maps)

    def _leaving(self, sums: Bits, state: State) -> Bits:
        """Return the output words of the pass of the last part."""
        engine = self.design.engine
        deltas = finished(sums, engine.fmt, engine.summation)
        if not self.design.before:
            size = len(sums), self.unpooled.pooled_rows, self.unpooled.pooled_columns, -1
            deltas = unpool(deltas.reshape(size), state, self.unpooled, engine.fmt)
        return as_stored(deltas, "dp", "delta_out", engine)
