"""CNN-MERP's record: the numbers of the traffic model and of the planner, and no others."""

from dataclasses import replace

import pytest
from float_networks import FLOAT_NETWORKS

from merp.models.base.errors import BadInput
from merp.models.comparison.options import Options
from merp.models.comparison.record import DRAM, FULL
from merp.models.machines.cnn_merp.comparison.architecture import ARCHITECTURE, STATE, plan, record
from merp.models.machines.cnn_merp.plan.plan import plan as plan_on_board
from merp.models.machines.cnn_merp.plan.traffic import board_traffic
from merp.models.network.phases import PHASES
from merp.models.traffic.closed_form import network_traffic, total
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.plan.answer import plan_json


def conv(name: str, **more: object) -> Options:
    network = open_network(name)
    scope = tuple(layer.name for layer in network.layers if layer.kind == "conv")
    return Options(scope=scope, **more)  # type: ignore[arg-type]


def test_table_3_is_on_count_maps() -> None:
    found = ARCHITECTURE.answer(open_network("alexnet"), open_board("kc705"), conv("alexnet"))
    moved = {phase: found.mb_per_gflop(("maps",), phase) for phase in PHASES}
    exact = {"fp": 1.940, "dp": 3.449, "ku": 3.135}
    for phase, figure in moved.items():
        assert figure is not None
        assert (round(figure.value, 3), figure.level) == (exact[phase], "formula")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["alexnet", "lenet5", "resnet-digits"])
def test_maps_are_those_of_merp_traffic(name: str) -> None:
    network = open_network(name)
    found = ARCHITECTURE.answer(network, open_board("kc705"), conv(name))
    layers = [x for x in network_traffic(network, 128) if x.layer.kind == "conv"]
    for phase in PHASES:
        ours, theirs = found.mb_per_gflop(("maps",), phase), total(layers, phase)
        assert ours is not None
        assert ours.value == theirs.mb_per_gflop
        assert found.bytes(("maps",), phase).value == theirs.bytes


@pytest.mark.parametrize("name", ["alexnet", "lenet5", "cifar10-1x"])
def test_the_step_is_that_of_merp_plan(name: str) -> None:
    """The designs shipped, every layer: bytes, seconds and images a second of ``merp plan``."""
    network, board = open_network(name), open_board("kc705")
    scope = tuple(layer.name for layer in network.layers)
    found = ARCHITECTURE.answer(network, board, Options(scope=scope, fit="shipped"))
    step = plan_on_board(network, board, 128, state=STATE)
    answer = plan_json(step)
    assert found.bytes(FULL).value == answer["total_all"]["step"]["bytes"]
    assert found.images_per_s.value == pytest.approx(answer["step"]["images_per_second"])
    assert found.reconfiguration_s.value == answer["step"]["loading_seconds"]
    assert [(row.layer, row.phase, row.macs) for row in found.rows] == [
        (each["name"], each["phase"], each["operations"] // 2) for each in answer["layers"]
    ]
    traffic = {each.layer.name: each for each in board_traffic(network, step)}
    for row in found.rows:
        (phase,) = traffic[row.layer].phases(row.phase)
        assert sum(figure.value for figure in row.bytes.values()) == phase.bytes
    most = max(step.engines, key=lambda engine: engine.resources.lut)
    assert found.devices[0].used["lut"].value == most.resources.lut


QUICK = ("alexnet", "lenet5", "resnet-digits")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=() if x in QUICK else pytest.mark.full) for x in FLOAT_NETWORKS],
)
def test_tiles_move_maps_again_and_never_less(name: str) -> None:
    found = ARCHITECTURE.answer(open_network(name), open_board("nexys-video"), conv(name, batch=2))
    again = [row.bytes["again"].value for row in found.rows if "again" in row.bytes]
    assert min(again, default=0) >= 0
    assert set().union(*(row.bytes for row in found.rows)) <= set(DRAM)


@pytest.mark.parametrize(
    ("name", "least"), [("lenet5", 1.1), pytest.param("vgg16-small", 2.5, marks=pytest.mark.full)]
)
def test_sizing_for_the_board_is_never_slower_than_the_file(name: str, least: float) -> None:
    network, board = open_network(name), open_board("kc705")
    best, shipped = (
        ARCHITECTURE.answer(network, board, conv(name, fit=fit)) for fit in ("best", "shipped")
    )
    assert best.images_per_s.value > least * shipped.images_per_s.value
    assert best.options["fit"] == "best"


def test_words_of_16_bits_move_half() -> None:
    network, board = open_network("lenet5"), open_board("kc705")
    wide, narrow = (
        ARCHITECTURE.answer(network, board, conv("lenet5", word_bits=bits)) for bits in (32, 16)
    )
    assert narrow.word_bits == 16
    assert "LUT and FF are those of binary32 units, and therefore too large" in narrow.notes
    assert len(wide.notes) == 2
    assert narrow.bytes(("maps",)).value * 2 == wide.bytes(("maps",)).value
    with pytest.raises(BadInput, match="--fit shipped: lenet5: no designs of words of 16 bits"):
        ARCHITECTURE.answer(network, board, conv("lenet5", word_bits=16, fit="shipped"))


def test_where_memory_is_waited_for_its_level_counts() -> None:
    """The share of the peak that streams reach is assumed."""
    network, board = open_network("lenet5"), open_board("kc705")
    assert ARCHITECTURE.answer(network, board, conv("lenet5")).interval_s.level == "model"
    slow = ARCHITECTURE.answer(network, replace(board, gbytes_s=0.2), conv("lenet5"))
    assert slow.interval_s.level == "assumed"
    row = next(row for row in slow.rows if row.waits)
    assert row.binds == "memory"
    assert row.cycles.value > row.waits["memory"].value > 0


def test_cycles_of_the_rows_are_the_time() -> None:
    options = conv("alexnet")
    found = record(plan(open_network("alexnet"), open_board("kc705"), options))
    seconds = found.cycles().value / (found.clock_mhz.value * 1e6) + found.reconfiguration_s.value
    assert found.interval_s.value == pytest.approx(seconds, rel=1e-6)


@pytest.mark.parametrize(("scope", "loads"), [(("conv1",), 2), (("conv2",), 3)])
def test_bitstreams_are_those_of_the_layers_in_scope(scope: tuple[str, ...], loads: int) -> None:
    """The first layer has no delta propagation; each phase of a design is a bitstream."""
    options = Options(scope=scope, batch=2, fit="shipped")
    found = ARCHITECTURE.answer(open_network("alexnet"), open_board("kc705"), options)
    assert found.reconfiguration_s.value == loads * open_board("kc705").load_seconds
    assert {row.layer for row in found.rows} == set(scope)
