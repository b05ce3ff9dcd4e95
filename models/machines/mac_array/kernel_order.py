"""Convert the kernels of fully connected layers between the network's and the array's order."""

from __future__ import annotations

import numpy as np

from merp.models.machines.mac_array.fixed_forward import Numbers
from merp.models.machines.mac_array.params.array_pass import ArrayPass


def in_array(of: ArrayPass, kernels: Numbers) -> Numbers:
    """Convert kernels of the network into the array's order (m, n, k, k).

    In the network, the kernels of a fully connected layer belong to flattened maps, in the order
    row, column, map. In the array they are windows over whole maps. Other kernels stay as they are.
    """
    if kernels.shape[1:] == (of.inputs, of.kernel, of.kernel):
        return kernels
    whole = kernels.reshape(len(kernels), of.kernel, of.kernel, of.inputs)
    return np.ascontiguousarray(whole.transpose(0, 3, 1, 2))


def as_stored(kernels: Numbers, shape: tuple[int, ...]) -> Numbers:
    """Convert kernels of the array into the network's order; the inverse of ``in_array``."""
    if kernels.shape == shape:
        return kernels
    return np.ascontiguousarray(kernels.transpose(0, 2, 3, 1)).reshape(shape)
