"""Fronts of designs: beside every choice that there is, and beside what a plan says."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.models.base.errors import BadInput
from merp.models.explore.pareto import undominated
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.explore.choices import Axes, FreeKeys, Kinds, axes_of
from merp.models.machines.cnn_merp.explore.design_costs import ADDED, COSTS, DesignCosts
from merp.models.machines.cnn_merp.explore.space import Space
from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.plan.automatic import most_luts
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

TEXT = """
[network]
name = "small"
format = "{fmt}"
input = {{ rows = {rows}, columns = {rows}, channels = {channels} }}
[[layer]]
name = "conv1"
maps = {first}
kernel = 3
pad = {pad}
pool = {{ kind = "max", window = 2 }}
[[layer]]
name = "conv2"
maps = {second}
kernel = {k}
[[layer]]
name = "fc3"
maps = 3
relu = false
"""


def network_of(folder: Path, seed: int, k: int = 2, fmt: str = "binary32") -> Network:
    draw = Random(seed)
    file = folder / f"{seed}.toml"
    file.write_text(
        TEXT.format(
            fmt=fmt, k=k, rows=draw.randint(8, 12), channels=draw.randint(1, 3),
            pad=draw.randint(0, 2), first=draw.randint(1, 5), second=draw.randint(1, 5),
        )
    )  # fmt: skip
    return read_network(file)


def board_of(block_rams: int, luts: int = 120_000, gbytes_s: float = 12.8) -> Board:
    board = open_board("kc705")
    part = replace(board.part, block_rams=block_rams, luts=luts, dsps=72)
    return replace(board, part=part, gbytes_s=gbytes_s)


def planned(network: Network, board: Board, goal: str) -> tuple[float, ...] | None:
    """What the planner says of a network whose designs are given; None where it does not fit."""
    try:
        found = plan(network, board, 4, goal)
    except BadInput:
        return None
    mine = [each for each in found.layers if each.work.layer.design in network.designs]
    taken = [each.engine.resources.figures() for each in mine]
    largest = {kind: max(each[kind] for each in taken) for kind in taken[0]}
    if largest["lut"] > most_luts(board):
        return None
    seconds = dict.fromkeys(PHASES, 0.0)
    for each in mine:
        seconds[each.work.phase] += float(np.round(each.seconds, 9))
    cycles = sum(round(each * board.clock_mhz * 1e6) for each in seconds.values())
    return (cycles, sum(each.bytes for each in mine), *largest.values())


OBJECTIVES = (
    ("cycles", "lut"), ("cycles", "bytes", "lut"), ("bytes", "bram"), ("lut", "dsp", "cycles"),
    COSTS,
)  # fmt: skip


@pytest.mark.parametrize("seed", [1, 9, *in_full(*range(2, 9), *range(10, 40))])
def test_the_front_is_that_of_every_choice_priced_by_the_planner(seed: int, tmp_path: Path) -> None:
    """Nothing pruned, nothing kept from phase to phase, and by ``plan`` itself."""
    draw = Random(seed)
    network = network_of(tmp_path, seed, k=3)
    board = board_of(draw.choice((4, 12, 60)), draw.choice((20_000, 40_000, 120_000)))
    goal = draw.choice(("bytes", "time"))
    space = Space(network, board, ("conv1", "conv2"), 4, goal)
    (name,) = space.designs
    axes, costs = space.designs[name]
    few = axes._replace(
        n_cu=draw.sample(axes.n_cu, min(2, len(axes.n_cu))),
        kinds=draw.sample(axes.kinds, 3),
        kernel_port=draw.sample(PORTS, 2),
        map_port=draw.sample(PORTS, 2),
    )
    space.designs[name] = few, costs
    bare = replace(network, layers=network.layers[:2])
    every = []
    for choice in few.choices():
        made = space.at({name: choice})
        found = planned(replace(bare, layers=made.layers[:2], designs=made.designs), board, goal)
        if found is not None:
            every.append(found)
    for objectives in OBJECTIVES:
        columns = [COSTS.index(each) for each in objectives]
        if not every:
            with pytest.raises(BadInput, match="no design for"):
                space.front(objectives)
            continue
        table = np.array(every)[:, columns]
        expected = table[undominated(table)]
        found = np.array([[p.costs[each] for each in objectives] for p in space.front(objectives)])
        assert found == pytest.approx(expected)


def tried(space: Space, objectives: tuple[str, ...]) -> set[tuple[float, ...]]:
    """The front of all combinations of all designs, one by one."""
    of_design = [
        [found for choice in axes.choices() if (found := costs.of(choice)) is not None]
        for axes, costs in space.designs.values()
    ]
    table = {
        tuple(
            (sum if each in ADDED else max)(costs[COSTS.index(each)] for costs in both)
            for each in objectives
        )
        for both in product(*of_design)
    }
    return {
        one
        for one in table
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True))
                   for other in table)
    }  # fmt: skip


@pytest.mark.parametrize("seed", [1, *in_full(0, *range(2, 20))])
def test_several_designs_together(seed: int, tmp_path: Path) -> None:
    draw = Random(seed)
    network = network_of(tmp_path, seed)
    board = board_of(draw.choice((6, 60)), gbytes_s=draw.choice((0.2, 12.8)))
    space = Space(network, board, ("conv1", "conv2"), 4, "bytes")
    assert len(space.designs) == 2
    for name, (axes, costs) in space.designs.items():
        few = Axes(
            draw.sample(axes.n_cu, min(2, len(axes.n_cu))), (1, 2),
            draw.sample(axes.kinds, 3), draw.sample(PORTS, 2), draw.sample(PORTS, 1),
        )  # fmt: skip
        space.designs[name] = few, costs
    for objectives in OBJECTIVES[:4]:
        found = [tuple(p.costs[each] for each in objectives) for p in space.front(objectives)]
        assert set(found) == tried(space, objectives)
        assert len(found) == len(set(found))
        assert found == sorted(found)


@pytest.mark.parametrize("seed", [1, *in_full(0, *range(2, 10))])
def test_numbers_of_units_and_lanes_that_are_left_out_gain_nothing(
    seed: int, tmp_path: Path
) -> None:
    """The front with every number of units, and of lanes, costs the same."""
    network = network_of(tmp_path, seed, k=3)
    space = Space(network, board_of(20), ("conv1", "conv2"), 4, "time")
    (name,) = space.designs
    axes, costs = space.designs[name]
    ports = Random(seed).sample(PORTS, 2)
    few = axes._replace(p=(1,), kernel_port=ports[:1], map_port=ports)
    most = max(axes.n_cu)
    lanes = [Kinds("fused", 1, "row", count) for count in range(1, 10)]
    more = few._replace(n_cu=range(1, most + 1), kinds=[*axes.kinds, *lanes])
    objectives = ("cycles", "lut", "dsp")
    space.designs[name] = few, costs
    found = [tuple(p.costs[each] for each in objectives) for p in space.front(objectives)]
    space.designs[name] = more, costs
    assert found == [tuple(p.costs[each] for each in objectives) for p in space.front(objectives)]


@pytest.mark.parametrize(
    ("fmt", "many"), [("binary32", 10), *rows_in_full(("binary32", 150), ("bfloat16", 60))]
)
def test_no_choice_costs_less_than_its_bound(fmt: str, many: int, tmp_path: Path) -> None:
    for seed in range(3):
        network = network_of(tmp_path, seed, fmt=fmt)
        space = Space(network, board_of(10, 10**6), ("conv1", "conv2", "fc3"), 3, "bytes")
        for axes, costs in space.designs.values():
            for choice in Random(seed).sample(list(axes.choices()), min(many, axes.size)):
                bound = costs.bound(choice)
                closer, phase = costs.so_far(choice) if bound else (None, None)
                found = costs.of(choice)
                if found is None:
                    continue
                assert bound is not None
                assert closer is not None
                assert phase is not None or closer == found
                assert all(a <= b for a, b in zip(bound, closer, strict=True)), choice
                assert all(a <= b for a, b in zip(closer, found, strict=True)), choice
                assert costs.so_far(choice) == (found, None)


@pytest.mark.parametrize("many", [25, *in_full(150)])
def test_what_a_choice_costs_does_not_follow_from_what_was_asked_before(
    many: int, tmp_path: Path
) -> None:
    """Beside costs that know nothing yet: a choice is not taken for one that costs something else.

    Folded layers are among them, whose rows of images follow from the sums of an update.
    """
    network = network_of(tmp_path, 1, k=3)

    def unknown() -> tuple[Axes, DesignCosts]:
        space = Space(network, board_of(20), ("conv1", "conv2", "fc3"), 70, "bytes")
        return space.designs["auto3"]

    (axes, bounds), (_, costs) = unknown(), unknown()
    for choice in Random(many).sample(list(axes.choices()), many):
        _, anew = unknown()
        bound = anew.bound(choice)
        assert bounds.bound(choice) == bound
        if bound is not None:
            assert bounds.so_far(choice) == anew.so_far(choice)
        assert costs.of(choice) == anew.of(choice), choice


def test_ports_wider_than_a_kernel_are_planned_once(tmp_path: Path) -> None:
    """They differ in logic alone. Each cost equals the cost in a search of its own."""
    network = network_of(tmp_path, 1, k=1)
    space = Space(network, board_of(60), ("conv2",), 4, "bytes")
    (name,) = space.designs
    axes, costs = space.designs[name]
    first = next(axes.choices())
    choices = [first._replace(kernel_port=port) for port in PORTS]
    found = [costs.of(choice) for choice in choices]
    assert space.tried == len(costs.phases)
    for choice, cost in zip(choices, found, strict=True):
        _, anew = Space(network, board_of(60), ("conv2",), 4, "bytes").designs[name]
        assert anew.of(choice) == cost
    assert len({cost and cost[COSTS.index("lut")] for cost in found}) == len(PORTS)
    assert len({cost and cost[COSTS.index("cycles")] for cost in found}) == 1


def test_memories_of_a_bound_are_those_of_the_choice_s_own_update() -> None:
    """More lanes have fewer images in a row of folded layers: its memory is LUT RAM, or is not."""
    network = open_network("lenet5")
    scope = [layer.name for layer in network.layers]
    _, costs = Space(network, open_board("zc706"), scope, 128, "bytes").designs["auto5"]
    choice = FreeKeys(1, 1, Kinds("fused", 2, "row", 2), 2, 2)
    bound = costs.bound(choice)
    (closer, _), found = costs.so_far(choice), costs.of(choice)
    assert bound is not None
    assert closer is not None
    assert found is not None
    assert all(a <= b <= c for a, b, c in zip(bound, closer, found, strict=True))


def test_a_format_without_fused_units_has_the_paper_s_circuit_alone(tmp_path: Path) -> None:
    network = network_of(tmp_path, 1, fmt="bfloat16")
    axes = axes_of(network.layers[:1], board_of(60).room, network.fmt)
    assert axes.kinds == [Kinds("tree", 1, "position", 1)]


def test_memories_of_luts_count_in_what_fits(tmp_path: Path) -> None:
    """Logic alone fits in 80 % of the part's LUTs, with its memories it does not."""
    network = network_of(tmp_path, 1)

    def costs_on(luts: int) -> tuple[DesignCosts, FreeKeys]:
        axes, costs = Space(network, board_of(0, luts), ("conv1",), 2, "bytes").designs["auto3"]
        return costs, next(axes.choices())

    costs, choice = costs_on(10**6)
    found, bound = costs.of(choice), costs.bound(choice)
    assert found is not None
    assert bound is not None
    lut = COSTS.index("lut")
    assert bound[lut] < found[lut]
    assert costs_on(int(found[lut] / 0.8) + 2)[0].of(choice) == found
    tight, _ = costs_on(int(found[lut] / 0.8) - 2)
    assert tight.bound(choice) == bound
    assert tight.of(choice) is None


def test_nothing_fits(tmp_path: Path) -> None:
    network = network_of(tmp_path, 1)
    with pytest.raises(BadInput, match=r"small: no design for conv1 fits xc7k325t \(1,600 LUT"):
        Space(network, board_of(60, luts=2000), ("conv1", "conv2"), 4, "bytes").front(COSTS)
