"""Bytes on CNN-MERP's ports, by formula."""

from __future__ import annotations

from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.network.network import Network
from merp.models.traffic.bytes import Bytes
from merp.models.traffic.closed_form import LayerTraffic, network_traffic
from merp.models.traffic.count import Count


def _layers(network: Network, batch: int, count: Count) -> tuple[LayerTraffic, ...]:
    if count.name != "board" or count.board is None:
        return network_traffic(network, batch, count)
    from merp.models.machines.cnn_merp.plan.plan import plan  # NumPy imports slowly
    from merp.models.machines.cnn_merp.plan.traffic import board_traffic

    return board_traffic(network, plan(network, count.board, batch, state=count.state))


def _caption(count: Count) -> str:
    counted = {
        "maps": "Count maps: feature and delta maps only.",
        "all": "Count all: maps, kernels, biases, and state for ReLU' and un-pooling",
        "board": "Count board (modelled): as all, in",
    }[count.name]
    if count.name == "all":
        counted += f" (state bits: {count.state})."
    if count.name == "board":
        fitting = f"tiles that fit the on-chip memory of {count.memory_bytes:,} bytes"
        if count.board is not None:
            fitting = f"the passes of the plan on board {count.board.name}"
        counted += f" {fitting} (state bits: {count.state})."
    return f"{counted} MB = 10^6 bytes; Gop = 10^9 operations, the same in each phase."


BYTES = Bytes(layers=_layers, caption=_caption, velocities=VELOCITY_WORDS)
