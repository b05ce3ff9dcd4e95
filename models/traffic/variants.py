"""Training steps with less traffic than the paper's, each with its own conditions.

All rows move everything once (count ``all``). They are counted by the formula that checks the
hardware's ports. The first two have the paper's deltas, at the resolution of the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import BFLOAT16, FloatFormat, format_name
from merp.models.base.storage import Storage, StoredFormat, stored_name, within
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.traffic.closed_form import LayerTraffic, network_traffic
from merp.models.traffic.count import Count


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A training step with its own conditions.

    Attributes:
        name: the difference from the paper.
        network: with the storage formats and backward passes of the variant; its designs are
            unchanged.
        count: ``all``, with a kind of mask.
        layers: the traffic.
    """

    name: str
    network: Network
    count: Count
    layers: tuple[LayerTraffic, ...]

    @property
    def deltas(self) -> str:
        """Resolution at which deltas are stored."""
        return "pooled" if self.count.pooled else "sums"

    @property
    def formats(self) -> str:
        """Formats of maps, deltas, kernels and gradients."""
        storage = self.network.storage
        if storage is None:
            return format_name(self.network.fmt)
        tensors: dict[str, list[str]] = {}
        for tensor, name in storage.between_layers.names().items():
            tensors.setdefault(name, []).append(tensor)
        if len(tensors) == 1:
            return next(iter(tensors))
        return "; ".join(f"{', '.join(each)} {name}" for name, each in tensors.items())

    @property
    def image(self) -> str:
        """Format of the images."""
        stored = self.network.stored_input
        return "uint8" if isinstance(stored, ByteImage) else stored_name(stored)

    @property
    def backward(self) -> str:
        """Whether backward propagation is one pass or separate ones."""
        return self.network.backward

    @property
    def fused(self) -> str:
        """Layers of one pass in forward propagation."""
        return "+".join(self.network.layer_fusion) or "none"


def variants(network: Network, images: int, pair: tuple[str, ...] = ()) -> tuple[Variant, ...]:
    """Return the paper's step, and the variants below it, the fewest changes first.

    If the network stores tensors in other formats than it computes in, these formats are used;
    otherwise bfloat16 for maps and deltas.

    Args:
        pair: names of two layers that can be fused, if any.
    """
    plain = replace(network, storage=None, backward=SEPARATE, layer_fusion=())

    def of(name: str, found: Network, state: str) -> Variant:
        count = Count(name="all", state=state)
        layers = network_traffic(found, images, count)
        return Variant(name=name, network=found, count=count, layers=layers)

    below = (of(name, found, "pooled") for name, found in changes(network, pair))
    return (of("base", plain, "32"), of("masks", plain, "1"), *below)


def changes(network: Network, pair: tuple[str, ...] = ()) -> Iterator[tuple[str, Network]]:
    """Yield a name and a changed network: pooled deltas, with each combination of further changes.

    Args:
        pair: as in ``variants``.
    """
    image = ByteImage()
    if network.storage is not None and isinstance(network.storage.image, ByteImage):
        image = network.storage.image
    formats = (None, *_narrow(network))
    fuses = ((), pair) if pair else ((),)
    for pair, narrow, stored_image, backward in product(
        fuses, formats, (None, image), (SEPARATE, COMBINED)
    ):
        names = ["pooled deltas"]
        names += ["one pass"] if backward == COMBINED else []
        names += ["8-bit images"] if stored_image else []
        names += [_said(network)] if narrow else []
        names += ["fused layers"] if pair else []
        storage = _stored(network.fmt, narrow, stored_image)
        yield (
            " + ".join(names),
            replace(network, storage=storage, backward=backward, layer_fusion=pair),
        )


def _said(network: Network) -> str:
    return "16-bit maps" if network.storage is None else "formats as stored"


def _narrow(network: Network) -> tuple[Storage, ...]:
    """Return the network's own storage formats if they are narrower than its arithmetic, if any."""
    fmt = network.fmt
    if network.storage is not None:
        own = network.storage.between_layers
        return () if own == Storage.alike(fmt) else (own,)
    if fmt == BFLOAT16 or format_name(BFLOAT16) not in within(fmt):
        return ()
    return (Storage(maps=BFLOAT16, deltas=BFLOAT16, kernels=fmt, gradients=fmt),)


def _stored(fmt: FloatFormat, narrow: Storage | None, image: StoredFormat | None) -> Storage | None:
    if narrow is None and image is None:
        return None
    found = narrow or Storage.alike(fmt)
    return replace(found, image=image)
