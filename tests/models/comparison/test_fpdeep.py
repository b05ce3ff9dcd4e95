from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.fpdeep import ARCHITECTURE, LATENCY
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board, Link, Usable
from merp.models.fpga.parts import PARTS
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.papers.fpdeep.shares import idle, in_units
from merp.models.papers.fpdeep.stage import stages
from merp.tools.common.shipped import open_network

LINK = Link(topology="chain", gbytes_s=1.64, lanes=6, latency_cycles=100)
BOARD = Board(
    name="vc709", part=PARTS["xc7vx690t"], clock_mhz=200, gbytes_s=29.9, efficiency=1, devices=15,
    usable=Usable(lut=0.8, ff=0.8, bram=0.8, dsp=0.8), link=LINK,
)  # fmt: skip
ALEXNET = open_network("alexnet")


def answer(
    network: Network,
    board: Board = BOARD,
    *,
    balance: str = "none",
    depth: int = LATENCY,
    grain: str = "unit",
) -> Record:
    scope = tuple(layer.name for layer in network.layers if layer.kind == "conv")
    options = Options(scope=scope, extra={"balance": balance, "depth": depth, "grain": grain})
    return ARCHITECTURE.answer(network, board, options)


def test_useful_work_is_that_of_the_network() -> None:
    record = answer(ALEXNET)
    for layer in ALEXNET.layers[:5]:
        for phase in PHASES:
            rows = [row for row in record.rows if (row.layer, row.phase) == (layer.name, phase)]
            macs = layer.operations(128) // 2 if has_phase(ALEXNET, layer, phase) else 0
            assert sum(row.macs for row in rows) == macs


def test_alexnet_on_15_boards() -> None:
    record = answer(ALEXNET)
    assert record.fits
    full = record.images_per_s.value * (127 + LATENCY) / 128  # the chain never empty
    assert full == pytest.approx(4430, rel=1e-3)
    host = [row.bytes["host"].value for row in record.rows if "host" in row.bytes]
    images, outputs, deltas = 128 * 2 * 3 * 224 * 224, 128 * 2 * 256 * 36, 128 * 2 * 256 * 36
    assert sorted(host) == sorted([images, outputs, deltas])
    assert record.bytes(("maps", "kernels", "partial")).value == 0


def test_what_leaves_a_board_crosses_one_link() -> None:
    record = answer(ALEXNET)
    linked = [row for row in record.rows if "link" in row.bytes]
    assert len(linked) == 2 * 14
    assert all(row.bytes["link"].value % (2 * 128) == 0 for row in linked)


def test_vgg_does_not_fit_and_says_where() -> None:
    record = answer(open_network("vgg16"))
    assert {(each.device, each.resource) for each in record.violated} >= {(0, "bram"), (14, "bram")}


def test_weights_that_other_boards_keep() -> None:
    tight = replace(BOARD, usable=Usable(bram=0.2, dsp=0.8))
    plain, balanced = answer(ALEXNET, tight), answer(ALEXNET, tight, balance="image")
    assert {each.device for each in plain.violated} == {0, 1, 11, 12, 13, 14}
    assert balanced.fits
    assert balanced.bytes(("link",)).value > plain.bytes(("link",)).value


def test_fewer_images_in_flight_keep_less_and_wait() -> None:
    four, one = answer(ALEXNET), answer(ALEXNET, depth=1)
    assert one.devices[0].memory["features"].value * 4 == four.devices[0].memory["features"].value
    assert one.interval_s.value / four.interval_s.value == pytest.approx(4 * 128 / (127 + LATENCY))
    assert answer(ALEXNET, depth=9).interval_s == four.interval_s


def test_vgg16_with_balanced_weights() -> None:
    """The first two boards have room for the features of one image, not for those of three."""
    network = open_network("vgg16")
    one, three = (answer(network, balance="image", depth=depth) for depth in (1, 3))
    assert {0, 1} & {each.device for each in one.violated} == set()
    assert {0, 1} <= {each.device for each in three.violated}


def test_the_papers_grain_idles_less_and_does_the_same_work() -> None:
    """As much as the shares of DSPs alone, where the chain is never empty."""
    some = stages(ALEXNET, ALEXNET.layers[:5])
    for nodes in (3, 15, 60):
        board = replace(BOARD, devices=nodes, link=replace(LINK, lanes=99))
        unit, fine = answer(ALEXNET, board), answer(ALEXNET, board, grain="dsp")
        assert fine.macs == unit.macs
        full = fine.busy.value * (127 + LATENCY) / 128
        assert 1 - full == pytest.approx(idle(some, in_units(some, nodes * 2880)), abs=1e-4)
    for extra in ({"balance": "image"}, {"costs": "ours"}):
        with pytest.raises(BadInput, match="--grain dsp: allowed only with --balance none and"):
            _grain_with(**extra)


def _grain_with(balance: str = "none", costs: str = "paper") -> None:
    extra = {"balance": balance, "depth": LATENCY, "grain": "dsp"}
    ARCHITECTURE.plan(ALEXNET, BOARD, Options(scope=("conv1",), costs=costs, extra=extra))


def test_slow_links_bind() -> None:
    slow = replace(BOARD, link=replace(LINK, lanes=1, gbytes_s=0.5))
    fast, bound = answer(ALEXNET), answer(ALEXNET, slow)
    assert bound.images_per_s.value < fast.images_per_s.value
    assert {row.binds for row in bound.rows} == {"link"}
    twice = replace(slow, clock_mhz=400, link=replace(LINK, lanes=1, gbytes_s=1.0))
    assert answer(ALEXNET, twice).images_per_s.value == pytest.approx(
        2 * bound.images_per_s.value, rel=1e-12
    )


@pytest.mark.parametrize(
    ("network", "board", "line"),
    [
        ("alexnet", replace(BOARD, link=None), "board vc709: link is missing"),
        ("resnet-digits", BOARD, "layer conv3 adds the output of conv1"),
        ("alexnet", replace(BOARD, devices=1, usable=Usable(dsp=0.01)), "of 36 DSPs: a unit of"),
    ],
    ids=["link", "addition", "dsps"],
)
def test_what_it_refuses(network: str, board: Board, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        answer(open_network(network), board)


def test_a_board_alone_needs_no_link() -> None:
    record = answer(ALEXNET, replace(BOARD, devices=1, link=None))
    assert record.bytes(("link",)).value == 0


def test_boards_without_a_map_are_told() -> None:
    network = open_network("lenet5")
    many = answer(network, replace(BOARD, devices=40))
    working = {row.device for row in many.rows}
    assert len(working) < 40
    assert many.notes[-1] == f"{40 - len(working)} of 40 boards have no map"
    assert "no map" not in " ".join(answer(ALEXNET).notes)


def test_boards_without_a_map_take_no_energy() -> None:
    powered = replace(BOARD, devices=40, power_w=31.2)
    record = answer(open_network("lenet5"), powered)
    working = len({row.device for row in record.rows})
    assert working < 40
    assert record.energy_j is not None
    assert record.energy_j.value == pytest.approx(working * 31.2 * record.interval_s.value)
    assert record.notes[-1].endswith("have no map: the energy is that of the others")
