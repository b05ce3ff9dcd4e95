"""Kernel update in passes: each gradient belongs to one of them, the biases to the first part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.passes.cut import Cut, Made, Place, given, in_order
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
        rows = []
        for outputs in range(len(self.cut.outputs)):
            rows.append((yield from self.row(outputs)))
        return {
            name: in_order(self.cut.outputs, [row[name] for row in rows], axis=0)
            for name in ("kernels", "biases")
        }

    def row(self, outputs: int) -> Made:
        """As ``passes``, of one part of the output maps."""
        kernels: list[Bits] = []
        for inputs in range(len(self.cut.inputs)):
            each = self.alone(Place(outputs, inputs))
            record = given((yield each)).record
            wanted = each.expected.ports["kernel_out"].golden
            assert wanted is not None
            kernels.append(record.array(PORTS["kernel_out"], wanted.shape))
            if inputs == 0:
                size = (len(self.cut.outputs[outputs]),)
                biases = record.array(PORTS["bias_out"], size)
        return {"kernels": in_order(self.cut.inputs, kernels, axis=1), "biases": biases}

    def alone(self, place: Place) -> Pass:
        """One pass; no other has a share in its gradients."""
        shape, images, fmt = self.shape, len(self.x), self.design.fmt
        outputs, inputs = self.cut.outputs[place.outputs], self.cut.inputs[place.inputs]
        part = part_of(place.inputs, len(self.cut.inputs))
        deltas = sums = np.ascontiguousarray(self.deltas[..., outputs])
        state = None if self.state is None else chosen(self.state, outputs)
        if state is not None:
            sums = unpool(deltas, state, shape, fmt)
        small = replace(shape, n=len(inputs), m=len(outputs))
        x = np.ascontiguousarray(self.x[..., inputs])
        old = np.ascontiguousarray(self.old[0][np.ix_(outputs, inputs)]), self.old[1][outputs]
        gradients = (
            kernel_gradient(x, sums, small, fmt, self.design.summation),
            bias_gradient(sums, fmt),
        )
        new = tuple(
            update(w, np.zeros_like(w), g, self.rate, 0, fmt)[0]
            for w, g in zip(old, gradients, strict=True)
        )
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
            small, images, self.design, new[0], new[1], before=self.undone is not None, part=part
        )
        return Pass(run, expected)
