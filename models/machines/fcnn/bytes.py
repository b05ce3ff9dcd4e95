"""Bytes on the ports of F-CNN's modules, by formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.machines.fcnn.phases import PHASES, design_of
from merp.models.machines.fcnn.runs import check_run
from merp.models.machines.fcnn.words import MAPS, STATE, work_of
from merp.models.network.network import Layer, Network
from merp.models.network.phase import DELTAS, FORWARD, UPDATE
from merp.models.network.phases import has_phase
from merp.models.traffic.bytes import Bytes
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic
from merp.models.traffic.count import Count


def _layers(network: Network, batch: int, count: Count) -> list[LayerTraffic]:
    if count.board is not None:
        raise BadInput(
            f"{mention('count', count.name)}: {network.name} runs on fcnn, whose plans do not "
            "divide layers: allowed are maps, all"
        )
    for layer in network.layers:
        check_run(layer.shape, batch, design_of(network, layer), f"{network.name}: {layer.name}")
    found = []
    for layer in network.layers:
        forward = _phase(network, layer, FORWARD, batch, count)
        assert forward is not None
        deltas, update = (_phase(network, layer, name, batch, count) for name in (DELTAS, UPDATE))
        found.append(LayerTraffic(layer, fp=forward, dp=deltas, ku=update))
    return found


def _phase(
    network: Network, layer: Layer, counted: str, batch: int, count: Count
) -> PhaseTraffic | None:
    """Return the traffic of the modules whose bytes a phase includes; None without one.

    Un-pooling has no multiply-adds. It is all that the first layer has of delta propagation.
    """
    names = [phase.name for phase in PHASES if phase.counted_as == counted]
    having = [name for name in names if has_phase(network, layer, name)]
    if not having:
        return None
    moved: Counter[str] = Counter()
    for name in having:
        for port, size in _bytes(network, layer, name, batch):
            if count.name != "maps" or port in MAPS:
                moved[port] += size * layer.groups
    return PhaseTraffic(layer.operations(batch) if counted in having else 0, moved)


def _bytes(network: Network, layer: Layer, phase: str, batch: int) -> Iterator[tuple[str, int]]:
    """Yield the bytes on each port of a module for one group."""
    for port, words in work_of(network, layer, phase, batch).words.items():
        if words:
            yield port, words * word_bytes(network, port)


def word_bytes(network: Network, port: str) -> int:
    """Return the bytes of a word on a port."""
    return 1 if port in STATE else network.fmt.bytes


def _caption(count: Count) -> str:
    what = "maps, partial sums and deltas" if count.name == "maps" else "all words"
    return (
        f"Count {count.name}: {what} on the modules' ports; fp with pooling, dp with un-pooling. "
        "MB = 10^6 bytes; Gop = 10^9 operations, the same in each phase."
    )


BYTES = Bytes(layers=_layers, caption=_caption)
