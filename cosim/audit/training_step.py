"""A training step in the hardware: forward propagation, delta propagation, kernel update.

Every word of every pass is compared with the golden step (``models.training``). What goes into a
pass is what the hardware made of the one before; what it leaves to a host is done here: gather and
scatter between the passes, the loss, and un-pooling and ReLU' of the last layer, which no delta
propagation stands behind. Un-pooling is behind the engine, so that a layer's delta propagation
reads the state of the layer in front, as forward propagation wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from merp.cosim.audit.audit import Audit, combine
from merp.cosim.audit.run_and_audit import run_and_audit
from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.delta import PORTS as DELTA_PORTS
from merp.cosim.phases.cnn_merp.delta import Delta, delta_pass
from merp.cosim.phases.cnn_merp.forward import Forward, forward_pass
from merp.cosim.phases.cnn_merp.kernel_update import PORTS as UPDATE_PORTS
from merp.cosim.phases.cnn_merp.kernel_update import (
    VELOCITY_PORTS,
    KernelUpdate,
    Updated,
    update_pass,
)
from merp.cosim.phases.expectation import Pair, Pass
from merp.cosim.phases.phase import Phase
from merp.models.errors import CheckFailed
from merp.models.golden.inference import as_input
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Kept, Model, Rates, Step, train_step
from merp.models.golden.unpool import unpool
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.sizing import check_fits


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

    Attributes:
        seconds: of all steps so far: ``building`` the hardware, ``simulating`` it.

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
        self.seconds = {"building": 0.0, "simulating": 0.0}

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
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: a pass stood still.
        """
        fmt = self._network.fmt
        golden = train_step(self._network, model, images, labels, rates, loss_kind, "pooled")
        self._audits = {phase: [] for phase in PHASES}
        kept, maps = [], images
        for like, wanted in zip(golden.kept, _outputs(golden), strict=True):
            name = like.layer.name
            x = as_input(maps, like.layer)
            here, maps = self._forward(like, x, model.parameters[name], wanted)
            kept.append(here)
        value, delta = loss(loss_kind, maps, labels, fmt)
        last = kept[-1]
        sums = unpool(delta.reshape(maps.shape), last.state, last.layer.shape, fmt)
        parameters, velocities = {}, {}
        for here, earlier in zip(reversed(kept), [*kept[-2::-1], None], strict=True):
            name = here.layer.name
            old = Updated(model.parameters[name], model.velocities[name])
            new = Updated(golden.model.parameters[name], golden.model.velocities[name])
            parameters[name], velocities[name] = self._update(here, sums, old, rates, new)
            if earlier is not None:
                wanted = golden.passed[earlier.layer.name].sums
                sums = self._delta(here.layer, earlier, sums, old.parameters[0], wanted)
        counts = {phase: PhaseCounts.of(audits) for phase, audits in self._audits.items()}
        return Model(parameters=parameters, velocities=velocities), value, counts

    def _forward(self, like: Kept, x: Bits, made: Pair, wanted: Bits) -> tuple[Kept, Bits]:
        """Run a layer: its input with the state that the hardware wrote, and its output."""
        layer = like.layer
        phase = Forward.of(self._network, layer, state=True)
        passes = [
            forward_pass(layer, group, phase.design, x, made, wanted, like.state)
            for group in range(layer.groups)
        ]
        records = self._play(phase, layer, passes)
        state = phase.states(layer, len(x), records)
        return Kept(layer, x, state), phase.outputs(layer, len(x), records)

    def _delta(self, layer: Layer, earlier: Kept, sums: Bits, kernels: Bits, wanted: Bits) -> Bits:
        """Propagate the delta of a layer's sums to that of the sums of the layer in front."""
        phase = Delta.of(self._network, layer)
        passes = [
            delta_pass(
                layer, earlier.layer, group, phase.design, sums, earlier.state, kernels, wanted
            )
            for group in range(layer.groups)
        ]
        records = self._play(phase, layer, passes)
        size = *wanted.shape[:-1], -1
        deltas = [_words(record, DELTA_PORTS["delta_out"]).reshape(size) for record in records]
        return np.concatenate(deltas, axis=-1)

    def _update(
        self, here: Kept, sums: Bits, old: Updated, rates: Rates, wanted: Updated
    ) -> Updated:
        """Update a layer: kernels and biases, and their velocities."""
        layer = here.layer
        phase = KernelUpdate.of(self._network, layer, momentum=rates.momentum != 0)
        passes = [
            update_pass(layer, group, phase.design, here.x, sums, old, rates, wanted)
            for group in range(layer.groups)
        ]
        records = self._play(phase, layer, passes)

        def gathered(streams: Mapping[str, str], suffix: str, like: Pair) -> Pair:
            found = [
                np.concatenate([_words(record, streams[kind + suffix]) for record in records])
                for kind in ("kernel", "bias")
            ]
            return found[0].reshape(like[0].shape), found[1]

        parameters = gathered(UPDATE_PORTS, "_out", old.parameters)
        if rates.momentum == 0:
            return Updated(parameters, old.velocities)
        return Updated(parameters, gathered(VELOCITY_PORTS, "_velocity_out", old.velocities))

    def _play(self, phase: Phase, layer: Layer, passes: Sequence[Pass]) -> list[Record]:
        """Run the groups of a layer and audit each."""
        audited = run_and_audit(phase.top(self._array), passes, self._engine)
        for group, found in enumerate(each.audit for each in audited):
            if not found.passed:
                more = f" (and {len(found.failures) - 1} more)" if len(found.failures) > 1 else ""
                where = f"{layer.name} {phase.name} group {group}"
                raise CheckFailed(f"{where}: {found.failures[0]}{more}")
            self._audits[phase.name].append(found)
            self.seconds["simulating"] += found.seconds
        self.seconds["building"] += audited[-1].record.build_seconds
        return [each.record for each in audited]


def _outputs(golden: Step) -> list[Bits]:
    """What each layer hands on: the input of the one behind it, not yet flattened."""
    behind = [kept.x for kept in golden.kept[1:]] + [golden.output]
    return [
        words.reshape(len(words), here.layer.shape.pooled_rows, here.layer.shape.pooled_columns, -1)
        for here, words in zip(golden.kept, behind, strict=True)
    ]


def _words(record: Record, stream: str) -> Bits:
    return record.words(stream).astype(np.uint32, copy=False)
