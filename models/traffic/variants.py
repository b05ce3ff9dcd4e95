"""What lies below the paper's traffic: each change alone, against the same base, none mixed.

The base moves everything once with the activation as state (footing ``full``), in the format of
the arithmetic, however the network is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE
from merp.models.params.byte_image import ByteImage
from merp.models.params.formats import BFLOAT16, format_name
from merp.models.params.storage import Storage, within
from merp.models.traffic.closed_form import LayerTraffic, Phase, network_traffic
from merp.models.traffic.footing import Footing


@dataclass(frozen=True)
class Variant:
    """One change of the base, and what moves then; ``built`` where the hardware does it."""

    name: str
    what: str
    built: bool
    layers: tuple[LayerTraffic, ...]


def variants(network: Network, images: int) -> tuple[Variant, ...]:
    """Return the base and each change of it."""
    network = replace(network, backward=SEPARATE)
    plain = replace(network, storage=None)
    full = Footing(name="full", state="32")
    base = network_traffic(plain, images, full)
    first, width = network.layers[0].name, 8 * network.fmt.bytes

    def changed(change: Callable[[str, str, Phase], Phase]) -> tuple[LayerTraffic, ...]:
        return tuple(
            replace(
                each,
                fp=change(each.layer.name, "fp", each.fp),
                dp=None if each.dp is None else change(each.layer.name, "dp", each.dp),
                ku=None if each.ku is None else change(each.layer.name, "ku", each.ku),
            )
            for each in base
        )

    def footing(state: str) -> tuple[LayerTraffic, ...]:
        return network_traffic(plain, images, Footing(name="full", state=state))

    def shared(name: str, phase: str, counts: Phase) -> Phase:
        # Both read the layer's delta; the first layer has no DP to share with.
        return _scaled(counts, ("delta_in",), 0) if phase == "ku" and name != first else counts

    fmt = network.fmt
    pixels = Storage(maps=fmt, deltas=fmt, kernels=fmt, gradients=fmt, image=ByteImage())
    return (
        Variant("base", f"footing full, the {width}-bit activation as state", False, base),
        Variant("masks", "a mask bit per element and a position per maximum", False, footing("1")),
        Variant(
            "pooled deltas", "deltas at pooled resolution, expanded on chip by masks and positions",
            True, footing("pooled"),
        ),
        Variant(
            "one read of delta", "DP and KU of a layer share one read of its delta", False,
            changed(shared),
        ),
        Variant(
            "8-bit images", "the first layer's input in 8 bit", True,
            network_traffic(replace(network, storage=pixels), images, full),
        ),
        _narrow(network, images),
    )  # fmt: skip


def _narrow(network: Network, images: int) -> Variant:
    """The network as it is stored; of one that is stored as it computes, maps in 16 bit."""
    footing = Footing(name="full", state="32")
    if network.storage is not None:
        what = ", ".join(f"{tensor} {name}" for tensor, name in network.storage.names().items())
        return Variant("as stored", what, True, network_traffic(network, images, footing))
    what, fmt = "maps, deltas and activation stored in bfloat16, kernels as they are", network.fmt
    if format_name(BFLOAT16) in within(fmt):
        storage = Storage(maps=BFLOAT16, deltas=BFLOAT16, kernels=fmt, gradients=fmt)
        network = replace(network, storage=storage)
    return Variant("16-bit maps", what, True, network_traffic(network, images, footing))


def _scaled(phase: Phase, ports: tuple[str, ...], factor: float) -> Phase:
    streams = {
        port: round(count * factor) if port in ports else count
        for port, count in phase.streams.items()
    }
    return replace(phase, streams=streams)
