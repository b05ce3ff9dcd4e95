"""A check that CNN-MERP supports the network's combined backward pass and fused layers."""

from __future__ import annotations

from merp.models.machines.cnn_merp.fused_pair import check_fusable
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network


def check_network(network: Network) -> None:
    """Check that CNN-MERP can run the network's combined backward pass and fused layers, if any.

    Raises:
        BadInput: a layer cannot run backward as the network requests, or its layers cannot be
            fused.
    """
    check_backward(network)
    check_fusable(network)
