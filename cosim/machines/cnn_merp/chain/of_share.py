"""Select a share's part of a layer's arrays."""

from __future__ import annotations

import numpy as np

from merp.models.base.bits import Bits
from merp.models.golden.training import Updated
from merp.models.machines.cnn_merp.chain.shares import Share


def own_maps(words: Bits, share: Share, axis: int) -> Bits:
    """Return the words of the share's input maps."""
    return np.ascontiguousarray(np.moveaxis(np.moveaxis(words, axis, 0)[share.maps], 0, axis))


def updated_share(pair: Updated, share: Share) -> Updated:
    """Return the kernels of the share, the biases, and their velocities."""
    parameters, velocities = (
        (own_maps(k, share, 1), b) for k, b in (pair.parameters, pair.velocities)
    )
    return Updated(parameters, velocities)
