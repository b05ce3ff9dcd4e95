"""Cycles of a training pipeline: the row-by-row simulator with engines as its servers.

The engines' own rates are those of the cycle model, between the first and the last slot of a long
batch. The simulator adds the waits between engines. Latencies of the engines are omitted, except
the latency of the update, which ends the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from merp.models.machines.cnn_merp.at_once.rows import PAIR, rows_of
from merp.models.machines.cnn_merp.cycle_causes import Cycles
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.network.network import Layer, Network
from merp.models.network.phases import NAMED, ONE_PASS, has_phase
from merp.models.rows.layout import Layout, Slice
from merp.models.rows.simulator import simulate


@dataclass(frozen=True, kw_only=True)
class PipelineCycles:
    """Cycles of a batch.

    Attributes:
        load: delay of the images by the loading of kernels.
        updated: by layer name: cycles from the first word in, without ``load``, until its new
            kernels have been output.
        interval: from image to image, on average over the second half of the batch.
    """

    load: int
    updated: Mapping[str, int]
    interval: float

    @property
    def total(self) -> int:
        """Cycles from the start until every engine is done."""
        return self.load + max(self.updated.values())


def pipeline_cycles(network: Network, images: int, depth: int) -> PipelineCycles:
    """Model a batch of ``images``, at most ``depth`` of them in flight.

    Raises:
        ValueError: a layer has no design.
    """
    layers = network.layers
    outcome = simulate(
        Layout(
            layers=rows_of(layers),
            slices=tuple(_slice(network, layer, place) for place, layer in enumerate(layers)),
            images=images,
            depth=depth,
        )
    )
    streams = {stream.what: index for index, stream in enumerate(outcome.graph.streams)}
    load, updated = 0, {}
    for layer in layers:
        for phase in _phases(network, layer):
            index = streams[f"{phase} {layer.name} on node 0"]
            cycles = _cycles(network, layer, phase, PAIR)
            if phase == "ku":
                updated[layer.name] = outcome.ends[index][-1] + cycles.drain
            else:  # the engines in front continue while this engine is loaded
                begin = outcome.ends[index][0] - outcome.graph.streams[index].cycles[0]
                load = max(load, cycles.kernel_load - begin)
    return PipelineCycles(load=load, updated=updated, interval=outcome.interval)


def _phases(network: Network, layer: Layer) -> list[str]:
    return [phase for phase in NAMED if phase != ONE_PASS and has_phase(network, layer, phase)]


def _cycles(network: Network, layer: Layer, phase: str, images: int) -> Cycles:
    found = layer_cycles(network, layer, phase, images)
    if found is None:
        raise ValueError(f"{network.name}: layer {layer.name} has no design")
    return found


def _slice(network: Network, layer: Layer, place: int) -> Slice:
    return Slice(
        node=0,
        layer=place,
        begin=Fraction(0),
        end=Fraction(1),
        cycles={phase: _of_image(network, layer, phase) for phase in _phases(network, layer)},
    )


def _of_image(network: Network, layer: Layer, phase: str) -> int:
    """Return the cycles of an image in a long batch: the increase for two more images, per
    image.
    """
    few, more = (_cycles(network, layer, phase, count * PAIR) for count in (1, 2))
    return -(-(more.total - few.total) // PAIR)
