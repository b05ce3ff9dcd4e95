"""A layer of a network, to be run in the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import as_arguments
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network import network as description
from merp.models.network.phases import NAMED, ONE_PASS, PAIR, going_back_for, has_phase, lacks
from merp.tools.library.checks import (
    flag,
    input_words,
    one_of,
    positive,
    wave_place,
    whole_number,
    words,
)
from merp.tools.simulate.choose import ARRAYS, MOST_IMAGES, array_of, first_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from merp.cosim.phases.audit.run_and_audit import Audited
    from merp.cosim.phases.expectation import Pass
    from merp.models.base.bits import Bits
    from merp.models.golden.golden_step import GoldenStep
    from merp.tools.library.layer_run import LayerRun

ALONE = tuple(phase for phase in NAMED if phase != PAIR)
"""Phases of one layer."""

DELTAS = ("sums", "pooled")
NAMES = {
    "map_out": "y",
    "state_out": "state",
    "delta_out": "delta",
    "kernel_out": "kernels",
    "bias_out": "biases",
}
"""What leaves on each port of the report."""


class Layer:
    """One super layer: convolution (or full connection), ReLU, pooling."""

    def __init__(self, network: description.Network, layer: description.Layer) -> None:
        self._network = network
        self._layer = layer

    def __eq__(self, other: object) -> bool:
        """Whether it is the same layer of an equal network."""
        if not isinstance(other, Layer):
            return NotImplemented
        return (self._network, self._layer) == (other._network, other._layer)

    def __hash__(self) -> int:
        """By name: equal layers have equal names."""
        return hash((self._network.name, self.name))

    @property
    def name(self) -> str:
        """As in the network file."""
        return self._layer.name

    @property
    def groups(self) -> int:
        """The layer is so many independent passes of ``shape``."""
        return self._layer.groups

    @property
    def shape(self) -> Shape:
        """Sizes of one group, in elements: ``n`` input maps, ``m`` output maps, kernel ``k``."""
        return self._layer.shape

    def __repr__(self) -> str:
        """Name and sizes."""
        shape = self.shape
        return (
            f"<{self._network.name} {self.name}: {self.groups} x ({shape.n} maps of {shape.rows} x "
            f"{shape.columns} -> {shape.m}, k {shape.k}), design {self._layer.design or 'none'}>"
        )

    @as_arguments()
    def run(
        self,
        x: ArrayLike | None = None,
        *,
        phase: str = "fp",
        delta: ArrayLike | None = None,
        add: ArrayLike | None = None,
        kernels: ArrayLike | None = None,
        biases: ArrayLike | None = None,
        engine: str = "myhdl",
        cu_array: str | None = None,
        group: int | None = None,
        images: int | None = None,
        rows: int | None = None,
        state: bool = False,
        delta_at: str | None = None,
        learning_rate: float = 0.01,
        seed: int = 0,
        wave: str | PathLike[str] | None = None,
        wave_of: str | None = None,
    ) -> LayerRun:
        """Run one phase in the hardware, and compare every word with the golden model.

        Floating-point numbers are rounded into the network's format, integers must be held by it,
        and ``uint32`` arrays are words of that format, taken as they are (IEEE 754 encodings).

        Args:
            x: the layer's input, ``(images, rows, columns, groups*n)``. Without it, what the
                layers in front make of the photograph that is shipped.
            phase: ``fp``, ``dp`` or ``ku`` (CNN-MERP section III), or ``bp``: the latter two
                in one pass.
            delta: of the layer's output, ``(images, pooled rows, pooled columns, groups*m)``;
                all but ``fp`` of an ``x`` need it. Without ``x``, that of the network's loss.
            add: what is added to the layer's sums, ``(images, out rows, out columns, groups*m)``,
                of an ``x`` in ``fp``, where the layer adds another one's output.
            kernels: ``(groups*m, n, k, k)``; without them, initial ones.
            biases: ``(groups*m,)``; without them, initial ones.
            engine: ``myhdl``, ``verilator`` or ``ghdl``.
            cu_array: ``behavioural`` (quicker, the same bits in the same cycles; only ``myhdl``,
                its default) or ``rtl``.
            group: the one to run; without it, all.
            images: of the photograph, 1 to 256 (default 1).
            rows: ``fp`` of the first so many rows of the input maps, as if they had no more.
            state: ``fp`` also writes what the way back needs.
            delta_at: ``sums`` or ``pooled``: at which resolution deltas lie in memory. ``dp`` of an
                ``x`` undoes this layer's pooling (``pooled``), as ``bp`` always does, else the
                default is ``sums``.
            learning_rate: of the update, of the mean loss.
            seed: of initial kernels and biases.
            wave: a file, ``.vcd`` or ``.fst``, for a waveform; views of it are put beside it.
            wave_of: what it shows beside the ports: an instance with everything below it, as
                ``layer.windows``, or ``all``.

        Raises:
            BadInput: an argument is not what is allowed, the layer has no design or no such phase,
                or the engine's simulator is not installed.
            Stuck: no word moved for too long.
        """
        from merp.cosim.engines.engine import ENGINES
        from merp.cosim.machines.loader import phase_of  # simulators wait until they are needed
        from merp.models.golden.training import rates_of
        from merp.tools.simulate.first_rows import step_of
        from merp.tools.simulate.waves import Waves

        layer = self._layer
        alone = replace(self._network, fuse=())
        network = going_back_for(alone, one_of("phase", phase, ALONE))
        one_of("engine", engine, ENGINES)
        array = self._array(engine, cu_array)
        place = wave_place(wave, wave_of)
        groups = self._groups(group)
        before = self._before(phase, delta_at, alone=x is not None)
        if flag("state", state) and phase != "fp":
            raise BadInput(f"state: phase {phase} writes none: allowed with fp")
        seeded = whole_number("seed", seed, 0, (1 << 32) - 1)
        rate = positive("learning_rate", learning_rate)
        for name, given in (("delta", delta), ("add", add)):
            if x is None and given is not None:
                raise BadInput(f"{name}: without x it is the network's own: allowed with x")
        if not has_phase(network, layer, phase):
            raise BadInput(f"phase {phase}: {lacks(network, layer, phase)}")
        made = self._parameters(kernels, biases, seeded)
        shape, fmt = layer.shape, network.fmt
        size = None, shape.rows, shape.columns, self.groups * shape.n
        maps = None if x is None else input_words("x", x, size, network.at(layer))
        count = self._images(maps, images)
        check_fits(layer.shape, count, design_of(network, layer), f"{network.name}: {layer.name}")
        try:
            rates_of(rate, count, fmt)
        except ValueError as error:
            raise BadInput(f"learning_rate = {shown(learning_rate)}: {error}") from error
        step = (
            self._in_network(count, made, seeded, rate, before)
            if maps is None
            else self._alone(maps, delta, self._added(add, phase, maps), phase, made, rate, before)
        )
        if rows is not None:
            if phase != "fp":
                raise BadInput(f"rows: allowed with phase fp, not {phase}")
            shorter = first_rows(layer, whole_number("rows", rows, 1, layer.shape.rows))
            step, layer = step_of(network, layer, shorter, step), shorter
        built = phase_of(network, layer, phase, state=state, before=before)
        passes = [built.golden_pass(layer, each, step) for each in groups]
        top = built.top(array)
        with ExitStack() as held:
            from merp.cosim.phases.audit.run_and_audit import run_and_audit

            waves = None
            if place is not None:
                waves = held.enter_context(Waves.to(place, wave_of, engine))
                held.enter_context(waves.kept(top.ports))
            audited = run_and_audit(top, passes, engine, waves.wave if waves else None)
        return self._result(layer, phase, engine, step.x(layer), passes, audited)

    def _array(self, engine: str, asked: str | None) -> str:
        default = "behavioural" if engine == "myhdl" else "rtl"
        return array_of(engine, one_of("cu_array", asked or default, ARRAYS))

    def _groups(self, group: int | None) -> Sequence[int]:
        if group is None:
            return range(self.groups)
        return (whole_number("group", group, 0, self.groups - 1),)

    def _before(self, phase: str, asked: str | None, *, alone: bool) -> bool:
        own = "pooled" if phase == ONE_PASS or (alone and phase == "dp") else "sums"
        at = one_of("delta_at", asked or own, DELTAS)
        if at == "pooled" and phase == "fp":
            raise BadInput("delta_at = 'pooled': phase fp takes no deltas: allowed with dp, bp, ku")
        if at == "sums" and phase == ONE_PASS:
            raise BadInput("delta_at = 'sums': phase bp takes pooled ones: allowed: pooled")
        if at == "sums" and own == "pooled":
            raise BadInput(
                "delta_at = 'sums': undoes the pooling of the layer in front, which a layer's own "
                "x does not tell: allowed: pooled, or no x"
            )
        return at == "pooled"

    def _images(self, x: Bits | None, asked: int | None) -> int:
        if x is None:
            return whole_number("images", 1 if asked is None else asked, 1, MOST_IMAGES)
        if asked is not None:
            raise BadInput("images: x has as many as it has: allowed without x")
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
        self, images: int, made: tuple[Bits, Bits], seed: int, rate: float, pooled: bool
    ) -> GoldenStep:
        from merp.models.golden.golden_step import GoldenStep
        from merp.models.golden.initial import parameters
        from merp.tools.simulate.input_maps import input_maps

        network, layer = self._network, self._layer
        everything = parameters(network, seed, {layer.name: made})
        image = input_maps(network, images)
        return GoldenStep(network, (layer,), image, everything, rate, pooled=pooled)

    def _added(self, add: ArrayLike | None, phase: str, x: Bits) -> Bits | None:
        layer, shape = self._layer, self._layer.shape
        if (add is not None) != (phase == "fp" and layer.add is not None):
            what = f"adds {layer.add} to its sums" if layer.add else "adds nothing to its sums"
            raise BadInput(
                f"add: {layer.name} {what}, phase {phase} of an x: allowed with fp of a layer that "
                "adds, and asked for there"
            )
        if add is None:
            return None
        size = len(x), shape.out_rows, shape.out_columns, layer.biases
        return words("add", add, size, self._network.fmt)

    def _alone(
        self,
        x: Bits,
        delta: ArrayLike | None,
        add: Bits | None,
        phase: str,
        made: tuple[Bits, Bits],
        rate: float,
        pooled: bool,
    ) -> GoldenStep:
        from merp.models.golden.layer_step import LayerStep

        layer, shape = self._layer, self._layer.shape
        found = None
        if phase == "fp":
            if delta is not None:
                raise BadInput("delta: phase fp takes none: allowed with dp, bp, ku")
        elif delta is None:
            raise BadInput(f"delta: phase {phase} of an x needs that of the layer's output")
        else:
            size = len(x), shape.pooled_rows, shape.pooled_columns, layer.biases
            found = words("delta", delta, size, self._network.fmt)
        return LayerStep(self._network, layer, x, made, found, rate, add, pooled=pooled)

    def _result(
        self,
        layer: description.Layer,
        phase: str,
        engine: str,
        x: Bits,
        passes: Sequence[Pass],
        audited: Sequence[Audited],
    ) -> LayerRun:
        import numpy as np

        from merp.cosim.phases.audit.audit import combine
        from merp.cosim.phases.pins import widened_words
        from merp.tools.library.layer_run import LayerRun

        made: dict[str, Any] = {}
        for port, about in passes[0].expected.ports.items():
            if about.golden is None:
                continue
            parts = [each.record.array(about.stream, about.golden.shape) for each in audited]
            joined = np.concatenate(parts, axis=-1 if about.maps else 0)
            made[NAMES[port]] = widened_words(
                joined, phase, port, design_of(self._network, self._layer)
            )
        if "state" in made:
            made["state"] = made["state"].astype(np.uint8)
        return LayerRun(
            layer=layer,
            phase=phase,
            engine=engine,
            fmt=self._network.fmt,
            x=x,
            words=made,
            records=tuple(each.record for each in audited),
            audit=combine([each.audit for each in audited]),
        )
