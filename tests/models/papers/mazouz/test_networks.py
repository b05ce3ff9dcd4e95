import pytest

from merp.models.network.network import Network
from merp.models.papers.mazouz.networks import NETWORKS
from merp.tools.common.shipped import open_network


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_the_paper_s_networks_are_those_of_the_files(network: Network) -> None:
    assert open_network(network.name) == network
