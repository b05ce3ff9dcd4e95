"""The golden step of a layer on the first rows of its maps, as if they had no more.

The hardware is the same, built for the whole layer: how many rows there are is one of its
registers. Padding follows the last row, and the formula, the walk and the golden model are those
of the shorter maps.
"""

from __future__ import annotations

import numpy as np

from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.layer_step import LayerStep
from merp.models.network.network import Layer, Network


def step_of(network: Network, layer: Layer, cut: Layer, whole: GoldenStep) -> LayerStep:
    """The golden step of ``cut``, made of ``layer``, on the input of ``layer`` in ``whole``."""
    x = np.ascontiguousarray(whole.x(layer)[:, : cut.shape.rows])
    add = whole.add(layer)
    if add is not None:
        add = np.ascontiguousarray(add[:, : cut.shape.out_rows])
    return LayerStep(network, cut, x, whole.parameters[layer.name], add=add)
