"""Memory traffic by formula: CNN-MERP section IV and table 3, for every phase and count.

Symbols: x input maps, y convolution outputs, yp pooled outputs, w kernels, each in elements of all
groups.

- FP moves x + yp.
- DP of layer l reads the delta of y_l and writes that of y_(l-1), both un-pooled.
- KU reads x and the delta of y.

The paper counts only these; the other counts include more. A layer that adds the output of another
layer also reads that output, and DP also reads the start of its sums. Each element has the bytes of
its tensor's storage format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from merp.models.base.errors import BadInput
from merp.models.base.fused_shape import FusedShape
from merp.models.base.storage import Stores, element_bytes
from merp.models.network.branches import begun, behind, beside, stored_as
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import (
    COUNTED,
    ONE_PASS,
    has_phase,
    phase_operations,
    phases_counted,
)
from merp.models.traffic.count import (
    Count,
    activation_bits,
    state_read_bytes,
    state_written_bytes,
)
from merp.models.traffic.pass_words import fused_port_words
from merp.models.traffic.tiling import Tiling, best_tiling

EACH_IMAGE = (
    "map_in", "map_out", "delta_in", "delta_out", "state_in", "state_out", "add_in",
    "add_state_in", "between_out", "between_state_out",
)  # fmt: skip
"""Ports that move data for every image; the others move data once in a run."""


@dataclass(frozen=True)
class PhaseTraffic:
    """Traffic of one phase over a batch.

    Attributes:
        operations: of the layers that execute the phase.
        streams: bytes per port.
        momentum: bytes of the update's velocities, read and written; not included in ``bytes``.
    """

    operations: int
    streams: Mapping[str, int] = field(default_factory=dict)
    momentum: int = 0

    @property
    def bytes(self) -> int:
        """All bytes except the velocities'."""
        return sum(self.streams.values())

    @property
    def mb_per_gflop(self) -> float | None:
        """10^6 bytes per 10^9 operations; None without operations."""
        return self.bytes / self.operations * 1e3 if self.operations else None


@dataclass(frozen=True)
class LayerTraffic:
    """One layer's traffic; a phase that the layer does not have is None.

    The first layer has no ``dp``, because its input has no delta. ``bp`` is ``dp`` and ``ku`` in
    one pass, in place of both.
    """

    layer: Layer
    fp: PhaseTraffic
    dp: PhaseTraffic | None
    ku: PhaseTraffic | None
    bp: PhaseTraffic | None = None

    def phases(self, name: str) -> tuple[PhaseTraffic, ...]:
        """Return the phase, or nothing if the layer does not execute it; ``step`` means all
        phases.
        """
        names = COUNTED if name == "step" else (name,)
        found = (getattr(self, each) for each in names)
        return tuple(phase for phase in found if phase is not None)


def network_traffic(
    network: Network, images: int, count: Count | None = None
) -> tuple[LayerTraffic, ...]:
    """Return the traffic of every layer for a batch of ``images``.

    Raises:
        BadInput: no tile of a layer fits the memory of count ``board``, or the network has combined
            backward passes, which have no tiles.
    """
    counted = _Counted(network, images, count or Count())
    backward = {"dp": counted.delta, "ku": counted.update, ONE_PASS: counted.backward}

    def back(layer: Layer) -> dict[str, PhaseTraffic | None]:
        return {
            phase: counted(layer) if has_phase(network, layer, phase) else None
            for phase, counted in backward.items()
        }

    return tuple(
        LayerTraffic(layer, fp=counted.forward(layer), **back(layer)) for layer in network.layers
    )


def inference_traffic(network: Network, images: int) -> tuple[tuple[Layer, PhaseTraffic], ...]:
    """Return the traffic of each layer in inference: kernels and biases once, and no masks.

    The map between two fused layers is not output.
    """
    counted = _Counted(network, images, Count(name="all"))
    found = []
    for layer in network.layers:
        phase = counted.forward(layer)
        kept = {"state_out", "map_out"} if layer.name in network.layer_fusion[:1] else {"state_out"}
        streams = {port: moved for port, moved in phase.streams.items() if port not in kept}
        found.append((layer, PhaseTraffic(phase.operations, streams)))
    return tuple(found)


def fused_traffic(network: Network, shape: FusedShape, images: int, *, state: bool) -> PhaseTraffic:
    """Return the traffic of the two layers of ``shape`` in one pass.

    ``shape`` has a group of the first layer that ``network`` fuses, and its groups of the second
    layer. With ``state``, in a training step, the map between them is also output, with the masks
    of both.
    """
    runs = network.layer(network.layer_fusion[0]).groups
    words = fused_port_words(shape, images, state=state)

    def width(port: str) -> int:
        return 1 if port.endswith("state_out") else element_bytes("ff", port, network)

    streams = {port: runs * count * width(port) for port, count in words.items()}
    return PhaseTraffic(2 * runs * shape.macs(images), streams)


def total(layers: Iterable[LayerTraffic], phase: str) -> PhaseTraffic:
    """Sum ``phase`` (``fp``, ``dp``, ``ku``, ``bp``, or ``step``: all) over the layers with it."""
    found = [each for layer in layers for each in layer.phases(phase)]
    streams: dict[str, int] = {}
    for each in found:
        for port, count in each.streams.items():
            streams[port] = streams.get(port, 0) + count
    return PhaseTraffic(
        sum(each.operations for each in found), streams, sum(each.momentum for each in found)
    )


@dataclass(frozen=True)
class _Counted:
    """Traffic of the layers of one batch, by one count."""

    network: Network
    images: int
    count: Count

    @property
    def _full(self) -> bool:
        return self.count.name != "maps"

    def _once(self, phase: str, port: str, words: int) -> int:
        """Return the bytes of ``words`` elements on a port."""
        return words * element_bytes(phase, port, self.network)

    def _maps(self, phase: str, port: str, words: int) -> int:
        """Return the bytes of maps on a port that have ``words`` elements an image."""
        return self.images * self._once(phase, port, words)

    def _maps_in(self, layer: Layer) -> int:
        """Return the bytes of the input maps, once."""
        return self.images * layer.inputs * self.network.at(layer).stored_input.bytes

    def _partial(self, words: int) -> int:
        """Return the bytes of partial sums of ``words`` elements an image, in the arithmetic's
        format.
        """
        return self.images * words * self.network.fmt.bytes

    def _state_read(self, undone: Layer, reader: Layer) -> int:
        """Return the bytes of the mask of ``undone`` that ``reader`` reads, a pass for each of its
        groups.

        A layer may have more or fewer groups than the layer in front. It then reads the mask in
        other strings than those that were written.
        """
        maps = undone.biases // reader.groups
        once = state_read_bytes(
            undone.shape, maps, self.images, self.count.state, activation_bits(self.network)
        )
        return reader.groups * once

    def _state_written(self, layer: Layer) -> int:
        once = state_written_bytes(
            layer.shape, self.images, self.count.state, activation_bits(self.network)
        )
        return layer.groups * once

    def _delta(self, phase: str, port: str, layer: Layer) -> int:
        """Return the bytes of the delta of a layer's output on a port, as it is stored."""
        return self._maps(phase, port, layer.outputs if self.count.pooled else layer.sums)

    def _stored_as(self, layer: Layer) -> Layer:
        """Return the layer whose stored delta represents that of ``layer``."""
        return stored_as(self.network, layer) if self.count.pooled else layer

    def forward(self, layer: Layer) -> PhaseTraffic:
        """Return the traffic of FP: maps in and out, kernels, biases, and masks for backward
        propagation.

        The second of two fused layers gets its maps on chip. In a training step the first layer
        also outputs them, for the kernel update.
        """
        self._check_fused()
        shape = layer.shape
        maps_in, sums = self._maps_in(layer), self._partial(layer.sums)
        if layer.name in self.network.layer_fusion[1:]:
            maps_in = 0  # passed from the layer in front, on chip
        pooled = self._maps("fp", "map_out", layer.outputs)

        def maps_out(tiling: Tiling) -> int:
            # If input maps are cut, partial sums are written and read again; the last part pools.
            return pooled + (2 * tiling.inputs - 2) * sums

        tiling = self._tiling(
            where=f"layer {layer.name}",
            inputs=shape.n,
            outputs=shape.m,
            k=shape.k,
            columns=shape.columns,
            cost=lambda t: t.outputs * maps_in + maps_out(t),
        )
        streams = {"map_in": tiling.outputs * maps_in, "map_out": maps_out(tiling)}
        if layer.add is not None:
            streams["add_in"] = self._maps("fp", "add_in", layer.sums)
        if self._full:
            streams["kernel"] = self._once("fp", "kernel", layer.kernels)
            streams["bias"] = self._once("fp", "bias", layer.biases)
            streams["state_out"] = self._state_written(layer)
        return PhaseTraffic(layer.operations(self.images), streams)

    def _check_fused(self) -> None:
        """Refuse tiles of layers that are fused.

        Raises:
            BadInput: the count is ``board`` without a board, whose plan would size the fused pass.
        """
        if self.network.layer_fusion and self.count.name == "board":
            raise BadInput(
                f"{self.network.name}: layer_fusion: count board without a board cuts layers, and "
                "fused layers are whole: allowed are counts maps, all, a board, or no "
                "layer_fusion"
            )

    def delta(self, layer: Layer) -> PhaseTraffic:
        """Return the traffic of DP: the layer's delta in, that of the layer in front out.

        The output has passed ReLU' and un-pooling of the layer in front. With deltas at pooled
        resolution, the layer's own mask expands its delta at the input.
        """
        shape, earlier = layer.shape, behind(self.network, layer)
        stored = self._stored_as(layer)
        delta_in = self._delta("dp", "delta_in", stored)
        delta_out = self._delta("dp", "delta_out", earlier)
        undone = stored if self.count.pooled else earlier
        state = self._state_read(undone, layer) if self._full else 0
        expand = state if self.count.pooled else 0
        sums = self._partial(layer.inputs)

        def out(tiling: Tiling) -> int:
            return (2 * tiling.inputs - 2) * sums + delta_out

        tiling = self._tiling(
            where=f"layer {layer.name}",
            inputs=shape.m,
            outputs=shape.n,
            k=shape.k,
            columns=shape.out_columns,
            cost=lambda t: t.outputs * (delta_in + expand) + out(t),
        )
        streams = {"delta_in": tiling.outputs * delta_in, "delta_out": out(tiling)}
        if self._full:
            streams["kernel"] = self._once("dp", "kernel", layer.kernels)
            streams["state_in"] = tiling.outputs * expand if self.count.pooled else state
        return PhaseTraffic(layer.operations(self.images), streams | self._begun(layer))

    def _begun(self, layer: Layer) -> dict[str, int]:
        """Return the traffic of the start of delta propagation's sums: once, by the first part.

        The delta of another layer's sums is read as it is stored, with the mask that expands it.
        """
        if not begun(self.network, layer):
            return {}
        start = beside(self.network, layer)
        if start is None or not self.count.pooled:
            return {"add_in": self._maps("dp", "add_in", layer.inputs)}
        return {
            "add_in": self._delta("dp", "add_in", start),
            "add_state_in": self._state_read(start, layer),
        }

    def update(self, layer: Layer) -> PhaseTraffic:
        """Return the traffic of KU: input maps, the layer's delta, old and new kernels and
        biases.
        """
        shape, stored = layer.shape, self._stored_as(layer)
        maps_in = self._maps_in(layer)
        delta_in = self._delta("ku", "delta_in", stored)
        expand = self._state_read(stored, layer) if self.count.pooled else 0
        tiling = self._tiling(
            where=f"layer {layer.name}",
            inputs=shape.n,
            outputs=shape.m,
            k=shape.k,
            columns=shape.columns,
            cost=lambda t: t.outputs * maps_in + t.inputs * (delta_in + expand),
        )
        streams = {"map_in": tiling.outputs * maps_in, "delta_in": tiling.inputs * delta_in}
        if not self._full:
            return PhaseTraffic(layer.operations(self.images), streams)
        counts = {"kernel": layer.kernels, "bias": layer.biases}
        counts |= {f"{name}_out": count for name, count in counts.items()}
        streams["state_in"] = tiling.inputs * expand
        streams |= {port: self._once("ku", port, count) for port, count in counts.items()}
        return PhaseTraffic(
            layer.operations(self.images), streams, momentum=velocity_bytes(layer, self.network)
        )

    def backward(self, layer: Layer) -> PhaseTraffic:
        """Return the traffic of DP and KU in one pass; delta, mask and kernels are read only once.

        New kernels are computed from the kernels that DP read.

        Raises:
            BadInput: on count ``board``, which cuts layers into tiles.
        """
        if self.count.name == "board":
            raise BadInput(
                f"{self.network.name}: backward: one pass takes whole layers, count board cuts "
                f'them: allowed are backward = "{SEPARATE}", or counts maps, all'
            )
        halves = self.delta(layer), self.update(layer)
        streams: dict[str, int] = {}
        for half in halves:
            for port, count in half.streams.items():
                streams[port] = max(count, streams.get(port, 0))
        return PhaseTraffic(
            phase_operations(layer, ONE_PASS, self.images),
            streams,
            momentum=sum(half.momentum for half in halves),
        )

    def _tiling(
        self,
        *,
        where: str,
        inputs: int,
        outputs: int,
        k: int,
        columns: int,
        cost: Callable[[Tiling], int],
    ) -> Tiling:
        if self.count.name != "board":
            return Tiling(1, 1)
        return best_tiling(
            where=where,
            inputs=inputs,
            outputs=outputs,
            k=k,
            columns=columns,
            words=self.count.memory_bytes // self.network.fmt.bytes,  # in the arithmetic's format
            cost=cost,
        )


def velocity_bytes(layer: Layer, stores: Stores) -> int:
    """Return the bytes of the velocities of a layer's kernels and biases, read and written once."""
    counts = {"kernel": layer.kernels, "bias": layer.biases}
    return sum(
        words * element_bytes("ku", f"{name}_velocity_{way}", stores)
        for name, words in counts.items()
        for way in ("in", "out")
    )


def step_bytes(network: Network, batch: int, count: Count) -> Mapping[str, int]:
    """Return the bytes that one training step moves, by phase, from the closed form; all layers.

    ``momentum`` is the share of velocities (read and written); no phase includes it.
    """
    return phase_bytes(network_traffic(network, batch, count), phases_counted(network))


def phase_bytes(layers: Collection[LayerTraffic], phases: Iterable[str]) -> dict[str, int]:
    """Return the bytes of a step by phase, of all phases (``step``), and of velocities
    (``momentum``).
    """
    found = {phase: total(layers, phase) for phase in (*phases, "step")}
    counts = {phase: each.bytes for phase, each in found.items()}
    return counts | {"momentum": found["step"].momentum}
