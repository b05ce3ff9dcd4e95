"""Calculate the bytes on the MAC array's ports by formula."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.machines.mac_array.array_traffic import OF_VELOCITIES
from merp.models.machines.mac_array.step_traffic import array_traffic
from merp.models.network.network import Network
from merp.models.traffic.bytes import Bytes
from merp.models.traffic.closed_form import LayerTraffic
from merp.models.traffic.count import Count


def _layers(network: Network, batch: int, count: Count) -> tuple[LayerTraffic, ...]:
    if count.board is not None:
        raise BadInput(
            f"{mention('count', count.name)}: {network.name} runs on the MAC array, which has "
            "no plan on a board: allowed are paper, full"
        )
    return array_traffic(network, batch, count)


def _caption(count: Count) -> str:
    what = "maps and deltas" if count.name == "maps" else "all words except velocities"
    pooling = "fused" if count.pooled else "in DRAM"
    return (
        f"Count {count.name}: {what} on the array's ports, padded to whole atoms; pooling "
        f"and un-pooling {pooling}. MB = 10^6 bytes; Gop = 10^9 operations."
    )


BYTES = Bytes(layers=_layers, caption=_caption, velocities=OF_VELOCITIES)
