"""Which arrays in memory the streams of a pass of a training step read and write."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.network.branches import added, beside, previous, stored_as
from merp.models.network.network import Layer, Network
from merp.models.network.phases import made_by, phase_on


class Operand(NamedTuple):
    """An array in memory.

    Attributes:
        array: ``images``, ``maps``, ``state``, ``deltas``, ``kernels`` or ``biases``; ``maps`` are
            outputs, and ``deltas`` of sums, or where these lie at pooled resolution, of outputs.
        layer: whose; None for the images.
    """

    array: str
    layer: str | None


def operand(network: Network, layer: Layer, phase: str, port: str, *, before: bool) -> Operand:
    """The array that ``port`` reads or writes in a pass of ``layer``, of two fused ones the first.

    Propagations to one input follow each other on the way back: each but the first starts at what
    the one before it has left in the same array. A delta of sums that are added stands for that of
    what is added to them, too.

    before: deltas lie at pooled resolution.

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
