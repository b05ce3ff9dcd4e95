"""A layer of a network, which can run in the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.library.request import RunKeywords
from merp.models.base.errors import BadInput, shown
from merp.models.base.shape import Shape
from merp.models.network import network as description
from merp.models.network.branches import all_expand
from merp.models.network.phases import going_back_for, has_phase, known_phases, lacks, phases_on
from merp.models.network.registry import machine_of
from merp.tools.common.checks import input_words, whole_number, words
from merp.tools.common.request import asks
from merp.tools.simulate.picked import MOST_IMAGES, array_of, check_wave_of, first_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from merp.cosim.phases.audit.run_and_audit import Audited
    from merp.cosim.phases.expectation import GroupPass
    from merp.cosim.phases.phase import HardwarePhase
    from merp.models.base.bits import Bits
    from merp.models.golden.golden_step import GoldenStep
    from merp.tools.simulate.layer_run import LayerRun

NAMES = {
    "map_out": "y",
    "state_out": "state",
    "delta_out": "delta",
    "kernel_out": "kernels",
    "bias_out": "biases",
}
"""Name of the output words of each port in the report."""


class Layer:
    """One super layer: convolution (or full connection), ReLU, pooling."""

    def __init__(self, network: description.Network, layer: description.Layer) -> None:
        self._network = network
        self._layer = layer

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same layer of an equal network."""
        if not isinstance(other, Layer):
            return NotImplemented
        return (self._network, self._layer) == (other._network, other._layer)

    def __hash__(self) -> int:
        """Hash the names: equal layers have equal names."""
        return hash((self._network.name, self.name))

    @property
    def name(self) -> str:
        """The name in the network file."""
        return self._layer.name

    @property
    def groups(self) -> int:
        """The number of independent passes of ``shape``."""
        return self._layer.groups

    @property
    def shape(self) -> Shape:
        """Sizes of one group, in elements: ``n`` input maps, ``m`` output maps, kernel ``k``."""
        return self._layer.shape

    def __repr__(self) -> str:
        """Return name and sizes."""
        shape = self.shape
        return (
            f"<{self._network.name} {self.name}: {self.groups} x ({shape.n} maps of {shape.rows} x "
            f"{shape.columns} -> {shape.m}, k {shape.k}), design {self._layer.design or 'none'}>"
        )

    @asks(RunKeywords)
    def run(self, asked: RunKeywords) -> LayerRun:
        """Run one phase in the hardware, and compare every word with the golden model.

        Floating-point numbers are rounded to the network's format. Integers must be exact in this
        format. ``uint32`` arrays are words of the format (IEEE 754 encodings) and are used
        unchanged.

        Raises:
            BadInput: an argument is not allowed, the layer has no design or no such phase, or the
                engine's simulator is not installed.
            Stuck: no word moved for too long.
        """
        from merp.cosim.machines.loader import phase_of  # imports simulators only if needed
        from merp.models.golden.training import rates_of
        from merp.tools.simulate.first_rows import step_of
        from merp.tools.simulate.waves import Waves

        layer, phase, x = self._layer, asked.phase, asked.x
        network = going_back_for(replace(self._network, layer_fusion=()), phase)
        array = array_of(asked.engine, asked.cu_array)
        check_wave_of(asked.wave_of, wave=asked.wave is not None)
        groups = self._groups(asked.group)
        before = self._before(phase, asked.delta_at, alone=x is not None)
        writes = [each.name for each in phases_on(network, layer).values() if each.part_of == phase]
        if asked.state and writes:
            raise BadInput(f"state: {network.name}: phase {writes[0]} writes it: omit it")
        if asked.state and known_phases()[phase].backward:
            raise BadInput(f"state: phase {phase} writes none: allowed with fp")
        for name, given in (("delta", asked.delta), ("add", asked.add)):
            if x is None and given is not None:
                raise BadInput(f"{name}: without x, the network gives it: allowed with x")
        if not has_phase(network, layer, phase):
            raise BadInput(f"phase {phase}: {lacks(network, layer, phase)}")
        made = self._parameters(asked.kernels, asked.biases, asked.seed)
        shape, fmt = layer.shape, network.fmt
        size = None, shape.rows, shape.columns, self.groups * shape.n
        maps = None if x is None else input_words("x", x, size, network.at(layer))
        count = self._images(maps, asked.images)
        design = network.design(layer)
        machine_of(design).check_run(layer.shape, count, design, f"{network.name}: {layer.name}")
        try:
            rates_of(asked.learning_rate, count, fmt)
        except ValueError as error:
            raise BadInput(f"learning_rate = {shown(asked.learning_rate)}: {error}") from error
        step = (
            self._in_network(asked, count, made, pooled=before)
            if maps is None
            else self._alone(asked, maps, made, pooled=before)
        )
        if asked.rows is not None:
            shorter = first_rows(layer, asked.rows)
            step, layer = step_of(network, layer, shorter, step), shorter
        built = phase_of(network, layer, phase, state=asked.state, before=before)
        passes = [built.golden_pass(layer, each, step) for each in groups]
        top = built.top(array)
        with ExitStack() as held:
            from merp.cosim.phases.audit.run_and_audit import run_and_audit

            waves = None
            if asked.wave is not None:
                place = Path(asked.wave)
                waves = held.enter_context(Waves.to(place, asked.wave_of, asked.engine))
                held.enter_context(waves.kept(top.ports))
            audited = run_and_audit(top, passes, asked.engine, waves.wave if waves else None)
        return self._result(layer, built, asked.engine, step.x(layer), passes, audited)

    def _groups(self, group: int | None) -> Sequence[int]:
        if group is None:
            return range(self.groups)
        return (whole_number("group", group, 0, self.groups - 1),)

    def _before(self, phase: str, asked: str | None, *, alone: bool) -> bool:
        does = known_phases()[phase]
        apart = does.backward and not all_expand(self._network)
        needs = does.combined or apart or (alone and does.propagates)
        own = "pooled" if needs else "sums"
        at = asked or own
        if at == "pooled" and does.forward:
            raise BadInput("delta_at = 'pooled': phase fp takes no deltas: allowed with dp, bp, ku")
        if at == "sums" and does.combined:
            raise BadInput("delta_at = 'sums': phase bp takes pooled ones: allowed: pooled")
        if at == "sums" and apart:
            raise BadInput(
                f"delta_at = 'sums': {self._network.name} has a concatenation of layers with "
                "different ReLU or pooling: allowed: pooled"
            )
        if at == "sums" and own == "pooled":
            raise BadInput(
                "delta_at = 'sums': this needs the pooling of the layer in front, which x does "
                "not contain: allowed: pooled, or no x"
            )
        return at == "pooled"

    def _images(self, x: Bits | None, asked: int | None) -> int:
        if x is None:
            return whole_number("images", 1 if asked is None else asked, 1, MOST_IMAGES)
        if asked is not None:
            raise BadInput("images: x has its own number of images: allowed without x")
        return whole_number("x: images", len(x), 1, MOST_IMAGES)

    def _parameters(
        self, kernels: ArrayLike | None, biases: ArrayLike | None, seed: int
    ) -> tuple[Bits, Bits]:
        from merp.models.golden.initial import layer_parameters

        layer, fmt = self._layer, self._network.fmt
        shape = layer.shape
        size = layer.biases, shape.n, shape.k, shape.k
        own_kernels, own_biases = layer_parameters(layer, seed, fmt)
        return (
            own_kernels if kernels is None else words("kernels", kernels, size, fmt),
            own_biases if biases is None else words("biases", biases, size[:1], fmt),
        )

    def _in_network(
        self, asked: RunKeywords, images: int, made: tuple[Bits, Bits], *, pooled: bool
    ) -> GoldenStep:
        from merp.models.golden.golden_step import GoldenStep
        from merp.models.golden.initial import parameters
        from merp.tools.common.input_maps import input_maps

        network, layer = self._network, self._layer
        everything = parameters(network, asked.seed, {layer.name: made})
        image = input_maps(network, images)
        rate = asked.learning_rate
        return GoldenStep(network, (layer,), image, everything, rate, pooled=pooled)

    def _added(self, add: ArrayLike | None, phase: str, x: Bits) -> Bits | None:
        layer, shape = self._layer, self._layer.shape
        if (add is not None) != (known_phases()[phase].forward and layer.add is not None):
            what = f"adds {layer.add} to its sums" if layer.add else "adds nothing to its sums"
            raise BadInput(
                f"add: {layer.name} {what}, phase {phase} of an x: allowed with fp of a layer that "
                "adds, and required there"
            )
        if add is None:
            return None
        size = len(x), shape.out_rows, shape.out_columns, layer.biases
        return words("add", add, size, self._network.fmt)

    def _alone(
        self, asked: RunKeywords, x: Bits, made: tuple[Bits, Bits], *, pooled: bool
    ) -> GoldenStep:
        from merp.models.golden.layer_step import LayerStep

        layer, shape = self._layer, self._layer.shape
        phase, delta, found = asked.phase, asked.delta, None
        add = self._added(asked.add, phase, x)
        if known_phases()[phase].forward:
            if delta is not None:
                raise BadInput("delta: phase fp takes none: allowed with dp, bp, ku")
        elif delta is None:
            raise BadInput(f"delta: phase {phase} of an x needs the delta of the layer's output")
        else:
            size = len(x), shape.pooled_rows, shape.pooled_columns, layer.biases
            found = words("delta", delta, size, self._network.fmt)
        return LayerStep(
            self._network, layer, x, made, found, asked.learning_rate, add, pooled=pooled
        )

    def _result(
        self,
        layer: description.Layer,
        phase: HardwarePhase,
        engine: str,
        x: Bits,
        passes: Sequence[GroupPass],
        audited: Sequence[Audited],
    ) -> LayerRun:
        import numpy as np

        from merp.cosim.phases.audit.audit import combine
        from merp.cosim.phases.phase import OwnResults
        from merp.models.arithmetic.stored import widened
        from merp.tools.simulate.layer_run import LayerRun

        made: dict[str, Any] = {}
        records = [each.record for each in audited]
        if isinstance(phase, OwnResults):
            made = phase.results(layer, len(x), records)
        else:
            for port, about in passes[0].expected.ports.items():
                if about.golden is None:
                    continue
                parts = [each.array(about.stream, about.golden.shape) for each in records]
                joined = np.concatenate(parts, axis=-1 if about.maps else 0)
                made[NAMES[port]] = widened(joined, about.stored, self._network.fmt)
        if "state" in made:
            made["state"] = made["state"].astype(np.uint8)
        return LayerRun(
            layer=layer,
            phase=phase.name,
            engine=engine,
            fmt=self._network.fmt,
            x=x,
            words=made,
            records=tuple(records),
            audit=combine([each.audit for each in audited]),
        )
