"""A training step in the hardware: forward propagation, delta propagation, kernel update.

As ``models.training.train_step`` means it, bit for bit. What the hardware leaves to a host is done
here: gather and scatter between the passes, the loss, and un-pooling and ReLU' of the last layer,
which no delta propagation stands behind. Un-pooling is behind the engine, so that a layer's delta
propagation reads the state of the layer in front, as forward propagation wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from merp.testbenches.delta_run import PORTS as DELTA_PORTS
from merp.testbenches.delta_run import delta_run, delta_top
from merp.testbenches.forward_run import STATE_PORTS, forward_run, forward_top
from merp.testbenches.kernel_update_run import PORTS as UPDATE_PORTS
from merp.testbenches.kernel_update_run import VELOCITY_PORTS, kernel_update_run, kernel_update_top
from merp.testbenches.run import Run
from merp.testbenches.top import Top

Pair = tuple[Bits, Bits]  # of a layer: of its kernels, of its biases
Expect = Callable[[Record], Expectation]


class CheckFailed(Exception):
    """A pass broke a rule of its ports, or its counts differ; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class PhaseCounts:
    """What one phase of a step moved and took, all its passes together.

    Attributes:
        maps: bytes of maps and deltas, which is what footing ``paper`` counts.
        bytes: of every port but the velocities'. velocities: of those, read and written.
        cycles: from the first accepted map word of a pass to its last output word.
        kernel_load: cycles before that.
    """

    maps: int = 0
    bytes: int = 0
    velocities: int = 0
    cycles: int = 0
    kernel_load: int = 0

    @classmethod
    def of(cls, audits: Sequence[Audit]) -> PhaseCounts:
        """Counts of audited passes, bytes as the monitors saw them on the pins."""
        if not audits:  # delta propagation of a single layer
            return cls()
        passes = combine(audits)
        moved = {
            port: ways["monitor"] * passes.word_bytes[port] for port, ways in passes.ports.items()
        }
        velocities = sum(moved.get(port, 0) for port in VELOCITY_PORTS)
        return cls(
            maps=sum(moved[port] for port in passes.maps),
            bytes=sum(moved.values()) - velocities,
            velocities=velocities,
            cycles=passes.cycles["total"],
            kernel_load=passes.cycles["kernel_load"],
        )


class HardwareStep:
    """Training steps of a network on an engine; each layer of each phase is a job of its own.

    Args:
        network: every layer of it has a design.
        engine: one of ``cosim.engine.ENGINES``.
        images: of a step.

    Raises:
        BadInput: a layer has no design, or its design does not take so many images.
    """

    def __init__(self, network: Network, engine: str, images: int) -> None:
        for layer in network.layers:
            where = f"{network.name}: layer {layer.name}"
            check_fits(layer.shape, images, network.design(layer), where)
        self._network = network
        self._engine = engine
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
        fmt = self._network.fmt
        self._audits = {"fp": [], "dp": [], "ku": []}
        kept, maps = [], images
        for layer in self._network.layers:
            here, maps = self._forward(layer, as_input(maps, layer), model.parameters[layer.name])
            kept.append(here)
        value, delta = loss(loss_kind, maps, labels, fmt)
        last = kept[-1]
        sums = unpool(delta.reshape(maps.shape), last.state, last.layer.shape, fmt)
        parameters, velocities = {}, {}
        for index in reversed(range(len(kept))):
            here = kept[index]
            name = here.layer.name
            old, moved = model.parameters[name], model.velocities[name]
            parameters[name], velocities[name] = self._update(here, sums, old, moved, rates)
            if index:
                sums = self._delta(here.layer, kept[index - 1], sums, old)
        counts = {phase: PhaseCounts.of(audits) for phase, audits in self._audits.items()}
        return Model(parameters=parameters, velocities=velocities), value, counts

    def _forward(self, layer: Layer, x: Bits, made: Pair) -> tuple[Kept, Bits]:
        """Run a layer: its input with the state that the hardware wrote, and its output."""
        shape = layer.shape
        design = replace(self._network.design(layer), state=True)
        runs = [
            forward_run(
                shape, design, group_maps(x, layer, group), *group_parameters(layer, group, *made)
            )
            for group in range(layer.groups)
        ]

        def expected(record: Record) -> Expectation:
            found = _words(record, STATE_PORTS["map_out"])
            return expect_forward(shape, len(x), design, found, _state_of(record))

        records = self._play("fp", layer, forward_top(design, self._array), runs, expected)
        states = [unpacked(_state_of(record), shape, shape.m, len(x)) for record in records]
        size = len(x), shape.pooled_rows, shape.pooled_columns, shape.m
        outputs = [_words(record, STATE_PORTS["map_out"]).reshape(size) for record in records]
        return Kept(layer, x, joined(states)), np.concatenate(outputs, axis=-1)

    def _delta(self, layer: Layer, earlier: Kept, sums: Bits, made: Pair) -> Bits:
        """Propagate the delta of a layer's sums to that of the sums of the layer in front."""
        shape, undone, state = layer.shape, earlier.layer.shape, earlier.state
        design = delta_design(self._network, layer)
        maps = maps_behind(shape, undone)
        runs = [
            delta_run(
                shape,
                undone,
                design,
                sums[..., group * shape.m : (group + 1) * shape.m],
                group_parameters(layer, group, *made)[0],
                packed(of_maps(state, group * maps, (group + 1) * maps), undone, design.engine.fmt),
            )
            for group in range(layer.groups)
        ]

        def expected(record: Record) -> Expectation:
            found = _words(record, DELTA_PORTS["delta_out"])
            return expect_delta(shape, undone, len(sums), design, found)

        records = self._play("dp", layer, delta_top(design, self._array), runs, expected)
        size = len(sums), undone.out_rows, undone.out_columns, maps
        deltas = [_words(record, DELTA_PORTS["delta_out"]).reshape(size) for record in records]
        return np.concatenate(deltas, axis=-1)

    def _update(
        self, here: Kept, sums: Bits, old: Pair, moved: Pair, rates: Rates
    ) -> tuple[Pair, Pair]:
        """Update a layer: kernels and biases, and their velocities."""
        layer, shape = here.layer, here.layer.shape
        design = update_design(self._network, layer)
        momentum = rates.momentum or None
        runs = [
            kernel_update_run(
                shape,
                design,
                group_maps(here.x, layer, group),
                sums[..., group * shape.m : (group + 1) * shape.m],
                *group_parameters(layer, group, *old),
                rates.rate,
                group_parameters(layer, group, *moved) if momentum else None,
                momentum,
            )
            for group in range(layer.groups)
        ]

        def expected(record: Record) -> Expectation:
            kernels, biases = (
                _words(record, UPDATE_PORTS[port]) for port in ("kernel_out", "bias_out")
            )
            expectation = expect_update(shape, len(sums), design, kernels, biases)
            return _with_velocities(expectation) if momentum else expectation

        top = kernel_update_top(design, self._array, momentum is not None)
        records = self._play("ku", layer, top, runs, expected)

        def gathered(stream: str, like: Bits) -> Bits:
            return np.concatenate([_words(record, stream) for record in records]).reshape(
                like.shape
            )

        new = (
            gathered(UPDATE_PORTS["kernel_out"], old[0]),
            gathered(UPDATE_PORTS["bias_out"], old[1]),
        )
        if momentum is None:
            return new, moved
        return new, (
            gathered(VELOCITY_PORTS["kernel_velocity_out"], moved[0]),
            gathered(VELOCITY_PORTS["bias_velocity_out"], moved[1]),
        )

    def _play(
        self, phase: str, layer: Layer, top: Top, runs: Sequence[Run], expected: Expect
    ) -> list[Record]:
        """Run the groups of a layer and audit each.

        What is expected of a record has its own words as the golden ones: no second computation
        runs beside the hardware, so everything is audited but the bits.
        """
        records = run_job(Job(top, runs), self._engine)
        for group, record in enumerate(records):
            found = audit(record, expected(record))
            if not found.passed:
                more = f" (and {len(found.failures) - 1} more)" if len(found.failures) > 1 else ""
                where = f"{layer.name} {phase} group {group}"
                raise CheckFailed(f"{where}: {found.failures[0]}{more}")
            self._audits[phase].append(found)
        return records


def _words(record: Record, stream: str) -> Bits:
    return record.words[stream].astype(np.uint32, copy=False)


def _state_of(record: Record) -> bytes:
    """The state that a pass of forward propagation wrote."""
    return _words(record, STATE_PORTS["state_out"]).astype(np.uint8).tobytes()


def _with_velocities(expectation: Expectation) -> Expectation:
    """Add the ports of the velocities: as many words as kernels and biases have."""
    ports = dict(expectation.ports)
    for name, stream in VELOCITY_PORTS.items():
        like = ports["kernel" if name.startswith("kernel") else "bias"]
        ports[name] = replace(like, stream=stream)
    return replace(expectation, ports=ports)
