"""The golden step of a layer on the first rows of its maps.

The hardware is unchanged, because the number of rows is one of its registers. Padding follows the
last row. The formula, the schedule walker and the golden model calculate with the shorter maps.
"""

from __future__ import annotations

import numpy as np

from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.layer_step import LayerStep
from merp.models.network.network import Layer, Network


def step_of(network: Network, layer: Layer, cut: Layer, whole: GoldenStep) -> LayerStep:
    """Return the golden step of ``cut``, made from ``layer``, on the input of ``layer`` in
    ``whole``."""
    x = np.ascontiguousarray(whole.x(layer)[:, : cut.shape.rows])
    add = whole.add(layer)
    if add is not None:
        add = np.ascontiguousarray(add[:, : cut.shape.out_rows])
    return LayerStep(network, cut, x, whole.parameters[layer.name], add=add)
