"""Layers that go back in one pass on a board, and those that cannot."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.plan import one_pass
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.plan.traffic import board_traffic
from merp.models.machines.cnn_merp.plan.words import Pass, pass_bytes
from merp.models.network.network import Network
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

ALEXNET = replace(open_network("alexnet"), backward="combined")
KC705 = open_board("kc705")
FULL = Count(name="all", state="pooled")


def convolutions(network: Network) -> Network:
    return replace(network, layers=tuple(x for x in network.layers if x.kind == "conv"))


@cache
def planned(block_rams: int = 445, batch: int = 128) -> NetworkPlan:
    """AlexNet's convolutions on a part with so much block RAM."""
    board = replace(KC705, part=replace(KC705.part, block_rams=block_rams))
    return plan(convolutions(ALEXNET), board, batch)


def phases(found: NetworkPlan) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for each in found.layers:
        names.setdefault(each.work.layer.name, []).append(each.work.phase)
    return names


APART, TOGETHER = ["fp", "dp", "ku"], ["fp", "bp"]


def test_on_the_papers_part_layer_2_goes_back_in_one_pass() -> None:
    """8 + 8 units of 5 x 5, kernels and gradients whole; those of the others do not fit."""
    found = planned()
    assert phases(found) == {
        "conv1": ["fp", "ku"], "conv2": TOGETHER, "conv3": APART, "conv4": APART, "conv5": APART,
    }  # fmt: skip
    assert [(engine.name, engine.phase) for engine in found.engines if engine.phase == "bp"] == [
        ("k5", "bp")
    ]
    # k11, k5, k3 forward; k3's DP, k5's pass; KU of k11 and k3.
    assert found.loads == 7


def test_on_a_larger_part_every_layer_does_and_moves_what_the_formula_says() -> None:
    found = planned(4000)
    assert [phases(found)[f"conv{i}"] for i in range(2, 6)] == [TOGETHER] * 4
    traffic = network_traffic(convolutions(ALEXNET), 128, FULL)
    on_board = board_traffic(found.network, found)
    assert [each.bp for each in on_board] == [each.bp for each in traffic]
    assert total(on_board, "step").bytes == 837_516_800
    assert found.loads == 6


def test_of_layers_that_do_not_fit_together_the_smallest_stay() -> None:
    """AlexNet's three of 3 x 3: alone they need more block RAM from conv5 to conv3."""
    stays = [name for name, each in phases(planned(700)).items() if each == TOGETHER]
    assert stays == ["conv2", "conv5"]


def test_layers_that_do_not_fit_together_are_found_by_bisection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """40 layers of which each needs more than the one before, and of which 10 fit together."""
    network = convolutions(ALEXNET)
    network = replace(network, layers=network.layers[:3])
    whole = plan(network, replace(KC705, part=replace(KC705.part, block_rams=4000)), 128)
    (pair,) = [each.work.halves for each in whole.layers if each.work.layer.name == "conv3"][1:]
    assert pair is not None
    pairs = [(pair[0], replace(pair[1], images=number)) for number in range(40)]
    asked = []

    def engine(name: str, forward: object, some: list[Any]) -> SimpleNamespace:
        asked.append(len(some))
        bram = max(update.images for _, update in some)
        return SimpleNamespace(resources=SimpleNamespace(bram=bram), together=len(some))

    monkeypatch.setattr(one_pass, "_engine", engine)
    monkeypatch.setattr(one_pass, "_works", lambda forward, some: some)
    monkeypatch.setattr(one_pass, "fits", lambda engine, board: engine.together <= 10)
    forward = designs_of(network)["k3"]
    found = one_pass.in_one_pass("k3", forward, pairs, KC705)
    assert found is not None
    assert found[1] == pairs[:10]
    assert len(asked) <= len(pairs) + 7


@pytest.mark.parametrize("layer", ["conv2", "conv3", "conv4", "conv5"])
def test_cycles_are_those_of_the_model_that_walks_every_delta(layer: str) -> None:
    found = planned(4000).of(layer, "bp")
    walked = layer_cycles(ALEXNET, ALEXNET.layer(layer), "bp", 128)
    assert walked is not None
    assert found.cycles == pytest.approx(walked.phase, rel=3e-3)
    assert found.cycles <= walked.phase
    assert found.operations == walked.operations
    assert found.binds == "units"


def test_a_pass_moves_what_the_plan_counts_by_formula() -> None:
    for found in planned(4000, batch=3).layers:
        if found.work.phase == "bp":
            work, groups = found.work, found.work.layer.groups
            moved = pass_bytes(work, Pass(0, work.inputs, 0, work.outputs))
            assert {port: groups * count for port, count in moved.items()} == found.ports


def test_the_bitstream_is_that_of_the_layers_own_design() -> None:
    """Beside what Yosys counts of it (docs/resources.md)."""
    engine = planned().of("conv2", "bp").engine
    design = backward_design(ALEXNET, ALEXNET.layer("conv2"))
    built = engine.propagation, engine.design, engine.unpool
    names = ("n_cu", "p", "d", "r", "kernel_words", "row_words", "groups", "fifo_words")
    for mine, own in zip(built[:2], design[:2], strict=True):
        assert [getattr(mine, name) for name in names] == [getattr(own, name) for name in names]
    assert (engine.resources.bram, engine.resources.dsp) == (406.0, 402)
    assert engine.resources.lut == pytest.approx(132_287, rel=0.02)
    assert engine.resources.ff == pytest.approx(101_926, rel=0.001)


@pytest.mark.parametrize("changes", [{"map_port": 2}, {"n_cu": 1, "r": 1}], ids=str)
def test_designs_that_one_pass_does_not_take_run_both_phases_apart(
    changes: dict[str, int],
) -> None:
    network = replace(open_network("digits"), backward="combined")
    designs = {name: replace(design, **changes) for name, design in network.designs.items()}
    found = plan(replace(network, designs=designs), KC705, 4)
    assert {each.work.phase for each in found.layers} == {"fp", "dp", "ku"}


def test_layers_with_additions_or_smaller_kernels_run_apart() -> None:
    network = replace(open_network("resnet-digits"), backward="combined")
    found = plan(network, KC705, 4)
    for each in found.layers:
        work, phase = each.work, each.work.phase
        assert phase != "bp" or not work.halves[0].begun  # type: ignore[index]
        refused = work.begun or work.idle_taps or work.folded
        assert phase != "dp" or refused


def test_deltas_at_the_resolution_of_sums_are_refused() -> None:
    with pytest.raises(BadInput, match=r"^alexnet: backward = .combined.: .* allowed is state"):
        plan(ALEXNET, KC705, 1, state="1")


def test_a_bandwidth_that_starves_a_pass_binds_it() -> None:
    slow: Board = replace(KC705, gbytes_s=0.01)
    found = plan(convolutions(ALEXNET), slow, 2).of("conv2", "bp")
    assert found.binds == "memory"
    assert found.seconds == pytest.approx(found.bytes / (0.01e9 * slow.efficiency))


def test_one_pass_takes_kernels_one_element_a_beat_on_any_design() -> None:
    """AlexNet's phases apart take four: its pass is that of the design of one."""
    narrow = replace(open_network("alexnet-kernel1"), backward="combined")
    for layer in ("conv2", "conv3"):
        design = backward_design(ALEXNET, ALEXNET.layer(layer))
        assert design == backward_design(narrow, narrow.layer(layer))
        assert design.propagation.kernel_port == design.update.kernel_port == 1
    wide, one = (
        planned().of("conv2", "bp"),
        plan(convolutions(narrow), KC705, 128).of("conv2", "bp"),
    )
    assert (wide.cycles, wide.bytes) == (one.cycles, one.bytes)
