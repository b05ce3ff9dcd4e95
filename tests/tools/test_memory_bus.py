"""The record of the memory bus in answers, and the memory of ``--board``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim.phases.audit.audit import COUNTS, Audit
from merp.models.memory.bus_record import BusRecord, DirectionRecord, MemoryFacts, Waits
from merp.tools.simulate.kept_audit import audit_from
from merp.tools.simulate.kept_bus import bus_from
from needed_tools import needs
from network_text import layer, max_pool, network_text
from terminal import Terminal
from tiny_board import BOARD

NETWORK = network_text(
    "small",
    (5, 5, 4),
    layer("conv1", 66, kernel=2, groups=2, pool=max_pool(2, 2), design="k2"),
    layer("conv2", 3, kernel=2, design="k2"),
    layer("fc3", 4, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 2}},
    format="bfloat16",
)
DDR3 = "data_bits = 32\n"
SLOW = BOARD.replace("clock_mhz = 100", "clock_mhz = 80")
MEMORY = {"module": "MT41K128M16", "data_bits": 32, "clock_mhz": 80, "bytes_per_cycle": 32}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Networks, data, and a board that has a memory of 32 bits, and no block RAM."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "small.toml").write_text(NETWORK)
    (folder / "mine.toml").write_text(SLOW + DDR3)
    rng = np.random.default_rng(5)
    images, labels = rng.uniform(-1, 1, (10, 5, 5, 4)), rng.integers(0, 4, 10)
    np.savez(folder / "data.npz", images=images, labels=labels)
    return folder


def check_bus(bus: Any, lists: int) -> None:
    """The counts of a record agree with each other."""
    assert bus["lists"] == lists
    assert bus["window"] & (bus["window"] - 1) == 0
    assert bus["read"]["row_misses"] + bus["write"]["row_misses"] > 0, "a refresh closes each row"
    for way in (bus["read"], bus["write"]):
        assert way["bytes"] == way["useful"] + way["padding"] + way["partial"]
        assert sum(way["windows"]) == way["bytes"] > 0
        assert way["row_hits"] + way["row_misses"] == way["beats"]
        assert way["beats"] == sum(int(size) * count for size, count in way["bursts"].items())
        latency = way["latency"]
        assert 5 < latency["least"] <= latency["mean"] <= latency["most"]


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_a_simulation_from_memory_answers_with_the_record_of_its_bus(terminal: Terminal) -> None:
    words = "simulate", "tiny3", "--layer", "conv1", "--engine", "system"
    answer = terminal.answer(*words)
    bus = answer["bus"]
    check_bus(bus, 1)
    assert bus["memory"] == [MEMORY | {"data_bits": 16, "clock_mhz": 100, "bytes_per_cycle": 16}]
    on_ports = sum(ways["monitor"] for ways in answer["ports"].values())
    assert bus["read"]["useful"] + bus["write"]["useful"] > 4 * on_ports
    said = terminal.run(*words).out
    assert "memory    MT41K128M16, 16 bits, clock 100 MHz: at most 16 bytes per cycle" in said
    hits = 100 * bus["read"]["row_hits"] / bus["read"]["beats"]
    assert f"read {bus['read']['bytes']:,} bytes" in said
    assert f"row hits {hits:.1f} %" in said
    assert f"written {bus['write']['bytes']:,} bytes" in said


def test_other_engines_answer_without_a_bus(terminal: Terminal) -> None:
    words = "simulate", "tiny3", "--layer", "conv1"
    assert "bus" not in terminal.answer(*words)
    assert "memory    " not in terminal.run(*words).out


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_passes_of_a_plan_run_from_the_memory_of_the_board(place: Path, terminal: Terminal) -> None:
    words = ["simulate", place / "small.toml", "--board", place / "mine.toml", "--layer", "all"]
    words += ["--engine", "system", "-o", place / "out"]
    answer = terminal.answer(*words)
    assert any(run["passes"] > 1 for run in answer["runs"])
    for run in answer["runs"]:
        assert (run["measured"], run["failures"]) == (True, [])
        check_bus(run["audit"]["bus"], run["passes"])
        assert run["audit"]["bus"]["memory"] == [MEMORY]
    total = answer["total"]["bus"]
    check_bus(total, sum(run["passes"] for run in answer["runs"]))
    assert "memory    MT41K128M16, 32 bits, clock 80 MHz" in (place / "out/board.txt").read_text()
    resumed = terminal.answer(*words, "--resume")
    assert resumed["total"]["bus"] == total, "units are stored with their records"


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_training_on_a_board_runs_from_its_memory(place: Path, terminal: Terminal) -> None:
    words = ["train", place / "small.toml", "--data", place / "data.npz", "--batch", 1]
    words += ["--board", place / "mine.toml", "--steps", 2]
    golden, saved = place / "golden.npz", place / "system.npz"
    assert terminal.run(*words, "--save", golden).status == 0
    answer = terminal.answer(*words, "--save", saved, "--engine", "system")
    assert golden.read_bytes() == saved.read_bytes()
    assert answer["rings"] == "one per pass"
    passes = {f"{run['layer']} {run['phase']}": run["passes"] for run in answer["runs"]}
    assert answer["bus"]["lists"].keys() == passes.keys()
    for name, bus in answer["bus"]["lists"].items():
        check_bus(bus, 2 * passes[name])
        assert bus["memory"] == [MEMORY]
    check_bus(answer["bus"]["total"], 2 * sum(passes.values()))


WIDE = NETWORK.replace("n_cu = 1", "n_cu = 8\nkernel_port = 8")


@pytest.mark.parametrize(
    ("board", "network", "said"),
    [
        (
            BOARD,
            NETWORK,
            "--engine system: board mine has no DDR3 memory with one controller: allowed are ",
        ),
        (
            BOARD + "kind = 'ddr4'\n" + DDR3,
            NETWORK,
            "no DDR3 memory with one controller: allowed are arty-a7-100, kc705, nexys-video, pynq",
        ),
        (
            BOARD.replace("mhz = 100", "mhz = 240") + DDR3,
            NETWORK,
            "--engine system: board mine: clock_mhz must be a whole number from 50 to 200",
        ),
        (
            BOARD.replace("mhz = 100", "mhz = 99.5") + DDR3,
            NETWORK,
            "--engine system: board mine: clock_mhz must be a whole number from 50 to 200",
        ),
        (
            BOARD + "data_bits = 8",
            WIDE,
            "engine system: s_axis_kernel: beats of 128 bits: allowed on a memory of 8 bits are at "
            "most 64",
        ),
        (BOARD + "data_bits = 24", NETWORK, "data_bits = 24: must be one of 8, 16, 32, 64"),
    ],
)
@pytest.mark.parametrize("verb", ["simulate", "train"])
def test_a_memory_that_does_not_fit_is_refused_before_a_build(
    verb: str, board: str, network: str, said: str, place: Path, tmp_path: Path,
    terminal: Terminal,
) -> None:  # fmt: skip
    (tmp_path / "board.toml").write_text(board)
    (tmp_path / "network.toml").write_text(network)
    words = [verb, tmp_path / "network.toml", "--board", tmp_path / "board.toml"]
    words += ["--data", place / "data.npz", "--batch", 1, "--steps", 1] * (verb == "train")
    ended = terminal.run(*words, "--engine", "system")
    assert (ended.status, ended.out) == (2, "")
    lines = [line for line in ended.err.splitlines() if not line.startswith("merp train:")]
    assert len(lines) == 1
    assert said in lines[0]


def test_other_engines_need_no_memory_of_the_board(place: Path, terminal: Terminal) -> None:
    (place / "plain.toml").write_text(BOARD)
    words = "simulate", place / "small.toml", "--board", place / "plain.toml", "--layer", "conv2"
    answer = terminal.answer(*words)
    assert all("bus" not in run["audit"] for run in answer["runs"])


RECORD = BusRecord(
    lists=2, cycles=40, window=16,
    read=DirectionRecord(useful=5, beats=1, bursts={1: 1}, row_misses=1, windows=(5, 0, 0)),
    write=DirectionRecord(useful=4, latency=Waits(1, 9, 9, 9), windows=(0, 4, 0)),
    memories=(MemoryFacts("A", 16, 100, 16),),
)  # fmt: skip


def test_a_stored_record_is_read_again() -> None:
    assert bus_from(json.loads(json.dumps(asdict(RECORD)))) == RECORD


def test_an_audit_without_the_bus_is_read_again() -> None:
    """Version 0.2.0 wrote such audits; runs without a memory have none either."""
    ways = dict.fromkeys(COUNTS, 3)
    audit = Audit(
        words_compared=3, mismatches=0, ports={"map_out": ways}, cycles={"total": 9},
        operations=2, ideal=1.0, slots=1, bytes={"map_out": 12}, maps=("map_out",), failures=(),
        seconds=0.5,
    )  # fmt: skip
    kept = json.loads(json.dumps(asdict(audit)))
    assert audit_from(kept, ()) == audit
    del kept["bus"]
    assert audit_from(kept, ()) == audit
    del kept["slots"]
    with pytest.raises(ValueError, match="fields"):
        audit_from(kept, ())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("lists",), -1),
        (("window",), 24),
        (("cycles",), "many"),
        (("more",), 1),
        (("read",), None),
        (("read", "bursts"), {"-1": 2}),
        (("read", "bursts"), {"1": 0.5}),
        (("read", "windows"), [1, None]),
        (("write", "latency"), {"least": 1}),
        (("memories",), [{"module": "A"}]),
        (("memories",), None),
    ],
)
def test_a_stored_record_that_was_edited_is_refused(path: tuple[str, ...], value: Any) -> None:
    kept = json.loads(json.dumps(asdict(RECORD)))
    *outer, key = path
    inner = kept
    for each in outer:
        inner = inner[each]
    inner[key] = value
    with pytest.raises(ValueError, match="bus"):
        bus_from(kept)
