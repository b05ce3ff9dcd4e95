"""Kernel update in passes: each gradient belongs to one of them, the biases to the first part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.passes.cut import Cut, Made, given, in_order
from merp.cosim.phases.cnn_merp.kernel_update import (
    PORTS,
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.phases.expectation import Pair, Pass
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import State, chosen, packed
from merp.models.golden.unpool import unpool
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.input_part import part_of
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.shape import Shape
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class UpdateTiles:
    """One group of a layer, without momentum.

    Attributes:
        shape: the whole of it. design: what every part runs on, and fits.
        x: (images, rows, columns, n) words. deltas: (images, rows, columns, m), of the sums, or
            with ``undone`` of the output. old: kernels (m, n, k, k) and biases (m,).
        rate: word of the learning rate.
        cut: parts of the m output maps, and of the n input maps.
        undone: un-pooling in front of the update. state: what it needs, of all m maps.
    """

    shape: Shape
    design: Design
    x: Bits
    deltas: Bits
    old: Pair
    rate: int
    cut: Cut
    undone: UnpoolDesign | None = None
    state: State | None = None

    def top(self, array: str = "rtl") -> Top:
        """The block that runs every pass."""
        return kernel_update_top(self.design, array, undone=self.undone)

    def passes(self) -> Made:
        """Gives ``kernels`` (m, n, k, k) and ``biases`` (m,), the new ones."""
        shape, images, fmt = self.shape, len(self.x), self.design.fmt
        kernels = np.zeros(self.old[0].shape, np.uint32)
        biases: list[Bits] = []
        for outputs in self.cut.outputs:
            deltas = sums = np.ascontiguousarray(self.deltas[..., outputs])
            state = None if self.state is None else chosen(self.state, outputs)
            if state is not None:
                sums = unpool(deltas, state, shape, fmt)
            for index, inputs in enumerate(self.cut.inputs):
                part = part_of(index, len(self.cut.inputs))
                small = replace(shape, n=len(inputs), m=len(outputs))
                x = np.ascontiguousarray(self.x[..., inputs])
                place = np.ix_(outputs, inputs)
                old = np.ascontiguousarray(self.old[0][place]), self.old[1][outputs]
                gradients = (
                    kernel_gradient(x, sums, small, fmt, self.design.summation),
                    bias_gradient(sums, fmt),
                )
                new = [
                    update(w, np.zeros_like(w), g, self.rate, 0, fmt)[0]
                    for w, g in zip(old, gradients, strict=True)
                ]
                run = kernel_update_run(
                    small,
                    self.design,
                    x,
                    deltas,
                    *old,
                    self.rate,
                    undone=self.undone,
                    state=packed(state, small, fmt) if state is not None else b"",
                    part=part,
                )
                expected = expect_update(
                    small,
                    images,
                    self.design,
                    new[0],
                    new[1],
                    before=self.undone is not None,
                    part=part,
                )
                record = given((yield Pass(run, expected))).record
                kernels[place] = record.array(PORTS["kernel_out"], old[0].shape)
                if part.biases:
                    biases.append(record.array(PORTS["bias_out"], old[1].shape))
        return {"kernels": kernels, "biases": in_order(self.cut.outputs, biases)}
