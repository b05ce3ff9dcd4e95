"""F-CNN's modules on 30 layers drawn at random: every word, count and cycle."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from module_cycles import check_all_runs
from random_modules import random_network

from marks import few
from merp.models.network.network_file import read_network
from terminal import Terminal

NETWORKS = range(15)  # of two layers each
SMALL = 5  # rows and columns at most


@pytest.fixture
def run(tmp_path: Path, terminal: Terminal) -> Callable[..., None]:
    """Run and check a network by its number."""

    def checked(number: int, engine: str, most: int = 9) -> None:
        text, images = random_network(number, most)
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        words = ["simulate", path, "--layer", "all", "--phase", "all", "--images", images]
        ended = terminal.run(*words, "--engine", engine, "--json")
        assert ended.status == 0, ended.err
        check_all_runs(read_network(path), json.loads(ended.out))

    return checked


@pytest.mark.parametrize("number", few(NETWORKS, 8))
def test_in_myhdl(number: int, run: Callable[..., None]) -> None:
    run(number, "myhdl")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("number", NETWORKS)
def test_in_verilator(number: int, run: Callable[..., None]) -> None:
    run(number, "verilator")


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("number", [2, 4, 8])
def test_in_ghdl(number: int, run: Callable[..., None]) -> None:
    run(number, "ghdl", SMALL)
