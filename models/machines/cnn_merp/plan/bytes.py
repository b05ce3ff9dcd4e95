"""Bytes on CNN-MERP's ports, by formula."""

from __future__ import annotations

from merp.models.network.network import Network
from merp.models.traffic.bytes import Bytes
from merp.models.traffic.closed_form import LayerTraffic, network_traffic
from merp.models.traffic.footing import Footing


def _layers(network: Network, batch: int, footing: Footing) -> tuple[LayerTraffic, ...]:
    if footing.name != "board" or footing.board is None:
        return network_traffic(network, batch, footing)
    from merp.models.machines.cnn_merp.plan.plan import plan  # NumPy takes long to import
    from merp.models.machines.cnn_merp.plan.traffic import board_traffic

    return board_traffic(network, plan(network, footing.board, batch, state=footing.state))


def _caption(footing: Footing) -> str:
    counted = {
        "paper": "Footing paper: feature and delta maps only.",
        "full": "Footing full: maps, kernels, biases, and state for ReLU' and un-pooling",
        "board": "Footing board (modelled): as full, in",
    }[footing.name]
    if footing.name == "full":
        counted += f" (state bits: {footing.state})."
    if footing.name == "board":
        fitting = f"tiles that fit the on-chip memory of {footing.memory_bytes:,} bytes"
        if footing.board is not None:
            fitting = f"the passes of the plan on board {footing.board.name}"
        counted += f" {fitting} (state bits: {footing.state})."
    return f"{counted} MB = 10^6 bytes; Gop = 10^9 operations, the same in each phase."


BYTES = Bytes(layers=_layers, caption=_caption)
