"""What machines say of a network and of their designs, asked without a machine's name."""

from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.network import registry
from merp.models.network.machine_checks import check_network
from merp.models.network.network_file import network_of
from merp.models.network.network_keys import COMBINED
from merp.tools.common.shipped import open_network, open_tables


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"backward": COMBINED}, "design array"),
        ({"layer_fusion": ("conv1", "conv2")}, "layer conv1"),
    ],
)
def test_a_phase_that_the_machine_lacks_is_refused(change: dict[str, object], where: str) -> None:
    network = replace(open_network("digits-fixed"), **change)
    with pytest.raises(BadInput) as error:
        check_network(network)
    assert str(error.value) == (
        f"digits-fixed: {where}: architecture = 'mac-array': allowed here is 'cnn-merp'"
    )
    check_network(replace(open_network("digits"), **change))


@pytest.mark.parametrize("name", ["digits", "lenet5", "alexnet", "vgg16-small", "digits-fixed"])
def test_written_designs_are_read_as_they_were(name: str) -> None:
    network, (file, tables) = open_network(name), open_tables(name)
    found = registry.design_tables(network)
    named = {key: {**table, "architecture": registry.machine_of(network.designs[key]).name}
             for key, table in found.items()}  # fmt: skip
    assert network_of(file, {**tables, "design": named}).designs == network.designs


def test_a_key_that_a_user_chose_is_written() -> None:
    file, tables = open_tables("digits")
    for table in tables["design"].values():
        table["partial"] = True
    network = network_of(file, tables)
    assert all(table["partial"] for table in registry.design_tables(network).values())
