"""Kernels of fully connected layers: as the network has them, and as the array does."""

from __future__ import annotations

import numpy as np

from merp.models.machines.mac_array.fixed_forward import Numbers
from merp.models.machines.mac_array.params.array_pass import ArrayPass


def in_array(of: ArrayPass, kernels: Numbers) -> Numbers:
    """Kernels (m, n, k, k) as the array has them: of fully connected layers windows of maps.

    The network's are of flattened maps: row, column, map.
    """
    if kernels.shape[1:] == (of.inputs, of.kernel, of.kernel):
        return kernels
    whole = kernels.reshape(len(kernels), of.kernel, of.kernel, of.inputs)
    return np.ascontiguousarray(whole.transpose(0, 3, 1, 2))


def as_stored(kernels: Numbers, shape: tuple[int, ...]) -> Numbers:
    """Kernels of the array as the network has them; undoes ``in_array``."""
    if kernels.shape == shape:
        return kernels
    return np.ascontiguousarray(kernels.transpose(0, 2, 3, 1)).reshape(shape)
