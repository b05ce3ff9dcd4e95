"""Networks whose tensors lie in memory in formats of their own."""

from dataclasses import replace

from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.storage import Storage
from merp.models.network.network import Network

MIXED = Storage(maps=BINARY32, deltas=BFLOAT16, kernels=BINARY16, gradients=BINARY32)
CROSSED = Storage(maps=BINARY32, deltas=BINARY32, kernels=BFLOAT16, gradients=BINARY16)
"""Between them no two tensors have the same widths, so that none can stand in for another."""


def stored(network: Network, storage: Storage | None = MIXED) -> Network:
    """The network so stored, and so each of its designs."""
    designs = {key: replace(each, storage=storage) for key, each in network.designs.items()}
    return replace(network, storage=storage, designs=designs)
