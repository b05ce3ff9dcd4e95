"""Whether CNN-MERP runs the layers of a network as the network says."""

from __future__ import annotations

from merp.models.machines.cnn_merp.fused_pair import check_fusable
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network


def check_network(network: Network) -> None:
    """Check that layers go back in one pass, and two are fused, as a network says.

    Raises:
        BadInput: it cannot go back as it says, or its layers cannot be fused as it says.
    """
    check_backward(network)
    check_fusable(network)
