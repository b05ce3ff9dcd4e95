"""The traffic of the single pass of two fused layers, for comparison with a record."""

from __future__ import annotations

from merp.models.machines.cnn_merp.fused_pair import fused_layers, fused_shape
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PAIR
from merp.models.traffic.closed_form import PhaseTraffic, fused_traffic


def fused_figure(network: Network, batch: int, *, state: bool) -> tuple[Layer, str, PhaseTraffic]:
    """Return the first of the layers that ``network`` fuses, the phase, and its bytes by port.

    Args:
        batch: number of images.
        state: true for a training step, false for inference.
    """
    shape = fused_shape(network, *fused_layers(network))
    figure = fused_traffic(network, shape, batch, state=state)
    return network.layer(network.layer_fusion[0]), PAIR, figure
