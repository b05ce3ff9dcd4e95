"""Two fused layers in forward propagation: top, ports, run, and the expected results of a pass."""

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
"""The stream of each port of the traffic report. The mask streams carry bytes."""


def fused_forward_top(design: FusedDesign, array: str = "rtl") -> Top:
    """Return two fused layers on ``design`` as a top with its own signals.

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
    """Return a run of two fused layers: a group of the first, and its groups of the second.

    Args:
        shape: the layers.
        design: design of the run.
        x: (images, rows, columns, n) words.
        first: kernels (m, n, k, k) and biases (m,) of the first layer.
        second: kernels (groups*m, n, k, k) and biases (groups*m,) of the second layer.
        stalls: stall patterns by stream name.
        reset_at: as in ``Run``.

    Raises:
        BadInput: the layers cannot be fused, or do not fit the design.
        ValueError: an array has the wrong size, or a word is not a number of the stored format of
            its tensor.
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
    """Return the expectation of two fused layers.

    ``golden`` is (images, pooled rows, pooled columns, groups*m) of the second layer. If the design
    writes masks, ``between`` is the same array of the first layer, and ``states`` holds the masks
    of both layers.
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
    """Return the pass of a group of the first fused layer and of its groups of the second layer.

    Args:
        network: network that fuses the two layers.
        group: number of the group of the first layer.
        design: design of the pass.
        x: (images, rows, columns, groups*n) words.
        made: function that returns kernels and biases of a layer.
        wanted: function that returns the expected output of a layer, of all groups.
        state: function that returns the ReLU/pooling mask of a whole layer. It is called if the
            design writes masks.
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
    """Forward propagation of two fused layers of a network; a phase of the first layer.

    Attributes:
        network: network of the layers.
        design: design of the layers.
    """

    name: ClassVar[str] = "ff"

    network: Network
    design: FusedDesign

    @classmethod
    def of(
        cls, network: Network, layer: Layer, *, state: bool = False, before: bool = False
    ) -> FusedForward:
        """Return the phase on shares of both designs; ``state``: masks are output too."""
        design = fused_design(network, *fused_layers(network), state)
        return cls(network, design)

    def on(self, network: Network) -> FusedForward:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    @property
    def streams(self) -> dict[str, str]:
        """The stream of each port of the traffic report."""
        return FusedForwardPorts.streams_of(self.design)

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals."""
        return fused_forward_top(self.design, array)

    @property
    def _shape(self) -> FusedShape:
        return fused_shape(self.network, *fused_layers(self.network))

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the values of all configuration ports for one group of the first layer."""
        return fused_registers(self._shape, images, self.design)

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words (for masks: bytes) on each port in such a run."""
        return pass_words.fused_port_words(self._shape, images, self.design.second.state)

    def golden_pass(self, layer: Layer, group: int, step: GoldenStep) -> GroupPass:
        """Return the pass of a group of the first layer and of its groups of the second layer."""
        return fused_forward_pass(
            self.network, group, self.design, step.x(layer),
            lambda each: step.parameters[each.name], step.y, step.state,
        )  # fmt: skip

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the second layer's output maps for the first layer's groups in ``records``."""
        return self._maps("map_out", self._made[1], images, records)

    def between(self, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the output maps of the first layer, which are output together with the masks."""
        return self._maps("between_out", self._made[0], images, records)

    def states(self, images: int, records: Sequence[RunRecord]) -> tuple[State, State]:
        """Return the masks of both layers, as all groups of the first layer wrote them."""
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
        """Return the shape of either layer, and its number of maps in a run."""
        first, second, groups = self._shape
        return (first, first.m), (second, groups * second.m)

    def _maps(
        self, port: str, of: tuple[Shape, int], images: int, records: Sequence[RunRecord]
    ) -> Bits:
        shape, maps = of
        size = images, shape.pooled_rows, shape.pooled_columns, maps
        made = [record.array(PORTS[port], size) for record in records]
        return widened_words(np.concatenate(made, axis=-1), "fp", "map_out", self.design.second)
