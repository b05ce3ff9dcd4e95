"""Both backward phases in one pass: top, ports, run, and the expected results of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.expected import expected_ports, work_of
from merp.cosim.machines.cnn_merp.phases.halves import PROPAGATION
from merp.cosim.machines.cnn_merp.phases.pins import inputs_on_pins
from merp.cosim.phases.expectation import Expectation, ExpectedHalf, GroupPass, Pair
from merp.hdl.cnn_merp.phases.backward import backward
from merp.hdl.cnn_merp.ports.backward_ports import BackwardPorts, OnePass
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import of_maps, packed
from merp.models.golden.stored import Stored
from merp.models.golden.training import RATE, Updated, rates_of
from merp.models.machines.cnn_merp.kernel_load import delta_load
from merp.models.machines.cnn_merp.one_pass import backward_design, check_one_pass
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.backward_registers import backward_registers
from merp.models.machines.cnn_merp.params.word_counters import BACKWARD_WORDS, VELOCITY_WORDS
from merp.models.machines.cnn_merp.traffic import backward_counter
from merp.models.network.branches import undone_shape
from merp.models.network.network import Layer, Network
from merp.models.traffic import pass_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORTS = BackwardPorts.streams()
"""The stream of each port of the traffic report. The mask stream carries bytes."""


def backward_top(design: BackwardDesign, array: str = "rtl", rule: UpdateRule = PLAIN) -> Top:
    """Return both backward phases for ``design`` as a top with its own signals.

    ``rule`` is the update rule.

    Raises:
        ValueError: ``array`` is not a kind of array.
    """
    parameters = {
        "design": design.update, "propagation": design.propagation, "undone": design.unpool,
    }  # fmt: skip
    return Top.of(backward, BackwardPorts(OnePass(design, rule)), parameters, array, described)


def backward_run(
    shape: Shape,
    design: BackwardDesign,
    x: Bits,
    delta: Bits,
    state: bytes,
    old: Pair,
    rates: Rates,
    velocities: Pair | None = None,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """Return a run of one group of a layer.

    Args:
        shape: the group.
        design: design of the run, which the group fits.
        x: (images, rows, columns, n) words.
        delta: (images, pooled_rows, pooled_columns, m) words.
        state: ReLU/pooling mask of this layer, kind ``pooled``, packed.
        old: kernels (m, n, k, k) and biases (m,).
        rates: words of the factors, which determine the update hardware.
        velocities: with the same sizes as ``old``, if momentum is built.
        stalls: stall patterns by stream name.
        reset_at: as in ``Run``.

    Raises:
        BadInput: one pass does not support the layer.
        ValueError: an array has the wrong size, or a word is not a number of the stored format of
            its tensor.
    """
    check_one_pass(shape, design, "the layer")
    kernels, bias = (shape.m, shape.n, shape.k, shape.k), (shape.m,)
    arrays: dict[str, tuple[Bits, tuple[int, ...]]] = {
        "map_in": (x, (len(x), shape.rows, shape.columns, shape.n)),
        "delta_in": (delta, (len(x), shape.pooled_rows, shape.pooled_columns, shape.m)),
        "kernel": (old[0], kernels),
        "bias": (old[1], bias),
    }
    if rates.rule.momentum:
        none = np.zeros(0, np.uint32)
        past = velocities or (none, none)
        arrays |= {"kernel_velocity_in": (past[0], kernels), "bias_velocity_in": (past[1], bias)}
    words = {PORTS["state_in"]: np.frombuffer(state, np.uint8).astype(np.uint32)}
    for port, (array, size) in arrays.items():
        if array.shape != size:
            raise ValueError(f"{PORTS[port]} must be of size {size}, not {array.shape}")
        words[PORTS[port]] = array.reshape(-1)
    return Run(
        config=backward_registers(
            shape, len(x), design.propagation, design.update, design.unpool, rates
        ),
        words=inputs_on_pins(words, "bp", PORTS, design.update),
        stalls=stalls or {},
        reset_at=reset_at,
    )


def expect_backward(
    shape: Shape,
    images: int,
    design: BackwardDesign,
    left: Bits,
    new: Pair,
    velocities: Pair | None = None,
) -> Expectation:
    """Return the expectation of both backward phases of one group.

    Args:
        left: the output delta, images first.
        new: kernels (m, n, k, k) and biases (m,).
        velocities: of both, with momentum.
    """
    half, update = design.propagation, design.update
    formula = pass_words.backward_port_words(shape, images)
    walked = backward_counter.backward_words(shape, images, half, update)
    goldens = {"delta_out": left, "kernel_out": new[0], "bias_out": new[1]}
    names: tuple[str, ...] = BACKWARD_WORDS
    last = ["delta_out", "bias_out"]
    if velocities is not None:
        # Each has as many words as kernels and biases.
        names = (*names, *VELOCITY_WORDS)
        for each, golden in zip(("kernel", "bias"), velocities, strict=True):
            for way, like in (("in", each), ("out", f"{each}_out")):
                name = f"{each}_velocity_{way}"
                formula[name], walked[name] = formula[like], walked[like]
            goldens[name] = golden
        last.append("bias_velocity_out")
    streams = {name: PORTS[name] for name in names}
    macs = shape.macs(images)
    units = half.n_cu + update.n_cu
    work = replace(
        work_of(shape, images, update),
        operations=4 * macs,
        ideal=2 * macs / (update.taps * units),
    )
    return Expectation(
        ports=expected_ports(
            "bp", streams, formula, walked, goldens, ("delta_in", "map_in", "delta_out"), update
        ),
        first="map_in",
        last=tuple(last),
        loads={"kernel": delta_load(shape, half).behind},
        work=work,
        halves={
            PROPAGATION: ExpectedHalf(
                first="delta_in",
                last="delta_out",
                work=work_of(delta_shape(shape), images, half),
            )
        },
    )


def backward_pass(
    layer: Layer,
    group: int,
    design: BackwardDesign,
    x: Bits,
    stored: Stored,
    old: Updated,
    rates: Rates,
    left: Bits,
    wanted: Updated,
) -> GroupPass:
    """Return both backward phases of one group. The rates determine the update hardware.

    Args:
        layer: the layer.
        group: its number.
        design: design of the pass.
        x: (images, rows, columns, groups*n) words.
        stored: delta of the layer's output.
        old: kernels, biases and velocities before the step.
        rates: words of the factors.
        left: the expected output delta, of all maps in front.
        wanted: the other expected outputs.
    """
    shape, deltas, state = stored
    own, front = ((group * maps, (group + 1) * maps) for maps in (shape.m, shape.n))
    momentum = rates.rule.momentum

    def of_group(pair: Pair) -> Pair:
        return group_parameters(layer, group, *pair)

    run = backward_run(
        shape,
        design,
        group_maps(x, layer, group),
        np.ascontiguousarray(deltas[..., slice(*own)]),
        packed(of_maps(state, *own), shape, design.update.fmt),
        of_group(old.parameters),
        rates,
        of_group(old.velocities) if momentum else None,
    )
    expected = expect_backward(
        shape,
        len(x),
        design,
        np.ascontiguousarray(left[..., slice(*front)]),
        of_group(wanted.parameters),
        of_group(wanted.velocities) if momentum else None,
    )
    return GroupPass(run, expected)


@dataclass(frozen=True)
class Backward:
    """Both backward phases, in one pass, of the layers that share a design.

    Attributes:
        network: network of the layers.
        design: design of the layers.
        rule: update rule.
    """

    name: ClassVar[str] = "bp"

    network: Network
    design: BackwardDesign
    rule: UpdateRule = PLAIN

    @classmethod
    def of(
        cls,
        network: Network,
        layer: Layer,
        *,
        state: bool = False,
        before: bool = True,
        rule: UpdateRule = PLAIN,
    ) -> Backward:
        """Return the phase on the design of ``layer``, with its CUs divided between both halves.

        Deltas always arrive at pooled resolution.
        """
        return cls(network, backward_design(network, layer), rule)

    def on(self, network: Network) -> Backward:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""
        return backward_top(self.design, array, self.rule)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for one group, at the golden step's rate."""
        shape = undone_shape(self.network, layer)
        rates = rates_of(RATE, images, self.design.update.fmt)
        return backward_registers(
            shape, images, self.design.propagation, self.design.update, self.design.unpool, rates
        )

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words (for masks: bytes) on each port in a run of one group."""
        return pass_words.backward_port_words(undone_shape(self.network, layer), images)

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """Return the pass of one group with golden pooled deltas, without momentum."""
        return backward_pass(
            layer, group, self.design, step.passed(layer).x, step.stored(layer),
            step.before(layer), step.rates, step.left(layer), step.updated(layer),
        )  # fmt: skip

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: deltas and kernels are not inputs of the next layer."""
