"""Both backward phases of a group as one pass, which is not split into parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, PassPlace, Tiles
from merp.cosim.machines.cnn_merp.phases.backward import (
    PORTS,
    backward_run,
    backward_top,
    expect_backward,
)
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.phases.audit.run_and_audit import given
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient
from merp.models.golden.state import packed
from merp.models.golden.stored import Stored
from merp.models.golden.training import Updated, updated
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class BackwardTiles(Tiles):
    """One group of a layer. The rates determine which update hardware is built.

    Attributes:
        design: design of the pass, which the group fits.
        x: (images, rows, columns, n) words.
        stored: delta of the group's output.
        old: kernels (m, n, k, k) and biases (m,), and their velocities.
        rates: words of the factors.
        cut: a single part of the maps.
    """

    design: BackwardDesign
    x: Bits
    stored: Stored
    old: Updated
    rates: Rates
    cut: Cut

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs the pass, as a top."""
        return backward_top(self.design, array, self.rates.rule)

    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Return ``deltas`` (images, rows, columns, n), ``kernels`` (m, n, k, k), ``biases`` (m,).

        With momentum the result also has ``kernel_velocities`` and ``bias_velocities``, with the
        same sizes.
        """
        (row,) = rows
        return row

    def row(self, outputs: int) -> Made:
        """Run the pass. Its results are named as in ``joined``."""
        ran = given((yield self.alone(PassPlace(outputs, 0))))
        ports = {"deltas": "delta_out", "kernels": "kernel_out", "biases": "bias_out"}
        if self.rates.rule.momentum:
            ports["kernel_velocities"] = "kernel_velocity_out"
            ports["bias_velocities"] = "bias_velocity_out"
        sizes = {
            "deltas": self.x.shape,
            **dict.fromkeys(("kernels", "kernel_velocities"), self.old.parameters[0].shape),
            **dict.fromkeys(("biases", "bias_velocities"), self.old.parameters[1].shape),
        }
        return {
            name: widened_words(
                ran.record.array(PORTS[port], sizes[name]), "bp", port, self.design.update
            )
            for name, port in ports.items()
        }

    def alone(self, place: PassPlace) -> GroupPass:
        """Return the pass."""
        (shape, delta, state), update = self.stored, self.design.update
        fmt, summation = update.fmt, update.summation
        sums = unpool(delta, state, shape, fmt)
        half = self.design.propagation
        left = delta_convolution(sums, self.old.parameters[0], shape, fmt, half.summation)
        gradients = (
            kernel_gradient(self.x, sums, shape, fmt, summation),
            bias_gradient(sums, fmt),
        )
        new = updated(self.old, gradients, self.rates, fmt)
        momentum = self.rates.rule.momentum
        run = backward_run(
            shape,
            self.design,
            self.x,
            np.ascontiguousarray(delta),
            packed(state, shape, fmt),
            self.old.parameters,
            self.rates,
            self.old.velocities if momentum else None,
        )
        expected = expect_backward(
            shape,
            len(self.x),
            self.design,
            as_stored(left, "bp", "delta_out", update),
            self._leaving(new.parameters, "kernel_out"),
            self._leaving(new.velocities, "kernel_velocity_out") if momentum else None,
        )
        return GroupPass(run, expected)

    def _leaving(self, pair: Pair, port: str) -> Pair:
        """Return new kernels and biases, or their velocities, in the order of the output words."""
        kernels, biases = (as_stored(each, "bp", port, self.design.update) for each in pair)
        return kernels, biases
