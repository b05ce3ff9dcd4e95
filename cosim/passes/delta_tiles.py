"""Delta propagation in passes: the sums of one part of the deltas are the next one's start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.passes.cut import Cut, Made, Part, given, in_order
from merp.cosim.phases.cnn_merp.delta import PORTS, delta_run, delta_top, expect_delta
from merp.cosim.phases.cnn_merp.forward import PARTIAL_PORTS
from merp.cosim.phases.expectation import Pass
from merp.models.cnn_merp.phases import DeltaDesign, maps_behind
from merp.models.golden.convolution import finished, from_biases, partial_sums
from merp.models.golden.delta import spread, swapped
from merp.models.golden.state import State, chosen, packed
from merp.models.golden.unpool import unpool
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.input_part import part_of
from merp.models.params.shape import Shape
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class DeltaTiles:
    """One group of a layer.

    Attributes:
        shape: the whole of it, as in forward propagation. design: what every part runs on, and
            fits.
        unpooled: the layer whose ReLU and pooling are undone: this one or the one in front of it.
        deltas: (images, rows, columns, m) words that come in. kernels: (m, n, k, k).
        state: of the maps of ``unpooled``.
        cut: parts of the maps that come out, and of the m that come in. The former are maps of the
            layer in front where its pooling is undone, else the n input maps.
    """

    shape: Shape
    unpooled: Shape
    design: DeltaDesign
    deltas: Bits
    kernels: Bits
    state: State
    cut: Cut

    def top(self, array: str = "rtl") -> Top:
        """The block that runs every pass."""
        return delta_top(self.design, array)

    def passes(self) -> Made:
        """Gives ``deltas``: (images, rows, columns, maps) words, as they leave the whole layer."""
        shape, engine, images = self.shape, self.design.engine, len(self.deltas)
        fmt, summation = engine.fmt, engine.summation
        made: list[Bits] = []
        for outputs in self.cut.outputs:
            taken = self._inputs_of(outputs)
            golden = from_biases(np.zeros(len(taken), np.uint32), fmt, summation)
            start: Bits | None = None
            for index, inputs in enumerate(self.cut.inputs):
                part = part_of(index, len(self.cut.inputs))
                small = replace(shape, n=len(taken), m=len(inputs))
                undone, state = self._undone(small, outputs, inputs)
                deltas = np.ascontiguousarray(self.deltas[..., inputs])
                kernels = np.ascontiguousarray(self.kernels[np.ix_(inputs, taken)])
                sums = unpool(deltas, state, small, fmt) if self.design.before else deltas
                golden = partial_sums(
                    spread(sums, small), swapped(kernels), golden, 1, 0, fmt, summation
                )
                wanted = self._leaving(golden, state) if part.last else golden
                needed = self.design.before or part.last
                run = delta_run(
                    small,
                    undone,
                    self.design,
                    deltas,
                    kernels,
                    packed(state, undone, fmt) if needed else b"",
                    part=part,
                    start=start,
                )
                expected = expect_delta(small, undone, images, self.design, wanted, part)
                record = given((yield Pass(run, expected))).record
                if part.partial_out:
                    size = images, shape.rows, shape.columns, len(taken)
                    start = record.array(PARTIAL_PORTS["partial_out"], size)
            made.append(record.array(PORTS["delta_out"], wanted.shape))
        return {"deltas": in_order(self.cut.outputs, made)}

    def _inputs_of(self, outputs: Part) -> Part:
        """Input maps of the layer that maps which come out are of.

        A fully connected layer takes every element of a map in front as a map of its own.
        """
        if self.design.before:
            return outputs
        maps = maps_behind(self.shape, self.unpooled)
        return np.arange(self.shape.n).reshape(-1, maps)[:, outputs].reshape(-1)

    def _undone(self, small: Shape, outputs: Part, inputs: Part) -> tuple[Shape, State]:
        """Shape whose pooling a pass undoes, and its state."""
        maps = inputs if self.design.before else outputs
        undone = small if self.design.before else self.unpooled
        return undone, chosen(self.state, maps)

    def _leaving(self, sums: Bits, state: State) -> Bits:
        """What leaves the last part's pass."""
        engine = self.design.engine
        deltas = finished(sums, engine.fmt, engine.summation)
        if self.design.before:
            return deltas
        size = len(sums), self.unpooled.pooled_rows, self.unpooled.pooled_columns, -1
        return unpool(deltas.reshape(size), state, self.unpooled, engine.fmt)
