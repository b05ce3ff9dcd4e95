"""The arrays in memory that the streams of a training step's pass read and write."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.network.branches import added, beside, previous, stored_as
from merp.models.network.network import Layer, Network
from merp.models.network.phases import made_by, phase_on


class Operand(NamedTuple):
    """An array in memory.

    Attributes:
        array: ``images``, ``maps``, ``state``, ``deltas``, ``kernels`` or ``biases``. ``maps`` are
            outputs. ``deltas`` belong to sums, or to outputs if they are stored at pooled
            resolution.
        layer: the layer; None for the images.
    """

    array: str
    layer: str | None


def operand(network: Network, layer: Layer, phase: str, port: str, *, before: bool) -> Operand:
    """Return the array for ``port`` in a pass of ``layer``, the first one of two fused layers.

    Several layers may propagate deltas to the same input. Their passes run one after the other, and
    each except the first starts at the result of the pass before it in the same array. If a layer
    adds another layer's output to its sums, the delta of these sums is also the delta of the
    addend.

    Args:
        before: whether deltas are stored at pooled resolution.

    Raises:
        KeyError: no package has such a port.
    """
    front, start = previous(network, layer), beside(network, layer)
    stored, made = stored_as(network, layer), made_by(network, layer, phase)
    array, whose = {
        "map_in": ("images" if front is None else "maps", front),
        "map_out": ("maps", made),
        "state_out": ("state", made),
        "between_out": ("maps", layer),
        "between_state_out": ("state", layer),
        "second_kernel": ("kernels", made),
        "second_bias": ("biases", made),
        "add_in": ("maps", added(network, layer))
        if phase_on(network, layer, phase).forward
        else ("deltas", start or front),
        "add_state_in": ("state", start),
        "delta_in": ("deltas", stored),
        "delta_out": ("deltas", front),
        "state_in": ("state", stored if before else front),
        "kernel": ("kernels", layer),
        "kernel_out": ("kernels", layer),
        "bias": ("biases", layer),
        "bias_out": ("biases", layer),
    }[port]
    return Operand(array, None if whose is None else whose.name)
