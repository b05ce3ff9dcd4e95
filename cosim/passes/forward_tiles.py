"""Forward propagation in passes: sums go out of one part of the input maps and into the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.passes.cut import Cut, Made, given, in_order
from merp.cosim.phases.cnn_merp.forward import (
    PARTIAL_PORTS,
    PORTS,
    STATE_PORTS,
    expect_forward,
    forward_run,
    forward_top,
)
from merp.cosim.phases.expectation import Pass
from merp.models.arithmetic.relu import relu
from merp.models.golden.convolution import finished, from_biases, partial_sums
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.input_part import part_of
from merp.models.params.shape import Shape
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class ForwardTiles:
    """One group of a layer.

    Attributes:
        shape: the whole of it. design: what every part runs on, and fits.
        x: (images, rows, columns, n) words. kernels: (m, n, k, k). bias: (m,).
        cut: parts of its m output maps, and of its n input maps.
    """

    shape: Shape
    design: Design
    x: Bits
    kernels: Bits
    bias: Bits
    cut: Cut

    def top(self, array: str = "rtl") -> Top:
        """The block that runs every pass."""
        return forward_top(self.design, array)

    def passes(self) -> Made:
        """Gives ``maps`` (images, pooled rows, pooled columns, m), and of a design that writes it
        ``state``: the bytes of each part of the output maps, one after the other.
        """
        shape, design, images = self.shape, self.design, len(self.x)
        fmt, summation = design.fmt, design.summation
        full = images, shape.out_rows, shape.out_columns
        pooled = images, shape.pooled_rows, shape.pooled_columns
        maps: list[Bits] = []
        states: list[Bits] = []
        for outputs in self.cut.outputs:
            start = self.bias[outputs]
            golden = from_biases(start, fmt, summation)
            for index, inputs in enumerate(self.cut.inputs):
                part = part_of(index, len(self.cut.inputs))
                small = replace(shape, n=len(inputs), m=len(outputs))
                x = np.ascontiguousarray(self.x[..., inputs])
                kernels = np.ascontiguousarray(self.kernels[np.ix_(outputs, inputs)])
                golden = partial_sums(x, kernels, golden, shape.stride, shape.pad, fmt, summation)
                wanted, state = golden, b""
                if part.last:
                    activation = finished(golden, fmt, summation)
                    activation = relu(activation, fmt) if shape.relu else activation
                    wanted = pool_maps(activation, shape.pool, fmt)
                    state = packed(keep_state(activation, shape, "pooled", fmt), shape, fmt)
                record = given(
                    (
                        yield Pass(
                            forward_run(small, design, x, kernels, start, part=part),
                            expect_forward(
                                small, images, design, wanted, state if design.state else None, part
                            ),
                        )
                    )
                ).record
                if part.partial_out:
                    start = record.array(PARTIAL_PORTS["partial_out"], (*full, len(outputs)))
            maps.append(record.array(PORTS["map_out"], (*pooled, len(outputs))))
            if design.state:
                states.append(record.words(STATE_PORTS["state_out"]))
        arrays = {"maps": in_order(self.cut.outputs, maps)}
        return arrays | ({"state": np.concatenate(states)} if states else {})
