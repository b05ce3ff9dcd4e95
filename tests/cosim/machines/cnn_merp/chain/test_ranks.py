"""A chain whose boards are simulated by a rank of MPI each, from the command line."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import clusters
import numpy as np
import pytest

from marks import engines
from needed_tools import needs

BIN = Path(sys.executable).parent
CHAIN = ("--architecture", "chain", "--devices", 3)


@pytest.fixture
def words(tmp_path: Path) -> list[object]:
    """``merp train`` on six images, and where it saves."""
    network, data = tmp_path / "cut.toml", tmp_path / "data.npz"
    network.write_text(clusters.CUT)
    rng = np.random.default_rng(0)
    np.savez(data, images=rng.uniform(-1, 1, (6, 4, 6)), labels=rng.integers(0, 2, 6))
    return ["train", network, "--data", data, "--batch", 2, *CHAIN, "--json"]


def start(ranks: int, *words: object) -> subprocess.Popen[str]:
    launcher = shutil.which("mpirun", path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    assert launcher is not None
    command = [launcher, "-n", ranks, BIN / "merp", *words, "--mpi"]
    return subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip


@pytest.mark.full
@needs("mpi4py")
@pytest.mark.parametrize("engine", engines("myhdl", "verilator"))
def test_ranks_answer_as_processes_do(words: list[object], tmp_path: Path, engine: str) -> None:
    """The same answer and file, of two steps."""
    words += ["--engine", engine, "--steps", 2]
    one, several = tmp_path / "one.npz", tmp_path / "several.npz"
    command = [str(word) for word in (BIN / "merp", *words, "--processes", "--save", one)]
    wanted = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said, told = (ranks := start(4, *words, "--save", several)).communicate()
    assert ranks.returncode == 0, told
    assert said == wanted
    assert several.read_bytes() == one.read_bytes()


@pytest.mark.full
@needs("mpi4py")
def test_ranks_that_are_too_few_are_told_in_one_line(words: list[object], tmp_path: Path) -> None:
    said, told = (ranks := start(3, *words, "--engine", "myhdl")).communicate()
    line = "merp: --mpi: 3 boards need 4 ranks, there are 3: allowed under mpirun -n 4"
    assert (ranks.returncode, said) == (2, "")
    assert [each for each in told.splitlines() if "train: " not in each] == [line]


@pytest.mark.full
@needs("mpi4py")
def test_an_interrupt_ends_all_and_saves(words: list[object], tmp_path: Path) -> None:
    saved = tmp_path / "saved.npz"
    ranks = start(4, *words, "--engine", "myhdl", "--epochs", 1000, "--save", saved)
    assert ranks.stderr is not None
    told = (re.search(r"step (\d+) of", line) for line in ranks.stderr)
    assert any(step and int(step[1]) > 1 for step in told)
    found = descendants(ranks.pid)
    ranks.send_signal(signal.SIGINT)
    ranks.communicate()
    assert ranks.returncode == 130
    assert saved.exists()
    while any(Path(f"/proc/{pid}").exists() for pid in found):
        time.sleep(0.1)


@pytest.mark.full
@needs("mpi4py")
def test_a_rank_that_stands_still_ends_all(words: list[object]) -> None:
    ranks = start(4, *words, "--engine", "myhdl", "--epochs", 1000, "--patience", 3)
    assert ranks.stderr is not None
    assert any(re.search(r"step [\d,]+ of", line) for line in ranks.stderr)
    found = descendants(ranks.pid)
    third = [pid for pid in found if " train " in command_of(pid)][2]
    os.kill(int(third), signal.SIGSTOP)
    _, told = ranks.communicate()
    assert ranks.returncode == 1
    line = "merp: node 1 does not respond: rank 2 has given no sign of life for 3 s"
    assert line in told.splitlines()
    while any(Path(f"/proc/{pid}").exists() for pid in found):
        time.sleep(0.1)


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def descendants(pid: int) -> list[Any]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return found + [each for child in found for each in descendants(int(child))]
