"""Count the traffic of two fused layers by walking the schedules of both."""

from __future__ import annotations

from merp.models.base.fused_shape import FusedShape
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.traffic.backward_counter import state_bytes
from merp.models.machines.cnn_merp.traffic.counter import walk
from merp.models.traffic.strategies import LEVELS


def fused_words(shape: FusedShape, images: int, design: FusedDesign) -> dict[str, int]:
    """Return the words (of the mask: bytes) that cross each port in a pass of two fused layers.

    The first layer's schedule outputs the map between them, and the second layer's schedule reads
    it.

    Raises:
        ValueError: the second layer reads other words than the first layer outputs.
    """
    first = walk(shape.first, LEVELS[-1], design.first.n_cu, design.first.d)
    second = walk(shape.second, LEVELS[-1], design.second.n_cu, design.second.d)
    if first.sums != shape.groups * second.maps:
        raise ValueError(f"{first.sums} words pass between the layers, not {second.maps}")
    counts = {
        "map_in": images * first.maps,
        "kernel": first.kernels,
        "bias": first.biases,
        "second_kernel": shape.groups * second.kernels,
        "second_bias": shape.groups * second.biases,
        "map_out": images * shape.groups * second.sums,
    }
    if design.second.state:
        own, behind = shape.first, shape.second
        counts |= {
            "between_out": images * first.sums,
            "between_state_out": state_bytes(own, own.m, images),
            "state_out": shape.groups * state_bytes(behind, behind.m, images),
        }
    return counts
