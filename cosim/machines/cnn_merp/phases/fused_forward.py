"""Two layers fused in forward propagation: top, ports, run, and what a pass of them must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.expected import expected_ports, work_of
from merp.cosim.machines.cnn_merp.phases.forward import every_position_counts
from merp.cosim.machines.cnn_merp.phases.halves import FIRST
from merp.cosim.machines.cnn_merp.phases.pins import inputs_on_pins, widened_words
from merp.cosim.phases.expectation import Expectation, ExpectedHalf, GroupPass, Pair, UnitWork
from merp.hdl.cnn_merp.phases.fused_forward import fused_forward
from merp.hdl.cnn_merp.ports.fused_forward_ports import FusedForwardPorts
from merp.models.base.bits import Bits
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.inference import group_maps
from merp.models.golden.state import State, joined, of_maps, packed, unpacked
from merp.models.machines.cnn_merp.fused_pair import (
    check_fused,
    fused_design,
    fused_layers,
    fused_shape,
)
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.fused_registers import fused_registers
from merp.models.machines.cnn_merp.traffic import fused_counter
from merp.models.network.network import Layer, Network
from merp.models.traffic import pass_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORTS = FusedForwardPorts.streams()
"""Stream of each port of the traffic report; those of state carry bytes."""


def fused_forward_top(design: FusedDesign, array: str = "rtl") -> Top:
    """Two fused layers on ``design``, with signals of its own.

    Raises:
        ValueError: ``array`` is not a kind of array.
    """
    parameters = {"design": design.first, "second": design.second, "groups": design.groups}
    return Top.of(fused_forward, FusedForwardPorts(design), parameters, array, described)


def fused_forward_run(
    shape: FusedShape,
    design: FusedDesign,
    x: Bits,
    first: Pair,
    second: Pair,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """A run of two fused layers: a group of the first, and those of the second behind it.

    Args:
        shape: the layers. design: what they run on.
        x: (images, rows, columns, n) words. first: kernels (m, n, k, k) and biases (m,) of the
            first layer. second: kernels (groups*m, n, k, k) and biases (groups*m,) of the second.
        stalls: pattern by stream name. reset_at: as in ``Run``.

    Raises:
        BadInput: the layers are none of those that are fused, or do not fit.
        ValueError: an array is not of the shapes' size, or a word is no number of the format that
            its tensor is stored in.
    """
    check_fused(shape, design, len(x), "the layers")
    one, other, groups = shape
    maps = groups * other.m
    arrays: dict[str, tuple[Bits, tuple[int, ...]]] = {
        "map_in": (x, (len(x), one.rows, one.columns, one.n)),
        "kernel": (first[0], (one.m, one.n, one.k, one.k)),
        "bias": (first[1], (one.m,)),
        "second_kernel": (second[0], (maps, other.n, other.k, other.k)),
        "second_bias": (second[1], (maps,)),
    }
    words = {}
    for port, (array, size) in arrays.items():
        if array.shape != size:
            raise ValueError(f"{PORTS[port]} must be of size {size}, not {array.shape}")
        words[PORTS[port]] = array.reshape(-1)
    return Run(
        config=fused_registers(shape, len(x), design),
        words=inputs_on_pins(words, "fp", PORTS, design.first),
        stalls=stalls or {},
        reset_at=reset_at,
    )


def expect_fused_forward(
    shape: FusedShape,
    images: int,
    design: FusedDesign,
    golden: Bits,
    between: Bits | None = None,
    states: tuple[bytes, bytes] | None = None,
) -> Expectation:
    """Two fused layers.

    ``golden`` is (images, pooled rows, pooled columns, groups*m) of the second layer. Where the
    design writes state: ``between`` the same of the first layer, ``states`` of both layers.
    """
    first, second = shape.first, shape.second
    formula = pass_words.fused_port_words(shape, images, design.second.state)
    walked = fused_counter.fused_words(shape, images, design)
    goldens = {"map_out": golden}
    maps = ["map_in", "map_out"]
    if between is not None and states is not None:
        goldens["between_out"] = between
        maps.append("between_out")
        for port, state in zip(("between_state_out", "state_out"), states, strict=True):
            goldens[port] = np.frombuffer(state, np.uint8).astype(np.uint32)
    work = work_of(second, images, design.second)
    last = ["map_out", *(["between_out"] if between is not None else [])]
    return Expectation(
        ports=expected_ports(
            "fp", FusedForwardPorts.streams_of(design), formula, walked, goldens, maps, design.first
        ),
        first="map_in",
        last=tuple(last),
        loads={"kernel": 0, "bias": 0, "second_kernel": 0, "second_bias": 0},
        work=UnitWork(
            n_cu=work.n_cu,
            issue=work.issue,
            useful=work.useful,
            operations=2 * shape.macs(images),
            ideal=shape.macs(images) / design.multipliers,
        ),
        early_end=not every_position_counts(second),
        halves={
            FIRST: ExpectedHalf(
                first="map_in", last=None, work=work_of(first, images, design.first)
            )
        },
    )


def fused_forward_pass(
    network: Network,
    group: int,
    design: FusedDesign,
    x: Bits,
    made: Callable[[Layer], Pair],
    wanted: Callable[[Layer], Bits],
    state: Callable[[Layer], State],
) -> GroupPass:
    """A group of the first of the two layers that ``network`` fuses, and those made of it.

    Args:
        network: the layers. group: of the first one. design: what they run on.
        x: (images, rows, columns, groups*n) words.
        made: kernels and biases of a layer. wanted: what it must make, of all groups.
        state: of a whole layer, asked for where the design writes it.
    """
    first, second = fused_layers(network)
    shape, fmt = fused_shape(network, first, second), design.first.fmt
    maps = shape.groups * shape.second.m
    own = {
        first.name: (group * shape.first.m, (group + 1) * shape.first.m),
        second.name: (group * maps, (group + 1) * maps),
    }

    def parameters(layer: Layer) -> Pair:
        kernels, bias = made(layer)
        return kernels[slice(*own[layer.name])], bias[slice(*own[layer.name])]

    def left(layer: Layer) -> Bits:
        return np.ascontiguousarray(wanted(layer)[..., slice(*own[layer.name])])

    def kept(layer: Layer) -> bytes:
        return packed(of_maps(state(layer), *own[layer.name]), layer.shape, fmt)

    run = fused_forward_run(
        shape, design, group_maps(x, first, group), parameters(first), parameters(second)
    )
    for_training: dict[str, Any] = {}
    if design.second.state:
        for_training = {"between": left(first), "states": (kept(first), kept(second))}
    return GroupPass(run, expect_fused_forward(shape, len(x), design, left(second), **for_training))


@dataclass(frozen=True)
class FusedForward:
    """Forward propagation of two fused layers of a network; a phase of the first of them.

    Attributes:
        network: whose layers run. design: what they run on.
    """

    name: ClassVar[str] = "ff"

    network: Network
    design: FusedDesign

    @classmethod
    def of(
        cls, network: Network, layer: Layer, *, state: bool = False, before: bool = False
    ) -> FusedForward:
        """On shares of the designs of both; ``state``: what the way back needs leaves, too."""
        design = fused_design(network, *fused_layers(network), state)
        return cls(network, design)

    def on(self, network: Network) -> FusedForward:
        """The same elaboration, for layers of another network."""
        return replace(self, network=network)

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""
        return fused_forward_top(self.design, array)

    @property
    def _shape(self) -> FusedShape:
        return fused_shape(self.network, *fused_layers(self.network))

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every configuration port for a run of one group of the first layer."""
        return fused_registers(self._shape, images, self.design)

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Words (of state: bytes) on each port in such a run."""
        return pass_words.fused_port_words(self._shape, images, self.design.second.state)

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """A group of the first layer, and those of the second that are made of it."""
        return fused_forward_pass(
            self.network, group, self.design, step.x(layer),
            lambda each: step.parameters[each.name], step.y, step.state,
        )  # fmt: skip

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Output maps of the second layer, of the groups of the first that ``records`` are of."""
        return self._maps("map_out", self._made[1], images, records)

    def between(self, images: int, records: Sequence[RunRecord]) -> Bits:
        """Output maps of the first layer, which leave with the state."""
        return self._maps("between_out", self._made[0], images, records)

    def states(self, images: int, records: Sequence[RunRecord]) -> tuple[State, State]:
        """The state of both layers, as all groups of the first wrote it for the way back."""
        ports = "between_state_out", "state_out"
        one, other = (
            joined(
                [
                    unpacked(
                        record.words(PORTS[port]).astype(np.uint8).tobytes(),
                        each, maps, images,
                    )
                    for record in records
                ]
            )
            for port, (each, maps) in zip(ports, self._made, strict=True)
        )  # fmt: skip
        return one, other

    @property
    def _made(self) -> tuple[tuple[Shape, int], tuple[Shape, int]]:
        """The shape of either layer, and the maps that a run makes of it."""
        first, second, groups = self._shape
        return (first, first.m), (second, groups * second.m)

    def _maps(
        self, port: str, of: tuple[Shape, int], images: int, records: Sequence[RunRecord]
    ) -> Bits:
        shape, maps = of
        size = images, shape.pooled_rows, shape.pooled_columns, maps
        made = [record.array(PORTS[port], size) for record in records]
        return widened_words(np.concatenate(made, axis=-1), "fp", "map_out", self.design.second)
