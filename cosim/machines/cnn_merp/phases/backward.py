"""Both backward phases in one pass: top, ports, run, and what one group of a layer must do."""

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
"""Stream of each port of the traffic report; that of state carries bytes."""


def backward_top(design: BackwardDesign, array: str = "rtl", rule: UpdateRule = PLAIN) -> Top:
    """Both backward phases for ``design``, with signals of its own; ``rule``: of the update.

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
    """A run of one group of a layer.

    Args:
        shape: the group. design: what it runs on, and it fits.
        x: (images, rows, columns, n) words. delta: (images, pooled_rows, pooled_columns, m).
        state: of this layer, kind ``pooled``, packed.
        old: kernels (m, n, k, k) and biases (m,). rates: words of the factors; what is built
            follows from them. velocities: of the same sizes, where momentum is built.
        stalls: pattern by stream name. reset_at: as in ``Run``.

    Raises:
        BadInput: the layer is none of those that one pass takes.
        ValueError: an array is not of the shape's size, or a word is no number of the format that
            its tensor is stored in.
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
    """Both backward phases of one group.

    left: the delta that leaves, images first. new: kernels (m, n, k, k) and biases (m,). With
    momentum the ``velocities`` of both.
    """
    half, update = design.propagation, design.update
    formula = pass_words.backward_port_words(shape, images)
    walked = backward_counter.backward_words(shape, images, half, update)
    goldens = {"delta_out": left, "kernel_out": new[0], "bias_out": new[1]}
    names: tuple[str, ...] = BACKWARD_WORDS
    last = ["delta_out", "bias_out"]
    if velocities is not None:
        # As many words as kernels and biases have, beside them.
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
    """Both backward phases of one group; what is built follows from the rates.

    Args:
        layer: the layer. design: what it runs on.
        x: (images, rows, columns, groups*n) words. stored: the delta of its output.
        old: before the step. rates: words of the factors.
        left: the delta that must leave, of all maps in front; wanted: what else must come out.
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
        network: whose layers run. design: what they run on. rule: of the update.
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
        """On the design of ``layer``, its CUs shared out; deltas come pooled in any case."""
        return cls(network, backward_design(network, layer), rule)

    def on(self, network: Network) -> Backward:
        """The same elaboration, for layers of another network."""
        return replace(self, network=network)

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""
        return backward_top(self.design, array, self.rule)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every configuration port for a run of one group, at the golden step's rate."""
        shape = undone_shape(self.network, layer)
        rates = rates_of(RATE, images, self.design.update.fmt)
        return backward_registers(
            shape, images, self.design.propagation, self.design.update, self.design.unpool, rates
        )

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Words (of state: bytes) on each port in a run of one group."""
        return pass_words.backward_port_words(undone_shape(self.network, layer), images)

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """One group on the golden deltas at pooled resolution, without momentum."""
        return backward_pass(
            layer, group, self.design, step.passed(layer).x, step.stored(layer),
            step.before(layer), step.rates, step.left(layer), step.updated(layer),
        )  # fmt: skip

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """A delta is no layer's input, nor are kernels."""
