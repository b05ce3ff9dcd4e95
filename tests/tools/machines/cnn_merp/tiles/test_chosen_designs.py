"""Designs that the plan chooses, with ports of several elements: they elaborate, and they run."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.models.fpga.board import Board
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.tools.common.boards import open_board
from merp.tools.common.input_maps import random_maps
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice
from merp.tools.machines.cnn_merp.tiles.session import simulate_plan

IMAGES = 2


def board_of(random: Random) -> Board:
    """A made-up board: room for a few units, and little memory."""
    board = open_board("kc705")
    part = replace(
        board.part,
        luts=random.choice((40_000, 80_000)),
        block_rams=random.choice((16, 30, 60)),
        dsps=random.choice((40, 80)),
    )
    return replace(board, name="small", part=part)


def text_of(random: Random) -> str:
    """A network whose layers leave their designs to the plan."""
    fmt = random.choice(("binary32", "bfloat16"))
    lines = [f'[network]\nname = "drawn"\nformat = "{fmt}"']
    lines.append(f"input = {{ rows = 6, columns = 6, channels = {random.randint(2, 9)} }}")
    for number in range(1, random.randint(2, 3) + 1):
        kernel = random.choice((2, 3))
        lines.append(f'[[layer]]\nname = "conv{number}"\nmaps = {random.randint(4, 9)}')
        lines.append(f"kernel = {kernel}\npad = 1")
        if number == 2:
            lines.append('pool = { kind = "max", window = 2, stride = 2 }')
    if random.random() < 0.4:
        lines.append(f'[[layer]]\nname = "fc"\nmaps = {random.randint(3, 9)}\nrelu = false')
    return "\n".join(lines)


def drawn(folder: Path, seed: int) -> NetworkPlan:
    """The plan of a network that is drawn, on a board that is drawn."""
    random = Random(seed)
    file = folder / "drawn.toml"
    file.write_text(text_of(random))
    goal = random.choice(("bytes", "time"))
    return plan(read_network(file, folder), board_of(random), IMAGES, goal)


def wide(found: NetworkPlan) -> set[str]:
    """Ports that have several elements in a beat in one of its designs."""
    designs = found.network.designs.values()
    return {
        key
        for key in ("kernel_port", "map_port")
        if any(getattr(design, key) > 1 for design in designs)
    }


def run(found: NetworkPlan, engine: str) -> None:
    """Run every pass; its bits and bytes are the golden model's and the plan's."""
    array = "behavioural" if engine == "myhdl" else "rtl"
    network = found.network
    choice = TilesChoice(found, False, network.layers, PHASES, None, 0, engine, array)
    maps = random_maps(network, found.batch)
    results = simulate_plan(choice, maps, parameters(network, 0), None, Progress())
    assert len(results) == len(found.layers)
    for result in results:
        assert result.failures == []
        assert result.audit is not None
        assert result.audit.moved == dict(result.planned.ports)
        assert result.measured


def test_what_is_chosen_elaborates(tmp_path: Path) -> None:
    ports: set[str] = set()
    for seed in range(12):
        found = drawn(tmp_path, seed)
        ports |= wide(found)
        for planned in found.layers:
            assert planned.work.built
            OfPlan(planned).top("behavioural")
    assert "kernel_port" in ports


@pytest.mark.full
def test_several_maps_a_beat_are_chosen_and_run(tmp_path: Path) -> None:
    """A folded layer among them has more maps than a row of its kernel update has words."""
    found = drawn(tmp_path, 6)
    design = found.of("fc", "ku").engine.design
    assert design.map_port == 4
    assert design.max_maps > design.row_words
    run(found, "myhdl")


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
def test_what_is_chosen_runs(tmp_path: Path, seed: int) -> None:
    run(drawn(tmp_path, seed), "myhdl")


@pytest.mark.verilator
@pytest.mark.full
def test_wide_ports_that_are_chosen_run_in_verilog(tmp_path: Path) -> None:
    found = next(each for each in (drawn(tmp_path, s) for s in range(12)) if wide(each))
    run(found, "verilator")
