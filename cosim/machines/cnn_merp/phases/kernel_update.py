"""Kernel update: top, ports, run, and the expected results of one group of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.expected import expected_ports, work_of
from merp.cosim.machines.cnn_merp.phases.pins import inputs_on_pins, stored_words
from merp.cosim.phases.expectation import Expectation, GroupPass, Pair
from merp.hdl.cnn_merp.phases.kernel_update import kernel_update
from merp.hdl.cnn_merp.ports.kernel_update_ports import KernelUpdatePorts, UpdateDesign
from merp.models.base.bits import Bits
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import State, of_maps, packed
from merp.models.golden.training import RATE, Updated, rates_of
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import unpool_registers
from merp.models.machines.cnn_merp.params.word_counters import (
    KERNEL_UPDATE_STATE_WORDS,
    KERNEL_UPDATE_WORDS,
    word_bytes,
)
from merp.models.machines.cnn_merp.phases import update_design, update_unpool_design
from merp.models.machines.cnn_merp.traffic import backward_counter
from merp.models.network.branches import undone_shape
from merp.models.network.network import Layer, Network
from merp.models.traffic import pass_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORTS = KernelUpdatePorts.streams()
"""The stream of each port of the traffic report. The mask stream carries bytes."""

GRADIENTS = Rates(rate=0)
"""Rates of a run that returns the gradients."""


def kernel_update_top(
    design: EngineDesign,
    array: str = "rtl",
    rule: UpdateRule = PLAIN,
    undone: UnpoolDesign | None = None,
) -> Top:
    """Return the kernel update for ``design`` as a top with its own signals.

    ``rule`` is the update rule. If ``undone`` is set, deltas arrive at pooled resolution, and
    un-pooling of this design expands them.

    Raises:
        ValueError: ``array`` is not a kind of array.
    """
    parameters: dict[str, Any] = {"design": design}
    if undone is not None:
        parameters["undone"] = undone
    ports = KernelUpdatePorts(UpdateDesign(design, rule, undone))
    return Top.of(kernel_update, ports, parameters, array, described)


def kernel_update_run(
    shape: Shape,
    design: EngineDesign,
    x: Bits,
    delta: Bits,
    old: Pair | None,
    rates: Rates = GRADIENTS,
    velocities: Pair | None = None,
    undone: UnpoolDesign | None = None,
    state: bytes = b"",
    part: InputPart = WHOLE,
) -> Run:
    """Return a run of one group of a layer.

    Args:
        shape: the group.
        design: design of the run, which the group fits.
        x: (images, rows, columns, n) words.
        delta: (images, out_rows, out_columns, m) words of the sums; with ``undone`` (images,
            pooled_rows, pooled_columns, m) words of the output.
        old: kernels (m, n, k, k) and biases (m,); None for a run that returns the gradients. A part
            without biases ignores the biases.
        rates: words of the factors, which determine the update hardware.
        velocities: of the kernels and the biases, with the same sizes, if momentum is built.
        undone: un-pooling of the top.
        state: ReLU/pooling mask of this layer, kind ``pooled``, packed.
        part: which part of the layer's input maps ``shape`` is.

    Raises:
        ValueError: an array has the wrong size or is missing, or a word is not a number of the
            stored format of its tensor.
    """
    update = old is not None
    kernels, bias = old or (None, None)
    rows, columns = shape.out_rows, shape.out_columns
    if undone is not None:
        rows, columns = shape.pooled_rows, shape.pooled_columns
    arrays = {
        "s_axis_map": (x, (len(x), shape.rows, shape.columns, shape.n)),
        "s_axis_delta": (delta, (len(x), rows, columns, shape.m)),
        "s_axis_kernel": (kernels, (shape.m, shape.n, shape.k, shape.k)),
        "s_axis_bias": (bias, (shape.m,)),
    }
    if rates.rule.momentum:
        past = velocities or (None, None)
        arrays["s_axis_kernel_velocity"] = (past[0], arrays["s_axis_kernel"][1])
        arrays["s_axis_bias_velocity"] = (past[1], arrays["s_axis_bias"][1])
    words = {}
    for stream, (array, size) in arrays.items():
        wanted = update or stream in ("s_axis_map", "s_axis_delta")
        if (array is not None) != wanted or (array is not None and array.shape != size):
            found = None if array is None else array.shape
            raise ValueError(f"{stream} must be of size {size if wanted else None}, not {found}")
        sent = array if part.biases or not stream.startswith("s_axis_bias") else None
        words[stream] = np.zeros(0, np.uint32) if sent is None else sent.reshape(-1)
    config = kernel_update_registers(shape, len(x), design, rates, update, part)
    if undone is not None:
        config |= unpool_registers(shape, shape.m, len(x), undone)
        words["s_axis_state"] = np.frombuffer(state, np.uint8).astype(np.uint32)
    return Run(
        config=config,
        words=inputs_on_pins(words, "ku", PORTS, design),
    )


def expect_update(
    shape: Shape,
    images: int,
    design: EngineDesign,
    kernels: Bits,
    biases: Bits,
    velocities: tuple[Bits, Bits] | None = None,
    before: bool = False,
    part: InputPart = WHOLE,
) -> Expectation:
    """Return the expectation of one group; ``kernels`` (m, n, k, k) and ``biases`` (m,) are new.

    With momentum, the ``velocities`` of both are new as well. With ``before``, deltas arrive at
    pooled resolution. A ``part`` without biases outputs no biases.
    """
    formula = pass_words.update_port_words(shape, images, before, part)
    walked = backward_counter.update_words(shape, images, design, before, part)
    if not part.biases:
        biases = biases[:0]
        velocities = velocities and (velocities[0], velocities[1][:0])
    goldens = {"kernel_out": kernels, "bias_out": biases}
    states = KERNEL_UPDATE_STATE_WORDS if before else ()
    streams = {name: PORTS[name] for name in (*KERNEL_UPDATE_WORDS, *states)}
    ports = expected_ports("ku", streams, formula, walked, goldens, ("map_in", "delta_in"), design)
    if velocities is not None:
        # Each has as many words as kernels and biases.
        for each, golden in zip(("kernel", "bias"), velocities, strict=True):
            for way, like in (("in", each), ("out", f"{each}_out")):
                name = f"{each}_velocity_{way}"
                stream = PORTS[name]
                ports[name] = replace(
                    ports[like],
                    stream=stream,
                    word_bytes=word_bytes("ku", name, design),
                    golden=stored_words(golden, "ku", name, design, stream)
                    if way == "out"
                    else None,
                )
    kind = "bias" if part.biases else "kernel"
    last = (f"{kind}_out",) if velocities is None else (f"{kind}_out", f"{kind}_velocity_out")
    work = work_of(shape, images, design)
    return Expectation(ports=ports, first="map_in", last=last, loads={}, work=work)


def update_pass(
    layer: Layer,
    group: int,
    design: EngineDesign,
    x: Bits,
    deltas: Bits,
    old: Updated,
    rates: Rates,
    wanted: Updated,
    undone: UnpoolDesign | None = None,
    state: State | None = None,
) -> GroupPass:
    """Return the kernel update of one group. The rates determine the update hardware.

    Args:
        layer: the layer.
        group: its number.
        design: design of the pass.
        x: (images, rows, columns, groups*n) words.
        deltas: (images, out_rows, out_columns, groups*m) words of the sums, or with ``undone`` of
            the output.
        old: kernels, biases and velocities before the step.
        rates: words of the factors.
        wanted: the expected outputs.
        undone: un-pooling in front of the update.
        state: ReLU/pooling mask for this un-pooling.
    """
    shape = layer.shape
    maps = group * shape.m, (group + 1) * shape.m
    momentum = rates.rule.momentum

    def own(pair: Pair) -> Pair:
        return group_parameters(layer, group, *pair)

    run = kernel_update_run(
        shape,
        design,
        group_maps(x, layer, group),
        np.ascontiguousarray(deltas[..., slice(*maps)]),
        own(old.parameters),
        rates,
        own(old.velocities) if momentum else None,
        undone=undone,
        state=packed(of_maps(state, *maps), shape, design.fmt) if state is not None else b"",
    )
    expected = expect_update(
        shape,
        len(x),
        design,
        *own(wanted.parameters),
        velocities=own(wanted.velocities) if momentum else None,
        before=undone is not None,
    )
    return GroupPass(run, expected)


@dataclass(frozen=True)
class KernelUpdate:
    """Kernel update of the layers that share a design.

    Attributes:
        network: network of the layers.
        design: design of the layers.
        undone: design of un-pooling, if deltas arrive at pooled resolution.
        rule: update rule.
    """

    name: ClassVar[str] = "ku"

    network: Network
    design: EngineDesign
    undone: UnpoolDesign | None = None
    rule: UpdateRule = PLAIN

    @classmethod
    def of(
        cls,
        network: Network,
        layer: Layer,
        *,
        state: bool = False,
        before: bool = False,
        rule: UpdateRule = PLAIN,
    ) -> KernelUpdate:
        """Return the phase on the design of ``layer``.

        ``before``: deltas arrive at pooled resolution.
        """
        undone = update_unpool_design(network, layer) if before else None
        return cls(network, update_design(network, layer), undone, rule)

    def on(self, network: Network) -> KernelUpdate:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    def ports(self) -> KernelUpdatePorts:
        """The ports of the block, with their own signals."""
        return KernelUpdatePorts(UpdateDesign(self.design, self.rule, self.undone))

    @property
    def streams(self) -> dict[str, str]:
        """The stream of each port of the traffic report."""
        return KernelUpdatePorts.streams_of(UpdateDesign(self.design, self.rule, self.undone))

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""
        return kernel_update_top(self.design, array, self.rule, self.undone)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for one group, at the golden step's rate."""
        shape, undone = self._shape(layer), self.undone
        rates = rates_of(RATE, images, self.design.fmt)
        found = kernel_update_registers(shape, images, self.design, rates)
        return found | (unpool_registers(shape, shape.m, images, undone) if undone else {})

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words (for masks: bytes) on each port in a run of one group."""
        return pass_words.update_port_words(self._shape(layer), images, self.undone is not None)

    def _shape(self, layer: Layer) -> Shape:
        """Return the shape of the layer, with the ReLU and pooling that are undone."""
        return layer.shape if self.undone is None else undone_shape(self.network, layer)

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """Return the pass of one group with golden deltas, without momentum."""
        here, old, new = step.passed(layer), step.before(layer), step.updated(layer)
        deltas, state = here.sums, None
        if self.undone is not None:
            shape, deltas, state = step.stored(layer)
            layer = replace(layer, shape=shape)
        return update_pass(
            layer, group, self.design, here.x, deltas, old, step.rates, new, self.undone, state
        )

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: kernels are not inputs of the next layer."""
