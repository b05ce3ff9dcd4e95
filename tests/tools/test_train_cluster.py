"""``merp train --architecture chain``: the golden's file on any chain, and what is refused."""

import sys
from pathlib import Path

import clusters
import numpy as np
import pytest

from terminal import Terminal

CHAIN = ("--architecture", "chain", "--engine", "myhdl")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """``merp train`` on six images, of which five are for training."""
    folder = tmp_path_factory.mktemp("chain")
    network, data = folder / "cut.toml", folder / "data.npz"
    network.write_text(clusters.CUT)
    rng = np.random.default_rng(0)
    np.savez(data, images=rng.uniform(-1, 1, (6, 4, 6)), labels=rng.integers(0, 2, 6))
    return ["train", network, "--data", data, "--batch", 2, "--steps", 1]


def test_the_file_is_the_goldens_and_the_answer_has_every_link(
    command: list[object], terminal: Terminal, tmp_path: Path
) -> None:
    golden, ours = tmp_path / "golden.npz", tmp_path / "ours.npz"
    wanted = terminal.answer(*command, "--save", golden)
    found = terminal.answer(*command, *CHAIN, "--devices", 3, "--link-cycles", 2, "--save", ours)
    assert ours.read_bytes() == golden.read_bytes()
    assert found["loss"] == wanted["loss"]
    chain = found["pipeline"]
    assert (chain["devices"], chain["link_cycles"], chain["depth"]) == (3, 2, 4)
    assert len(chain["engines"]) == 2 + 3 + 3 + 3
    crossed: dict[tuple[int, str], int] = {}
    for each in chain["links"]:
        assert each["closed_form"] == each["sent"] == each["arrived"] > 0
        if each["stream"] != "states":
            way = each["border"], each["way"]
            crossed[way] = crossed.get(way, 0) + each["sent"]
    modelled = {(each["border"], each["way"]): each["words"] for each in chain["modelled_words"]}
    assert crossed == modelled


@pytest.mark.full
def test_boards_in_processes_answer_as_one_simulation(
    command: list[object], terminal: Terminal, tmp_path: Path
) -> None:
    """The same file and the same answer, and again in the same folder."""
    one, several = tmp_path / "one", tmp_path / "several"
    chain = (*CHAIN, "--devices", 3, "--link-cycles", 2)
    wanted = terminal.answer(*command, *chain, "--save", one / "net.npz", "-o", one)
    for _ in range(2):
        found = terminal.answer(
            *command, *chain, "--processes", "--save", several / "net.npz", "-o", several
        )
        assert found == wanted
        assert (several / "net.npz").read_bytes() == (one / "net.npz").read_bytes()


@pytest.mark.full
@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("batch", [2, 6])
def test_tiny3_leaves_the_goldens_file_on_any_number_of_boards(
    terminal: Terminal, tmp_path: Path, devices: int, batch: int
) -> None:
    data, golden, ours = (tmp_path / name for name in ("data.npz", "golden.npz", "ours.npz"))
    rng = np.random.default_rng(0)
    np.savez(data, images=rng.uniform(0, 1, (10, 8, 8)), labels=np.arange(10) % 3)
    command = ["train", "tiny3", "--data", data, "--batch", batch, "--steps", 1, "--momentum", 0.9]
    wanted = terminal.answer(*command, "--save", golden)
    found = terminal.answer(*command, *CHAIN, "--devices", devices, "--save", ours)
    assert ours.read_bytes() == golden.read_bytes()
    assert found["loss"] == wanted["loss"]
    assert found["pipeline"]["devices"] == devices
    assert len(found["pipeline"]["links"]) == {1: 0, 2: 2, 3: 7}[devices]


@pytest.mark.full
def test_people_see_the_links(command: list[object], terminal: Terminal) -> None:
    said = terminal.prose(*(*command, *CHAIN, "--devices", 2))
    assert "Links between nodes" in said
    assert "│ 1 to 0 │ errors │ 24 │ 24 │ 24 │" in said


def test_what_no_chain_has_is_refused_in_one_line(
    command: list[object], terminal: Terminal
) -> None:
    for more, told in (
        (("--devices", 2), "--devices 2: allowed with --architecture chain"),
        (("--link-cycles", 2), "--link-cycles 2: allowed with --architecture chain"),
        (
            ("--architecture", "pipeline", "--engine", "myhdl", "--devices", 2),
            "--devices 2: allowed with --architecture chain",
        ),
        (
            ("--architecture", "chain", "--engine", "golden"),
            "--engine golden runs no hardware: allowed are myhdl",
        ),
        ((*CHAIN, "--devices", 0), "--devices: must be a whole number from 1 to 1024, not '0'"),
        ((*CHAIN, "--link-cycles", 0), "--link-cycles: must be a whole number from 1 to 64, not"),
        ((*CHAIN, "--depth", 0), "--depth: must be a whole number from 1 to 256, not '0'"),
        ((*CHAIN, "--devices", 6), "--devices 6: cut has pieces for 5 nodes at most"),
        (("--processes",), "--processes: allowed with --architecture chain"),
        (
            ("--architecture", "chain", "--engine", "ghdl", "--processes"),
            "--processes: allowed with --engine myhdl or --engine verilator",
        ),
        ((*CHAIN, "--board", "kc705"), "allowed without --board"),
        ((*CHAIN, "--backward", "combined"), "the network goes back in one pass"),
    ):
        assert told in terminal.refusal(*command, *more), told


def test_without_mpi4py_there_is_one_line(
    command: list[object], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    wanted = "--mpi: needs mpi4py and an MPI: pip install 'merp[cluster]'"
    assert wanted in terminal.refusal(*command, *CHAIN, "--devices", 3, "--mpi")


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ("k = 3", "layer conv2: needs kernel_words = 3: the design has kernel_words = 2"),
        ("k = 1", "layer fc3: needs kernel_words = 12: the design has kernel_words = 2"),
    ],
)
def test_kernels_that_do_not_fit_a_nodes_design_are_refused_in_one_line(
    command: list[object], terminal: Terminal, tmp_path: Path, design: str, told: str
) -> None:
    small = tmp_path / "small.toml"
    small.write_text(clusters.CUT.replace(f"{design}\n", f"{design}\nkernel_words = 2\n"))
    words = ["train", small, *command[2:], *CHAIN, "--devices", 3]
    assert told in terminal.refusal(*words)
