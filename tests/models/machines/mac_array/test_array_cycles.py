from dataclasses import replace

import pytest

from merp.models.machines.mac_array.array_cycles import delta_slots, forward_slots, update_slots
from merp.models.machines.mac_array.geometry import Geometry, geometry
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.rtl_compiler.networks import cifar
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

ARRAY = Array(pof=64)


def geometries(network: Network) -> list[Geometry]:
    return [geometry(network, layer) for layer in network.layers]


@pytest.mark.parametrize("times", [1, 2, 4])
def test_networks_are_those_of_the_files(times: int) -> None:
    ours, shipped = cifar(times), open_network(f"cifar10-{times}x")
    assert [each.shape for each in ours.layers] == [each.shape for each in shipped.layers]
    assert geometries(ours) == geometries(shipped)


@pytest.mark.parametrize(
    ("times", "slots", "gain"),
    [
        (1, (10_672, 9856, 17_424), 3.94),
        (2, (20_912, 19_072, 33_824), 3.97),
        (4, (41_392, 37_504, 66_624), 3.98),
    ],
)
def test_slots_of_the_papers_networks(times: int, slots: tuple[int, ...], gain: float) -> None:
    layers, maps = geometries(cifar(times)), Array(pof=16 * times)
    counts = (forward_slots, delta_slots, update_slots)
    assert tuple(sum(count(layer, maps) for layer in layers) for count in counts) == slots
    plain = sum(update_slots(layer, replace(maps, balance=False)) for layer in layers)
    assert plain / slots[2] == pytest.approx(gain, abs=0.005)


def test_a_fully_connected_layer_is_a_convolution_of_its_maps() -> None:
    *_, last = geometries(cifar(1))
    assert (last.n, last.m, last.k, last.rows, last.out_rows) == (64, 10, 4, 4, 1)
    assert last.kernels == 10_240


def test_fully_connected_behind_another_or_a_large_map_stays() -> None:
    network = open_network("alexnet")
    fc6, fc7 = (geometry(network, network.layer(name)) for name in ("fc6", "fc7"))
    assert (fc6.n, fc6.k) == (256, 6)
    assert (fc7.n, fc7.k) == (4096, 1)


def test_strides_groups_and_large_kernels() -> None:
    network = open_network("alexnet")
    conv1, conv2, *_ = geometries(network)
    assert forward_slots(conv1, ARRAY) == 3 * 121 * 49 * 2
    assert delta_slots(conv1, ARRAY) == 0
    assert update_slots(conv1, ARRAY) == 2 * 3 * 4 * 55 * 55  # 11 x 11 in four sweeps of 8 x 8
    assert update_slots(conv2, ARRAY) == 2 * 2 * 48 * 27 * 27
    assert delta_slots(conv2, ARRAY) == 2 * 128 * 25 * 16 * 1
