"""A network on a chain of nodes: the golden's bits, and every word of every link counted thrice."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from clusters import batch_on, random_cut, small_cut, train
from trained import same

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch
from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.at_once.places import check_depth
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.cycles import cluster_cycles
from merp.models.machines.cnn_merp.chain.shares import cluster_design
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign
from merp.models.network.network import Network
from merp.testbenches.top.run import Stuck
from merp.tools.common.shipped import open_network

STALLS = {
    "s_axis_map": (1, 0, 0), "m_axis_map": (0, 0, 0, 1), "s_axis_share2_fp_kernel": (1, 0),
    "m_axis_share3_ku_kernel": (0, 1, 1), "s_axis_delta": (0, 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return small_cut(tmp_path_factory.mktemp("cut"))


@pytest.fixture(scope="module")
def played(network: Network) -> tuple[ClusterBatch, RunRecord]:
    """A batch on three nodes, and what came of it."""
    return play(network)


def play(network: Network, **chosen: Any) -> tuple[ClusterBatch, RunRecord]:
    made = batch_on(network, 3)
    runs = [replace(made.run, **chosen), made.run] if chosen else [made.run]
    return made, run_job(Job(made.hardware.top("behavioural"), runs, limit=3000), "myhdl")[-1]


def test_two_steps_on_three_nodes_have_the_goldens_bits(network: Network) -> None:
    """With stalls at the pins, slow links, momentum and decay; the second step without a reset."""
    found = train(network, 3, 3, depth=2, pace=3, steps=2, momentum=0.9, decay=0.1, stalls=STALLS)
    assert same(found)
    assert len({step.whole for step in found.steps}) == 1


@pytest.mark.full
@pytest.mark.parametrize("devices", [1, 2, 4, 5])
def test_any_number_of_nodes_has_the_same_bits(network: Network, devices: int) -> None:
    assert same(train(network, 2, devices))


def test_words_cross_the_links_as_the_paper_says(
    network: Network, played: tuple[ClusterBatch, RunRecord]
) -> None:
    """Section III.C: inputs that are left and sums go on, errors and their deltas come back."""
    made, record = played
    assert not made.failures(record)
    assert not [each for each in made.audited(record).values() if each.audit.failures]
    found = {(each.border, each.way, each.stream): each for each in made.crossings(status(record))}
    images, positions, sums, outputs = 2, 24, 48, 12
    assert {key: each.sent for key, each in found.items()} == {
        (0, "on", "maps"): images * positions * 2,  # all maps but the first
        (0, "on", "sums"): images * sums,
        (0, "back", "errors"): images * outputs,
        (0, "back", "states"): images * outputs * 3 // 8,  # a mask bit and two of a position
        (0, "back", "deltas"): images * positions * 2,
        (1, "on", "maps"): images * outputs,
        (1, "back", "errors"): images * outputs,
    }
    modelled = cluster_cycles(network, made.hardware.shares, images, 2, 3).words
    for (border, way), words in modelled.items():
        counted = [each for each in found.values() if (each.border, each.way) == (border, way)]
        assert sum(each.sent for each in counted if each.stream != "states") == words


def status(record: RunRecord) -> dict[str, int]:
    return dict(record.outcome.status)


def test_every_count_of_a_chain_is_checked(played: tuple[ClusterBatch, RunRecord]) -> None:
    """A counter that is off by one is seen, of an engine or of either end of a link."""
    made, record = played
    counters = [
        f"status_{engine.name}_{port}"
        for engine in made.hardware.engines
        for port in engine.streams
    ]
    links = [name for name in status(record) if name.startswith("status_link")]
    assert len(links) == 2 * 7
    for name in (*counters, *links, "status_share3_states_fill", "status_share2_features_fill"):
        outcome = replace(record.outcome, status={**status(record), name: status(record)[name] + 1})
        wrong = replace(record, outcome=outcome)
        told = made.failures(wrong) + [
            failure for each in made.audited(wrong).values() for failure in each.audit.failures
        ]
        assert told, name


@pytest.mark.parametrize("at", [pytest.param(40, marks=pytest.mark.full), 300])
def test_a_reset_leaves_nothing_behind(
    network: Network, played: tuple[ClusterBatch, RunRecord], at: int
) -> None:
    made, again = play(network, reset_at=at)
    assert made.failures(again) == []
    assert played[1].differences(again) == []


def with_engines(network: Network, place: int, **words: int) -> ClusterDesign:
    """Three nodes, but for stores of a share, counted from 0 among those of the chain."""
    design = cluster_design(network, cut(network, 3), 4)
    nodes = []
    for node in design.nodes:
        shares = [
            replace(share, engines=replace(share.engines, **words))
            if node.place + index == place + 1
            else share
            for index, share in enumerate(node.shares)
        ]
        nodes.append(replace(node, shares=tuple(shares)))
    return replace(design, nodes=tuple(nodes))


CIRCLE = (
    "cut: no word moved for 4,000 cycles: conv1 on node 0 fp waits for a place for features, of 5 "
    "in all, from conv2 map 0 on node 0 ku; conv2 map 0 on node 0 ku waits for errors "
    "from the link's errors from node 1 to 0; the link's errors from node 1 to 0 waits for errors "
    "from the link's errors from node 2 to 1; the link's errors from node 2 to 1 waits for errors "
    "from fc3 on node 2 dp; fc3 on node 2 dp waits for errors from the host; the host waits for "
    "scores from fc3 on node 2 fp; fc3 on node 2 fp waits for maps from the link's maps from node "
    "1 to 2; the link's maps from node 1 to 2 waits for maps from conv2 maps 1 to 2 on node 1 fp; "
    "conv2 maps 1 to 2 on node 1 fp waits for maps from the link's maps from node 0 to 1; the "
    "link's maps from node 0 to 1 waits for maps from conv1 on node 0 fp"
)


def test_a_store_that_is_too_short_is_told_with_the_circle_of_waits(network: Network) -> None:
    with pytest.raises(Stuck) as stuck:
        train(network, 2, 3, depth=2, design=with_engines(network, 1, features=4))
    assert str(stuck.value) == CIRCLE


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_networks_of_every_size_and_kind(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    odd, devices = random_cut(tmp_path, rng)
    images = rng.randint(1, 4)
    for depth in range(rng.randint(1, 3), images + 2):
        try:
            check_depth(odd, images, depth)
        except BadInput:
            continue
        pace, momentum = rng.choice([1, 1, 2, 7]), rng.choice([0, 0.9])
        assert same(train(odd, images, devices, depth=depth, pace=pace, momentum=momentum))
        break


@pytest.mark.full
@pytest.mark.parametrize("pace", [1, 4, 12])
@pytest.mark.parametrize("images", [2, 6])
def test_tiny3_on_three_nodes(pace: int, images: int) -> None:
    found = train(open_network("tiny3"), images, 3, pace=pace, steps=2, momentum=0.9)
    assert same(found)


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("devices", [1, 3])
def test_the_verilog_of_tiny3_takes_the_same_cycles(devices: int) -> None:
    network = open_network("tiny3")
    for pace, images, momentum in ((1, 6, 0.9), (4, 2, 0.9)):
        design, verilog = (
            train(network, images, devices, engine, pace=pace, momentum=momentum)
            for engine in ("myhdl", "verilator")
        )
        assert same(design)
        assert same(verilog)
        assert [each.whole for each in design.steps] == [each.whole for each in verilog.steps]


@pytest.mark.full
@pytest.mark.ghdl
def test_the_vhdl_takes_the_same_cycles(network: Network) -> None:
    design, vhdl = (train(network, 2, 3, engine, pace=2) for engine in ("myhdl", "ghdl"))
    assert same(vhdl)
    assert [each.whole for each in design.steps] == [each.whole for each in vhdl.steps]


@pytest.mark.full
@pytest.mark.parametrize("pace", [1, 12])
def test_the_simulator_has_the_hardwares_interval(pace: int) -> None:
    """Within 10 %: four images more, between batches in which the chain is full."""
    network = open_network("tiny3")
    shares = cut(network, 3)
    hardware, model = [], []
    for images in (6, 10):
        whole = train(network, images, 3, pace=pace).steps[0].whole
        assert whole is not None
        hardware.append(whole.cycles)
        model.append(cluster_cycles(network, shares, images, 4, pace).total)
    interval = (hardware[1] - hardware[0]) / 4
    assert (model[1] - model[0]) / 4 == pytest.approx(interval, rel=0.1)
