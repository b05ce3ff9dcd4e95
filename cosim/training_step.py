"""A training step in the hardware: forward propagation, delta propagation, kernel update.

As ``models.training.train_step`` means it, bit for bit. What the hardware leaves to a host is done
here: gather and scatter between the passes, the loss, and un-pooling and ReLU' of the last layer,
which no delta propagation stands behind. Un-pooling stands behind the engine, so that a layer's
delta propagation reads the state of the layer in front, as forward propagation wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.audit import Audit, audit, combine
from merp.cosim.engine import run_job
from merp.cosim.expectation import Expectation, expect_delta, expect_forward, expect_update
from merp.cosim.job import Job
from merp.cosim.record import Record
from merp.models.compiled import Bits
from merp.models.inference import as_input, group_maps, group_parameters
from merp.models.loss import Labels, loss
from merp.models.network import Layer, Network
from merp.models.params.sizing import check_fits
from merp.models.phases import delta_design, maps_behind, update_design
from merp.models.state import joined, of_maps, packed, unpacked
from merp.models.training import Kept, Model, Rates
from merp.models.unpool import unpool
from merp.testbenches import delta_run, forward_run, kernel_update_run
from merp.testbenches.run import Run
from merp.testbenches.top import Top

Made = tuple[Bits, Bits]  # kernels and biases of a layer, or their velocities


class CheckFailed(Exception):
    """A pass broke a rule of its ports, or its counts differ; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class PhaseCounts:
    """What one phase of a step moved and took, all its passes together.

    Attributes:
        maps: bytes of maps and deltas, as footing ``paper`` counts them.
        bytes: of every port but the velocities'. velocities: of those, read and written.
        cycles: first accepted map word to last output word. kernel_load: before that.
    """

    maps: int
    bytes: int
    velocities: int
    cycles: int
    kernel_load: int

    @classmethod
    def of(cls, passes: Audit) -> PhaseCounts:
        """Counts of audited passes, bytes as monitors saw them on the pins."""
        moved = {
            port: ways["monitor"] * passes.word_bytes[port] for port, ways in passes.ports.items()
        }
        velocities = sum(moved.get(port, 0) for port in kernel_update_run.VELOCITY_PORTS)
        return cls(
            maps=sum(moved[port] for port in passes.maps),
            bytes=sum(moved.values()) - velocities,
            velocities=velocities,
            cycles=passes.cycles["total"],
            kernel_load=passes.cycles["kernel_load"],
        )


class HardwareStep:
    """Training steps of a network on an engine; each layer of each phase is a job of its own.

    Attributes:
        network: every layer of it has a design.
        engine: one of ``cosim.engine.ENGINES``.

    Raises:
        BadInput: a layer has no design, or its design does not take so many images.
    """

    def __init__(self, network: Network, engine: str, images: int) -> None:
        for layer in network.layers:
            where = f"{network.name}: layer {layer.name}"
            check_fits(layer.shape, images, network.design(layer), where)
        self.network = network
        self.engine = engine
        self._array = "behavioural" if engine == "myhdl" else "rtl"
        self._audits: dict[str, list[Audit]] = {}

    def step(
        self,
        model: Model,
        images: Bits,
        labels: Labels,
        rates: Rates,
        loss_kind: str = "cross-entropy",
    ) -> tuple[Model, float, Mapping[str, PhaseCounts]]:
        """Run one step on a batch: the next model, the mean loss before it, and counts by phase.

        Momentum is built if the rates have any; without it the velocities stay as they are.

        Args:
            model: parameters and velocities; it is not changed.
            images: (images, rows, columns, channels) words.
            labels: (images,) classes.
            rates: words of learning rate and momentum.
            loss_kind: one of ``models.loss.LOSSES``.

        Raises:
            CheckFailed: a check of a pass did not hold.
            Stuck: a pass stood still.
        """
        fmt = self.network.fmt
        self._audits = {"fp": [], "dp": [], "ku": []}
        kept, output = self._forward(images, model)
        value, delta = loss(loss_kind, output, labels, fmt)
        last = kept[-1]
        sums = unpool(delta.reshape(output.shape), last.state, last.layer.shape, fmt)
        parameters, velocities = {}, {}
        for index in reversed(range(len(kept))):
            here, name = kept[index], kept[index].layer.name
            parameters[name], velocities[name] = self._update(here, sums, model, rates)
            if index:  # with the kernels from before the update
                sums = self._delta(here.layer, kept[index - 1], sums, model.parameters[name])
        counts = {
            phase: PhaseCounts.of(combine(audits)) for phase, audits in self._audits.items() if audits
        }
        return Model(parameters=parameters, velocities=velocities), value, counts

    def _forward(self, images: Bits, model: Model) -> tuple[list[Kept], Bits]:
        """Run all layers; their inputs, the states that the hardware wrote, the last output."""
        kept, maps = [], images
        for layer in self.network.layers:
            shape, x = layer.shape, as_input(maps, layer)
            design = replace(self.network.design(layer), state=True)
            runs = []
            for group in range(layer.groups):
                made = group_parameters(layer, group, *model.parameters[layer.name])
                runs.append(forward_run.forward_run(shape, design, group_maps(x, layer, group), *made))
            records = self._play("fp", layer, forward_run.forward_top(design, self._array), runs)
