"""The arrays of a training step of undivided layers, and the part of each port in each pass.

Deltas are stored at the resolution of the sums, as ``cosim`` trains undivided layers. Kernel update
writes new kernels over the old ones. Every other result has an array of its own, so that each pass
can be checked after the step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from merp.models.base.errors import BadInput
from merp.models.base.state_field import state_field_bits, state_fields
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.machines.cnn_merp.phases import maps_behind
from merp.models.memory.box import box
from merp.models.memory.layout import Array, Part
from merp.models.memory.step_arrays import StepPass
from merp.models.memory.walk import Dimension, Walk
from merp.models.network.branches import (
    added,
    begun,
    behind,
    next_taker,
    parts,
    previous,
    receiver,
    takers,
    within,
)
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.step_passes import layer_passes
from merp.models.traffic.pass_words import state_bytes

BITS = 8
IMAGES = "images"


@dataclass
class StepMemory:
    """The arrays of a training step, and its passes.

    Attributes:
        network: the network.
        images: images of a step.
        momentum: whether velocities are stored.
        arrays: the arrays by name.
        passes: the passes in the order of a step.
        deltas: name of the array with the present delta of each layer, by the layer's name.

    Raises:
        BadInput: a pass reads words that are in no order of a walk.
    """

    network: Network
    images: int
    momentum: bool = False
    arrays: dict[str, Array] = field(init=False, default_factory=dict)
    passes: list[StepPass] = field(init=False, default_factory=list)
    deltas: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Go through the passes of a step."""
        network = self.network
        if network.backward == COMBINED or network.layer_fusion:
            raise BadInput(
                f"{network.name}: allowed in memory are separate backward passes, without fused "
                "layers"
            )
        for found in network.feeds.concatenations.values():
            if not found.alike:
                raise BadInput(
                    f"{network.name}: {found.whole.name}: allowed in memory are concatenations of "
                    "layers with the same ReLU, pooling and size of the sums"
                )
        last = network.layers[-1]
        self._hand_back(last, self._delta(last, "ku", "delta_in", _sums(last, self.images)))
        each = {"fp": self._forward, "dp": self._delta_pass, "ku": self._update}
        for layer, phase in layer_passes(network):
            groups = each[phase](layer)
            for group, ports in enumerate(groups):
                there = {port: part for port, part in ports.items() if part is not None}
                self.passes.append(StepPass(layer.name, phase, group, there))

    def of(self, phases: Collection[str]) -> list[StepPass]:
        """Return the passes of these phases, in the order of a step."""
        return [each for each in self.passes if each.phase in phases]

    def _array(self, name: str, shape: tuple[int, ...], layer: Layer, phase: str, port: str) -> str:
        """Add an array that a port reads or writes, and return its name."""
        bits = BITS * word_bytes(phase, port, design_of(self.network, layer))
        found = self.arrays.setdefault(name, Array.of(name, shape, bits))
        if found.element_bits != bits:
            raise BadInput(
                f"{self.network.name}: {name}: elements of {found.element_bits} bits: {layer.name} "
                f"{phase} needs {bits}"
            )
        return name

    def _delta(self, layer: Layer, phase: str, port: str, shape: tuple[int, ...]) -> str:
        """Add the array of a delta of a layer; earlier deltas keep theirs."""
        name = f"{layer.name}.deltas"
        known = sum(each == name or each.startswith(f"{name}.") for each in self.arrays)
        part, _ = parts(self.network, layer)[0]
        return self._array(f"{name}.{known}" if known else name, shape, part, phase, port)

    def _hand_back(self, layer: Layer, array: str) -> None:
        """Note the array with the delta of the sums of a layer, or of a concatenation.

        It also starts the delta of the output that is added to these sums. If that output is only
        added, nothing follows this start, so it is the delta of the added layer's sums, too.
        """
        for part, _ in parts(self.network, layer):
            self.deltas[part.name] = array
        beside = added(self.network, layer)
        if beside is not None and takers(self.network, beside):
            self.deltas[beside.name] = array
        elif beside is not None:
            self._hand_back(beside, array)

    def _maps(self, layer: Layer, group: int) -> Part:
        """Return the input maps of a group."""
        shape, front = layer.shape, previous(self.network, layer)
        size = self.images, shape.rows, shape.columns, layer.groups * shape.n
        name = IMAGES if front is None else f"{front.name}.maps"
        if front is None:
            self._array(name, size, layer, "fp", "map_in")
        return _of_maps(name, size, group, shape.n)

    def _parameters(self, layer: Layer, group: int, port: str, array: str, phase: str) -> Part:
        shape = layer.shape
        size: tuple[int, ...] = (layer.groups * shape.m,)
        if port.startswith("kernel"):
            size = (*size, shape.n, shape.k, shape.k)
        name = self._array(f"{layer.name}.{array}", size, layer, phase, port)
        rows = range(group * shape.m, (group + 1) * shape.m)
        return Part(name, box(size, (rows, *map(range, size[1:]))))

    def _forward(self, layer: Layer) -> Iterator[dict[str, Part | None]]:
        shape, images, adding = layer.shape, self.images, added(self.network, layer)
        whole, first = within(self.network, layer)
        size = images, shape.pooled_rows, shape.pooled_columns, whole.biases
        name = f"{whole.name}.maps"
        mask = state_bytes(shape, shape.m, images)
        for group in range(layer.groups):
            ports: dict[str, Part | None] = {
                "map_in": self._maps(layer, group),
                "kernel": self._parameters(layer, group, "kernel", "kernels", "fp"),
                "bias": self._parameters(layer, group, "bias", "biases", "fp"),
            }
            if adding is not None:
                ports["add_in"] = _of_maps(
                    f"{adding.name}.maps", _sums(layer, images), group, shape.m
                )
            self._array(name, size, layer, "fp", "map_out")
            ports["map_out"] = _of_maps(name, size, group, shape.m, first)
            if mask:
                ports["state_out"] = self._state_out(layer, group, mask)
            yield ports

    def _state_out(self, layer: Layer, group: int, mask: int) -> Part:
        """Return the place of the mask of a group, of ``mask`` bytes.

        The masks of the groups of a layer follow each other. The masks of a concatenation are
        those of one layer: the parts write theirs at each position, in whole bytes.

        Raises:
            BadInput: the masks of the parts at a position are not whole bytes.
        """
        network, shape = self.network, layer.shape
        whole, first = within(network, layer)
        if whole is layer:
            size = layer.groups, mask
            state = self._array(f"{layer.name}.state", size, layer, "fp", "state_out")
            return Part(state, Walk(group * mask, mask))
        positions, field = self.images * state_fields(shape, 1), state_field_bits(shape)
        at, own, total = (first + group * shape.m) * field, shape.m * field, whole.biases * field
        if any(each % BITS for each in (at, own, total)):
            raise BadInput(
                f"{network.name}: {layer.name}: its mask has {own} bits at a position of "
                f"{whole.name}: allowed in memory are whole bytes"
            )
        size = positions, total // BITS
        state = self._array(f"{whole.name}.state", size, layer, "fp", "state_out")
        step = Dimension(positions, total // BITS)
        return Part(state, Walk(at // BITS, own // BITS, (step,)))

    def _delta_pass(self, layer: Layer) -> Iterator[dict[str, Part | None]]:
        network, shape, images = self.network, layer.shape, self.images
        front, earlier = receiver(network, layer), behind(network, layer)
        assert front is not None
        inputs = images, shape.rows, shape.columns, layer.groups * shape.n
        started = self.deltas[front.name] if begun(network, layer) else None
        maps = maps_behind(shape, earlier.shape)
        left = images, earlier.shape.out_rows, earlier.shape.out_columns, layer.groups * maps
        made = self._delta(front, "dp", "delta_out", left)
        for group in range(layer.groups):
            yield {
                "delta_in": self._delta_in(layer, group),
                "kernel": self._parameters(layer, group, "kernel", "kernels", "dp"),
                "add_in": None if started is None else _of_maps(started, inputs, group, shape.n),
                "state_in": self._mask(layer, earlier, group, maps),
                "delta_out": _of_maps(made, left, group, maps),
            }
        if next_taker(network, layer) is None:
            self._hand_back(front, made)
        else:
            self.deltas[front.name] = made

    def _delta_in(self, layer: Layer, group: int) -> Part:
        """Return the delta of the sums of a group."""
        whole, first = within(self.network, layer)
        size = _sums(whole, self.images)
        return _of_maps(self.deltas[layer.name], size, group, layer.shape.m, first)

    def _mask(self, layer: Layer, earlier: Layer, group: int, maps: int) -> Part | None:
        """Return the mask of the maps that a group propagates to.

        Memory has the masks of the groups of ``earlier`` one behind the other. If groups differ, a
        part of the maps of each position must have whole bytes.
        """
        shape, name = earlier.shape, f"{earlier.name}.state"
        size, wanted = (state_bytes(shape, each, self.images) for each in (shape.m, maps))
        if not wanted:
            return None
        first, skipped = divmod(group * maps, shape.m)
        if (skipped, maps) == (0, shape.m):
            return Part(name, Walk(first * size, size))
        field = state_field_bits(shape)
        inside = maps if maps < shape.m else shape.m  # maps of one group of earlier in a run
        whole = maps % inside == 0 and skipped + inside <= shape.m
        if not whole or any(each * field % BITS for each in (skipped, inside, shape.m)):
            raise BadInput(
                f"{self.network.name}: {layer.name} propagates to {maps} maps, and the mask of "
                f"{earlier.name} has parts of {shape.m} maps, {field} bits each: allowed are equal "
                "or whole bytes"
            )
        positions = self.images * state_fields(shape, 1)
        dimensions = Dimension(maps // inside, size), Dimension(positions, shape.m * field // BITS)
        walk = Walk(first * size + skipped * field // BITS, inside * field // BITS, dimensions)
        return Part(name, walk)

    def _update(self, layer: Layer) -> Iterator[dict[str, Part | None]]:
        for group in range(layer.groups):
            ports: dict[str, Part | None] = {
                "map_in": self._maps(layer, group),
                "delta_in": self._delta_in(layer, group),
            }
            for port, array in (("kernel", "kernels"), ("bias", "biases")):
                ports[port] = self._parameters(layer, group, port, array, "ku")
                ports[f"{port}_out"] = ports[port]
                if self.momentum:
                    name, moving = f"{port}_velocity_in", f"{port}_velocities"
                    ports[name] = self._parameters(layer, group, name, moving, "ku")
                    ports[f"{port}_velocity_out"] = ports[name]
            yield ports


def _sums(layer: Layer, images: int) -> tuple[int, ...]:
    """Return the size of the sums of a layer, of all groups."""
    shape = layer.shape
    return images, shape.out_rows, shape.out_columns, layer.groups * shape.m


def _of_maps(name: str, size: tuple[int, ...], group: int, maps: int, first: int = 0) -> Part:
    """Return the maps of a group in an array of maps or deltas; group 0 begins at ``first``."""
    own = range(first + group * maps, first + (group + 1) * maps)
    return Part(name, box(size, (*map(range, size[:-1]), own)))
