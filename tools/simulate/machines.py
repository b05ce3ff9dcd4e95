"""The machines that can be simulated: a row for every type of design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merp.models.architectures import Design
from merp.models.network.network import Layer, Network
from merp.models.params.cnn_merp import design as cnn_merp
from merp.models.params.mac_array import design as mac_array
from merp.tools.simulate.cnn_merp import CnnMerp
from merp.tools.simulate.mac_array import MacArray
from merp.tools.simulate.machine import Machine

MACHINES: Mapping[type[Design], Machine] = {
    cnn_merp.Design: CnnMerp(),
    mac_array.Design: MacArray(),
}


def machine_of(network: Network, layers: Sequence[Layer]) -> Machine:
    """That of ``layers``, each of which has a design of one architecture."""
    return MACHINES[type(network.elaboration(layers[0]))]
