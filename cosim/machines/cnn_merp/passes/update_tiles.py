"""Kernel update in passes.

Each gradient belongs to one pass, the biases to the first input part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, Part, PassPlace, Tiles, in_order
from merp.cosim.machines.cnn_merp.phases.kernel_update import (
    PORTS,
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.phases.audit.run_and_audit import Audited, given
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.models.base.bits import Bits
from merp.models.base.input_part import part_of
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient
from merp.models.golden.state import State, chosen, packed
from merp.models.golden.training import Updated, updated
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class UpdateTiles(Tiles):
    """One group of a layer. The rates determine which update hardware is built.

    Attributes:
        shape: shape of the whole group.
        design: design of all passes, which every part fits.
        x: (images, rows, columns, n) words.
        deltas: (images, rows, columns, m) words of the sums, or with ``undone`` of the output.
        old: kernels (m, n, k, k) and biases (m,), and their velocities.
        rates: words of the factors.
        cut: parts of the m output maps and of the n input maps.
        undone: un-pooling in front of the update.
        state: ReLU/pooling mask of all m maps for this un-pooling.
    """

    shape: Shape
    design: EngineDesign
    x: Bits
    deltas: Bits
    old: Updated
    rates: Rates
    cut: Cut
    undone: UnpoolDesign | None = None
    state: State | None = None

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs every pass, as a top."""
        return kernel_update_top(self.design, array, self.rates.rule, self.undone)

    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Return the new ``kernels`` (m, n, k, k) and ``biases`` (m,).

        With momentum the result also has ``kernel_velocities`` and ``bias_velocities``, with the
        same sizes.
        """
        return {
            name: in_order(self.cut.outputs, [row[name] for row in rows], axis=0)
            for name in rows[0]
        }

    def row(self, outputs: int) -> Made:
        """Run the passes of one part of the output maps. Results are named as in ``joined``."""
        ports, ones = {"kernels": "kernel_out"}, {"biases": "bias_out"}
        if self.rates.rule.momentum:
            ports["kernel_velocities"] = "kernel_velocity_out"
            ones["bias_velocities"] = "bias_velocity_out"
        maps, (_, _, *taps) = len(self.cut.outputs[outputs]), self.old.parameters[0].shape
        parts: dict[str, list[Bits]] = {name: [] for name in ports}
        found: dict[str, Bits] = {}
        for place, inputs in enumerate(self.cut.inputs):
            ran = given((yield self.alone(PassPlace(outputs, place))))
            for name, port in ports.items():
                parts[name].append(self._written(ran, port, (maps, len(inputs), *taps)))
            if place == 0:
                found = {name: self._written(ran, port, (maps,)) for name, port in ones.items()}
        return {
            name: in_order(self.cut.inputs, each, axis=1) for name, each in parts.items()
        } | found

    def _stored(self, pair: Pair, port: str) -> Pair:
        """Return new kernels and biases, or their velocities, in the order of the output words."""
        kernels, biases = (as_stored(each, "ku", port, self.design) for each in pair)
        return kernels, biases

    def _written(self, ran: Audited, port: str, size: tuple[int, ...]) -> Bits:
        words = ran.record.array(PORTS[port], size)
        return widened_words(words, "ku", port, self.design)

    def alone(self, place: PassPlace) -> GroupPass:
        """Return one pass. No other pass contributes to its gradients."""
        shape, images, fmt = self.shape, len(self.x), self.design.fmt
        outputs, inputs = self.cut.outputs[place.outputs], self.cut.inputs[place.inputs]
        part = part_of(place.inputs, len(self.cut.inputs))
        deltas = sums = np.ascontiguousarray(self.deltas[..., outputs])
        state = None if self.state is None else chosen(self.state, outputs)
        if state is not None:
            sums = unpool(deltas, state, shape, fmt)
        small = replace(shape, n=len(inputs), m=len(outputs))
        x = np.ascontiguousarray(self.x[..., inputs])
        old = Updated(*(_of_part(pair, outputs, inputs) for pair in self.old))
        gradients = (
            kernel_gradient(x, sums, small, fmt, self.design.summation),
            bias_gradient(sums, fmt),
        )
        new = updated(old, gradients, self.rates, fmt)
        momentum = self.rates.rule.momentum
        run = kernel_update_run(
            small,
            self.design,
            x,
            deltas,
            old.parameters,
            self.rates,
            old.velocities if momentum else None,
            undone=self.undone,
            state=packed(state, small, fmt) if state is not None else b"",
            part=part,
        )
        expected = expect_update(
            small,
            images,
            self.design,
            *self._stored(new.parameters, "kernel_out"),
            self._stored(new.velocities, "kernel_velocity_out") if momentum else None,
            before=self.undone is not None,
            part=part,
        )
        return GroupPass(run, expected)


def _of_part(pair: Pair, outputs: Part, inputs: Part) -> Pair:
    """Return kernels or their velocities of a part, and biases of its output maps."""
    return np.ascontiguousarray(pair[0][np.ix_(outputs, inputs)]), pair[1][outputs]
