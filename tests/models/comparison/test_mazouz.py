from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.mazouz import ARCHITECTURE, ScopedDesign, plan
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board, Usable
from merp.models.fpga.parts import PARTS
from merp.models.network.network import Network
from merp.models.papers.mazouz.networks import MNIST_SMALL
from merp.tools.common.shipped import open_network

BOARD = Board(name="zc7100", part=PARTS["xc7z100"], clock_mhz=200, gbytes_s=4.2, efficiency=1)


def options(network: Network, *, scope: str = "conv", batch: int = 1) -> Options:
    names = tuple(each.name for each in network.layers if scope == "all" or each.kind == "conv")
    return Options(scope=names, batch=batch)


def answer(
    network: Network, board: Board = BOARD, *, scope: str = "conv", batch: int = 1
) -> Record:
    return ARCHITECTURE.answer(network, board, options(network, scope=scope, batch=batch))


def test_the_fastest_design_of_the_front() -> None:
    chosen: ScopedDesign = plan(MNIST_SMALL, BOARD, options(MNIST_SMALL, scope="all"))
    assert chosen.design == (8, 8)
    record = answer(MNIST_SMALL, scope="all")
    assert record.interval_s.value == pytest.approx(2 * 1458 / 200e6)
    assert {kind: each.value for kind, each in record.devices[0].used.items()} == {
        "dsp": 72 * 19 + 160,
        "lut": 72 * 2200 + 10 * (400 + 8 * 20),
        "bram": (72 * 4 + 9 + 1) // 2 + 3,
    }
    assert record.fits


def test_samples_of_a_batch_overlap() -> None:
    one, many = answer(MNIST_SMALL, scope="all"), answer(MNIST_SMALL, scope="all", batch=1000)
    slowest = 2 * 1038.5 / 200e6
    assert many.interval_s.value == pytest.approx(one.interval_s.value + 999 * slowest)


def test_what_lies_on_the_chip() -> None:
    one, many = answer(MNIST_SMALL, scope="all"), answer(MNIST_SMALL, scope="all", batch=2)
    weights = 2 * (72 + 8 + 576 + 8 + 3920 + 10)
    memory = {"weights": weights, "gradients": weights, "features": 2 * (784 + 8 * 196 + 392)}
    assert {use: each.value for use, each in many.devices[0].memory.items()} == memory
    assert one.devices[0].memory["gradients"].value == 0
    assert many.devices[0].used["bram"].value == one.devices[0].used["bram"].value + 2


def test_useful_work_and_what_the_host_sends() -> None:
    network = open_network("lenet5")
    record = answer(network, scope="all", batch=4)
    phases = [3 if place else 2 for place in range(4)]
    assert record.macs == sum(
        count * layer.operations(4) // 2
        for count, layer in zip(phases, network.layers, strict=True)
    )
    assert record.bytes(("host",)).value == 4 * 2 * (28 * 28 + 10 + 10)


@pytest.mark.parametrize(("scope", "kinds"), [("conv", {"bram"}), ("all", {"dsp", "lut", "bram"})])
def test_alexnet_does_not_fit_on_chip(scope: str, kinds: set[str]) -> None:
    record = answer(open_network("alexnet"), scope=scope)
    assert {each.resource for each in record.violated} == kinds


def test_a_smaller_board_is_slower() -> None:
    half = replace(BOARD, usable=Usable(lut=0.5, dsp=0.5))
    network = open_network("cifar10-1x")
    assert answer(network, half).images_per_s.value < answer(network).images_per_s.value


def test_twice_the_clock_is_twice_as_fast() -> None:
    network, fast = open_network("cifar10-1x"), replace(BOARD, clock_mhz=400)
    twice = 2 * answer(network, batch=8).images_per_s.value
    assert answer(network, fast, batch=8).images_per_s.value == pytest.approx(twice, rel=1e-12)


def test_what_it_refuses() -> None:
    network = open_network("lenet5")
    with pytest.raises(BadInput, match="lenet5: mazouz begins with a convolution"):
        ARCHITECTURE.answer(network, BOARD, Options(scope=("fc3", "fc4")))
    with pytest.raises(BadInput, match="mazouz has no additions"):
        answer(open_network("resnet-digits"))
