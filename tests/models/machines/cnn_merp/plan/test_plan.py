"""Plans of shipped networks: what fits a part, what a step moves, designs that are chosen."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from stored_networks import CROSSED, MIXED, stored

from merp.models.base.errors import BadInput
from merp.models.base.input_part import InputPart
from merp.models.base.storage import Storage
from merp.models.fpga.resources import capacity
from merp.models.machines.cnn_merp.cycles import forward_cycles, layer_cycles
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.plan.automatic import ROOM
from merp.models.machines.cnn_merp.plan.cost import cost_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.machines.cnn_merp.plan.traffic import board_traffic
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.common.boards import board_names, open_board
from merp.tools.common.shipped import open_network


@cache
def planned(
    name: str, board: str = "kc705", goal: str = "bytes", apart: bool = False
) -> NetworkPlan:
    return plan(open_network(name), open_board(board), 128, goal, apart=apart)


def mb_per_gflop(some: Iterable[PlannedPhase]) -> float:
    found = list(some)
    return sum(p.bytes for p in found) / sum(p.operations for p in found) * 1e3


@pytest.mark.parametrize("name", ["alexnet", "vgg16"])
def test_every_layer_and_phase_has_a_plan_that_fits_the_kc705(name: str) -> None:
    network, found = open_network(name), planned(name)
    for phase in PHASES:
        layers = [layer.name for layer in network.layers if has_phase(network, layer, phase)]
        assert [p.work.layer.name for p in found.layers if p.work.phase == phase] == layers
    has = capacity(found.board.part).figures()
    assert (has["bram"], has["dsp"], has["lut"]) == (445, 840, 203_800)
    for engine in found.engines:
        assert all(count <= has[kind] for kind, count in engine.resources.figures().items())


# Bitstreams that layers share are as large as the largest tile of each asks together.
@pytest.mark.parametrize(
    ("name", "apart", "convolutions", "all_layers"),
    [
        ("alexnet", False, 2.26, 4.52), ("alexnet", True, 2.26, 4.501),
        ("alexnet-kernel1", True, 2.26, 4.49),
        ("vgg16", False, 3.57, 3.81), ("vgg16", True, 3.43, 3.65),
        ("vgg16-small", False, 3.08, 3.29), ("vgg16-small", True, 2.96, 3.17),
    ],
)  # fmt: skip
def test_a_step_moves_no_more_than_stated(
    name: str, apart: bool, convolutions: float, all_layers: float
) -> None:
    found = planned(name, apart=apart)
    assert mb_per_gflop(found.layers) <= all_layers
    assert mb_per_gflop(p for p in found.layers if p.work.layer.kind == "conv") <= convolutions


def test_a_tile_fits_the_registers_of_its_engine() -> None:
    for one in planned("alexnet").layers:
        shape = one.work.tile(*one.tile)
        if not one.work.folded:
            check_fits(shape, 128, one.engine.design, one.work.layer.name)


def test_a_plan_for_time_takes_no_longer_and_moves_no_less() -> None:
    bytes_, time = planned("alexnet"), planned("alexnet", goal="time")
    assert time.computing <= bytes_.computing
    assert mb_per_gflop(time.layers) >= mb_per_gflop(bytes_.layers)


@pytest.mark.parametrize("storage", [None, MIXED, CROSSED], ids=["as computed", "mixed", "crossed"])
@pytest.mark.parametrize("name", ["digits", "resnet-digits"])
def test_where_all_fits_the_plan_moves_what_count_all_does(
    name: str, storage: Storage | None
) -> None:
    network = stored(open_network(name), storage)
    found = plan(network, open_board("kc705"), 5, state="pooled")
    full = network_traffic(network, 5, Count(name="all", state="pooled"))
    for each in full:
        for phase in PHASES:
            traffic = getattr(each, phase)
            if traffic is not None:
                streams = {port: count for port, count in traffic.streams.items() if count}
                assert dict(found.of(each.layer.name, phase).ports) == streams
    for each, planned in zip(full, board_traffic(network, found), strict=True):
        assert planned.ku.momentum == each.ku.momentum


def test_designs_that_are_chosen_store_as_the_network_does() -> None:
    network = open_network("digits")
    layers = tuple(replace(layer, design=None) for layer in network.layers)
    network = replace(network, layers=layers, designs={}, storage=MIXED)
    found = plan(network, open_board("kc705"), 4)
    assert {each.storage for each in found.network.designs.values()} == {MIXED}
    assert {each.design.storage for each in found.engines} == {MIXED}
    full = network_traffic(network, 4, Count(name="all", state="pooled"))
    assert sum(each.bytes for each in found.layers) == total(full, "step").bytes


def test_sums_that_start_at_stored_deltas_have_hardware() -> None:
    """Of conv5, which is only added, the delta is that of conv6, whose ReLU is undone on it."""
    network = open_network("resnet-digits")
    found = plan(network, open_board("kc705"), 5)
    assert all(each.work.built for each in found.layers)
    starts = {p.work.layer.name: p.work.beside for p in found.layers if p.work.beside}
    assert {name: layer.name for name, layer in starts.items()} == {
        "conv2": "conv3", "conv7": "conv8"
    }  # fmt: skip
    undone = found.of("conv7", "dp").engine.add_unpool
    assert undone is not None
    assert (undone.window, undone.average, undone.max_maps) == (4, True, 16)
    for phase in ("dp", "ku"):
        expanded = found.of("conv5", phase).work.undone
        assert expanded is not None
        assert expanded.name == "conv6"
        assert found.of("conv5", phase).ports["state_in"] == 5 * 16 * 16 // 8
    engine = found.of("conv2", "dp").engine
    without = replace(engine, add_unpool=None).resources
    more = {
        kind: count - without.figures()[kind] for kind, count in engine.resources.figures().items()
    }
    assert more["lut"] > 500
    assert more["dsp"] == 2  # the average's


def test_bitstreams_are_loaded_in_the_order_of_a_step() -> None:
    found = planned("alexnet")
    assert (found.loads, len(found.engines)) == (8, 8)
    assert found.seconds == pytest.approx(found.computing + 8 * found.board.load_seconds)
    assert found.images_per_second == pytest.approx(128 / found.seconds)


def test_batches_from_which_loads_take_a_share() -> None:
    found = planned("alexnet")
    assert found.computing_of(128) == found.computing
    assert list(found.least_batches) == [0.11, 0.05, 0.01]
    for share, batch in found.least_batches.items():
        assert batch is not None
        for each, enough in ((batch, True), (batch - 2, False)):
            seconds = found.loading + found.computing_of(each)
            assert (found.loading <= share * seconds) is enough


@pytest.mark.full
def test_cycles_are_those_of_the_model_that_walks_every_slot() -> None:
    network = open_network("alexnet")
    found = plan(network, open_board("kc705"), 128, state="1")
    for one in found.layers:
        work = one.work
        walked = layer_cycles(network, network.layer(work.layer.name), work.phase, 128)
        if walked is not None:
            assert 0.999 * walked.phase < one.cycles <= walked.phase


def test_several_maps_a_beat_are_priced_as_they_run() -> None:
    """Of the deltas of conv1, which bound its update; as pooled ones they expand one by one."""
    one = open_network("digits")
    wide = replace(one, designs={k: replace(each, map_port=4) for k, each in one.designs.items()})
    board = open_board("kc705")
    found = plan(wide, board, 16, state="1")
    for planned_pass in found.layers:
        name, phase = planned_pass.work.layer.name, planned_pass.work.phase
        walked = layer_cycles(wide, wide.layer(name), phase, 16)
        assert walked is not None
        assert 0.95 * walked.phase < planned_pass.cycles <= walked.phase
        assert planned_pass.work.built
    update = found.of("conv1", "ku")
    before = plan(one, board, 16, state="1").of("conv1", "ku")
    assert (before.binds, update.binds) == ("delta_in", "units")
    assert dict(update.ports) == dict(before.ports)
    pooled = plan(wide, board, 16, state="pooled")
    assert all(each.work.built for each in pooled.layers)
    expanded = pooled.of("conv1", "ku").work
    sums = expanded.shape.out_rows * expanded.shape.out_columns * expanded.outputs
    for found, binds in ((pooled, "delta_in"), (plan(one, board, 16, state="pooled"), "delta_in")):
        update = found.of("conv1", "ku")
        assert update.binds == binds
        assert update.costs[0][1].cycles["delta_in"][0] == 16 * sums


def test_so_are_several_partial_sums_a_beat() -> None:
    """Of an input map between others: its slots are over before its sums have come."""
    one = open_network("digits")
    wide = replace(one, designs={k: replace(each, map_port=2) for k, each in one.designs.items()})
    board = open_board("kc705")
    found = plan(wide, board, 16, state="1").of("conv2", "dp")
    work, shape = found.work, found.work.convolution
    inner = np.array([False])
    cost = cost_of(work, board, np.array([1]), np.array([work.outputs]), inner, inner)
    pixels = work.images * shape.out_rows * shape.out_columns
    assert cost.cycles["partial_in"] == pixels * work.outputs / 2
    middle = InputPart(first=False, last=False)
    tile = replace(shape, n=1, m=work.outputs)
    walked = forward_cycles(tile, work.images, found.engine.design, middle)
    slowest = max(each[0] for each in cost.cycles.values())
    assert 0.95 * walked.total < slowest <= walked.total


def without_designs(network: Network) -> Network:
    layers = tuple(replace(layer, design=None) for layer in network.layers)
    return replace(network, layers=layers, designs={})


@pytest.mark.parametrize("board", ["kc705", "nexys-video", "zcu104"])
def test_designs_that_are_chosen_fit_with_room_for_routing(board: str) -> None:
    found = plan(without_designs(open_network("cifar10-1x")), open_board(board), 16)
    assert found.chosen == ("auto3",)
    for engine in found.engines:
        assert engine.resources.lut <= ROOM * found.board.part.luts
    assert found.of("fc7", "ku").work.folded
    assert all(each.work.built for each in found.layers)
    larger = found.network.designs["auto3"].n_cu
    assert larger >= 8  # as many as the file of the network has


def test_each_board_is_read_and_has_a_part_whose_capacity_is_known() -> None:
    assert {"paper", "kc705", "vc707", "zc706", "nexys-video", "pynq-z2"} <= set(board_names())
    assert not {"maia", "ulx3s-85f", "versa-ecp5"} & set(board_names())
    for name in board_names():
        board = open_board(name)
        assert board.name == name
        assert 0 < board.load_seconds < 1.5


@pytest.mark.parametrize("name", ["arty-a7-100", "pynq-z2", "ultra96", "zcu102"])
def test_small_networks_fit_small_boards(name: str) -> None:
    found = plan(without_designs(open_network("digits")), open_board(name), 8)
    for engine in found.engines:
        needed, has = engine.resources.figures(), capacity(found.board.part).figures()
        assert all(needed[kind] <= has[kind] for kind in has)
    assert found.images_per_second > 0


def test_a_part_too_small_is_refused_in_one_line_that_says_what_for() -> None:
    board = open_board("kc705")
    small = replace(board, part=replace(board.part, block_rams=40))
    with pytest.raises(BadInput, match=r"conv1.*one map in and one map out take .* RAMB36.*the 40"):
        plan(open_network("alexnet"), small)
    few = replace(board, part=replace(board.part, dsps=100))
    with pytest.raises(BadInput, match=r"take 363 DSP: allowed are the 100 of xc7k325t"):
        plan(open_network("alexnet"), few)
