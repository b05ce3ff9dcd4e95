"""A network is a mapping of layers, and goes to other processes as it is."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import merp
from merp.models.network.network_file import read_network
from merp.tools.common.shipped import DATA


def bytes_of(net: merp.Network) -> int:
    """Work of another process."""
    return net.traffic(batch=2, count="all").total().bytes


def test_what_a_mapping_has() -> None:
    net = merp.load("tiny3")
    names = ["conv1", "conv2", "fc3"]
    assert list(net) == list(net.keys()) == names
    assert len(net) == 3
    assert [layer.name for layer in net.values()] == names
    assert [(name, layer.name) for name, layer in net.items()] == [(n, n) for n in names]
    assert "conv2" in net
    assert net.get("conv2") == net["conv2"]
    assert dict(net) == dict(merp.load("tiny3"))


@pytest.mark.parametrize("key", ["x", "conv1+conv2", 5, None, ("conv1",)])
def test_a_name_that_it_does_not_have(key: object) -> None:
    net = merp.load("tiny3")
    assert key not in net
    assert net.get(key) is None  # type: ignore[call-overload]
    assert net.get(key, "other") == "other"  # type: ignore[call-overload]
    with pytest.raises(KeyError) as told:
        net[key]  # type: ignore[index]
    assert isinstance(told.value, merp.BadInput)
    assert "allowed is" in str(told.value) or "allowed are conv1, conv2, fc3" in str(told.value)
    assert not str(told.value).startswith(("'", '"'))


def test_equal_networks_are_equal() -> None:
    net = merp.load("tiny3")
    assert net == merp.load("tiny3")
    assert net != merp.load("digits")
    assert net != {}
    assert {net["conv1"], merp.load("tiny3")["conv1"]} == {net["conv1"]}


SHIPPED = sorted(path.stem for path in DATA.glob("*.toml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_it_pickles_and_copies(name: str) -> None:
    net, network = merp.load(name), read_network(DATA / f"{name}.toml")
    assert pickle.loads(pickle.dumps(net)) == copy.deepcopy(net) == net
    assert pickle.loads(pickle.dumps(network)) == copy.deepcopy(network) == network


def test_answers_pickle() -> None:
    net = merp.load("tiny3")
    run = net["conv1"].run()
    simulated = net.simulate(layer="conv1")
    for each in (net["conv1"], run, simulated, net.traffic(2), net.plan("kc705", 2)):
        assert repr(pickle.loads(pickle.dumps(each))) == repr(each)
    again = pickle.loads(pickle.dumps(simulated))
    assert again.json() == simulated.json()


def test_another_process_takes_it(tmp_path: Path) -> None:
    net = merp.load("tiny3")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(bytes_of, net).result() == bytes_of(net)
