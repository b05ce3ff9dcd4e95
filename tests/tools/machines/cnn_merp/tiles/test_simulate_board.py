"""``merp simulate --board``: a plan's passes from the command line, kept and taken up again."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import rows_in_full
from merp.cosim.engines import myhdl_engine
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.tools.cli import main
from merp.tools.common.seal import SEAL, sealed
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


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network and a board whose FPGA holds none of its convolutions at once."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "small.toml").write_text(NETWORK)
    (folder / "mine.toml").write_text(BOARD)
    return folder


@pytest.fixture(scope="module")
def words(place: Path) -> list[str]:
    """A command that runs forward propagation of all layers in all their passes."""
    network, board = str(place / "small.toml"), str(place / "mine.toml")
    return ["simulate", network, "--board", board, "--layer", "all", "--images", "2"]


@pytest.fixture(scope="module")
def done(words: list[str], place: Path) -> Any:
    """What it has left in its folder."""
    assert main([*words, "-o", str(place / "out")]) == 0
    return json.loads((place / "out" / "board.json").read_text())


def test_tiles_that_an_fpga_forces_run_and_what_they_move_is_measured(
    done: Any, place: Path
) -> None:
    assert (done["board"], done["tiles"], done["images"]) == ("mine", "all", 2)
    runs = {run["layer"]: run for run in done["runs"]}
    assert runs["conv1"]["plan"]["output_parts"] > 1
    assert runs["conv2"]["plan"]["input_parts"] > 1
    assert runs["fc3"]["plan"]["folded"]
    for run in runs.values():
        assert (run["passed"], run["measured"], run["failures"]) == (True, True, [])
        assert run["passes_run"] == run["passes"]
        assert {port: each["pins"] for port, each in run["bytes"].items()} == run["plan"]["ports"]
        assert all(each["measured"] for each in run["bytes"].values())
        assert run["audit"]["mismatches"] == 0
    assert "measured" in (place / "out" / "board.txt").read_text()


def test_the_plan_that_runs_is_that_of_merp_plan(
    done: Any, words: list[str], terminal: Terminal
) -> None:
    _, network, _, board, *_ = words
    found = terminal.answer("plan", network, "--board", board, "--batch", "2")
    rows = [row for row in found["layers"] if row["phase"] == "fp"]
    assert [run["plan"] for run in done["runs"]] == rows


def timeless(found: Any) -> Any:
    """An answer without what the clock said."""
    if isinstance(found, dict):
        return {key: timeless(each) for key, each in found.items() if "seconds" not in key}
    return [timeless(each) for each in found] if isinstance(found, list) else found


def test_what_is_finished_is_taken_from_the_folder_and_nothing_else(
    done: Any, words: list[str], place: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [*words, "-o", place / "out", "--resume"]
    runs: list[int] = []
    run_top = myhdl_engine.run_top

    def count(top: Any, runs_of: Any, *rest: Any) -> Any:
        runs.append(0)
        return run_top(top, runs_of, *rest)

    monkeypatch.setattr(myhdl_engine, "run_top", count)
    assert timeless(terminal.answer(*again)) == timeless(done)
    assert runs == []
    kept = sorted(path.name for path in (place / "out" / "finished").iterdir())
    assert kept[0] == "tiles-conv1-fp-0-0.npz"
    assert len(kept) == sum(
        run["plan"]["groups"] * run["plan"]["output_parts"] for run in done["runs"]
    )
    (place / "out" / "finished" / kept[-1]).unlink()
    assert timeless(terminal.answer(*again)) == timeless(done)
    assert len(runs) == 1
    terminal.answer(*again, "--seed", "1", "--layer", "fc3")
    assert len(runs) == 2


def test_a_unit_that_is_not_as_it_was_kept_runs_again(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*words, "--layer", "fc3", "-o", str(tmp_path)]
    assert main(words) == 0
    capsys.readouterr()
    kept = tmp_path / "finished" / "tiles-fc3-fp-0-0.npz"
    with np.load(kept) as data:
        about = json.loads(str(data["about"]))
        names = set(data.files)
    assert names == {"about", "file_format", SEAL}
    about["audit"]["mismatches"] = "none"
    kept.write_bytes(sealed({"about": np.array(json.dumps(about))}))
    assert main([*words, "--resume"]) == 0
    said = capsys.readouterr().err
    assert said.endswith("damaged: fc3 fp group 0 outputs 0 runs again\n")
    assert main([*words, "--resume"]) == 0
    assert capsys.readouterr().err == ""


def test_what_has_no_hardware_is_listed_and_not_passed(
    words: list[str], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PhaseWork, "built", property(lambda self: False))
    found = terminal.answer(*words, "--layer", "fc3")
    (run,) = found["runs"]
    assert (run["hardware"], run["passed"], run["measured"]) == (False, False, False)
    assert (run["passes_run"], run["audit"], found["total"]) == (0, None, None)
    line = terminal.output(*words, "--layer", "fc3")
    assert "fc3 fp: there is no hardware for these passes yet; none ran" in line


def test_a_port_that_moves_other_bytes_than_the_plan_says_fails_the_run(
    done: Any,
    words: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports = PlannedPhase.ports.func  # type: ignore[attr-defined]
    monkeypatch.setattr(
        PlannedPhase,
        "ports",
        property(lambda self: ports(self) | {"kernel": ports(self)["kernel"] + 1}),
    )
    assert main([*words, "-o", str(place / "out"), "--resume", "--details"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "FAILED conv2 fp: sum of all passes: port kernel: " in shown
    assert "│ conv2 │ FP │ kernel │ DIFFERS" in shown


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--tiles", "sample:0"], "--tiles 'sample:0': allowed are all, or sample:N with N passes"),
        (["--tiles", "sample:-1"], "--tiles 'sample:-1': allowed are all, or sample:N"),
        (["--tiles", "sample:"], "--tiles 'sample:': allowed are"),
        (["--tiles", "sample:1.5"], "--tiles 'sample:1.5': allowed are"),
        (["--tiles", "sample:١"], "allowed are"),  # noqa: RUF001
        (["--tiles", "sample:1" + 5000 * "0"], "allowed are"),
        (["--tiles", "some"], "--tiles 'some': allowed are"),
        (["--tiles", ""], "--tiles '': allowed are"),
        (["--state-bits", "1"], "--state-bits 1: no hardware stores it: a simulated plan"),
        (["--layer", "conv9"], "no layer 'conv9'"),
        (["--layer", "conv1", "--phase", "dp"], "conv1 is the first layer"),
        (["--board", "kc75"], "allowed are arty-a7-100, "),
        (["--cus", "2"], "--cus 2: allowed without --board"),
        (["--group", "0"], "--group 0: allowed without --board"),
        (["--rows", "2"], "--rows 2: allowed without --board"),
        (["--state"], "--state: allowed without --board"),
        (["--delta-at", "sums"], "--delta-at sums: allowed without --board"),
        (["--wave", "x.vcd"], "--wave x.vcd: allowed without --board"),
        (["--resume"], "--resume: needs the folder"),
        (["--engine", "ghdl", "--cu-array", "behavioural"], "allowed: rtl"),
    ],
)
def test_bad_input_is_one_line(
    more: list[str], said: str, words: list[str], terminal: Terminal
) -> None:
    assert said in terminal.refusal(*words, *more)


@pytest.mark.parametrize(
    "more", [["--tiles", "all"], ["--for", "time"], ["--state-bits", "pooled"], ["--apart"]]
)
def test_what_only_a_plan_has_is_refused_without_a_board(
    more: list[str], place: Path, terminal: Terminal
) -> None:
    line = terminal.refusal("simulate", place / "small.toml", *more)
    assert f"{' '.join(more)}: allowed with --board" in line


def reported(place: Path, folder: Path, batch: int, status: int = 0) -> Any:
    """Tables of the report on the same network and board, with a record."""
    page = folder / "report.html"
    words = ["report", str(place / "small.toml"), "--board", str(place / "mine.toml")]
    words += ["--batch", str(batch), "--measured", str(folder), "-o", str(page)]
    assert main(words) == status
    return json.loads(page.with_suffix(".json").read_text())["tables"]


@pytest.mark.full
def test_a_report_marks_what_its_passes_moved(done: Any, place: Path, tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text(json.dumps(done))
    tables = reported(place, tmp_path, 2)
    for row in tables["plan"]["rows"][:-2]:
        ran = row["phase"] == "FP"
        passes = row["passes"]
        assert row["bytes_basis"] == ("measured" if ran else "modelled")
        assert row["confirmed"] == (f"{passes} of {passes} passes, 2 image(s)" if ran else "-")
    bases = [row["fp_basis"] for row in tables["traffic-board"]["rows"]]
    assert bases == ["measured"] * len(bases)
    assert {row["ku_basis"] for row in tables["traffic-board"]["rows"]} == {"modelled"}
    other = reported(place, tmp_path, 3)["plan"]["rows"]
    assert {row["bytes_basis"] for row in other} == {"modelled"}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda run: run["bytes"]["map_in"].update(pins=run["bytes"]["map_in"]["pins"] + 4), 0),
        (lambda run: run["audit"].update(mismatches=1), 1),
        *rows_in_full(
            (lambda run: run.update(passes_run=run["passes_run"] - 1), 0),
            (lambda run: run["plan"].update(output_part=run["plan"]["output_part"] - 1), 0),
            (lambda run: run["audit"]["ports"]["map_in"].update(monitor=0), 1),
            (lambda run: run.update(failures=["it failed"]), 1),
        ),
    ],
)
def test_a_record_that_says_otherwise_measures_nothing(
    change: Callable[[Any], None], status: int, done: Any, place: Path, tmp_path: Path
) -> None:
    record = deepcopy(done)
    change(record["runs"][0])
    (tmp_path / "board.json").write_text(json.dumps(record))
    row = reported(place, tmp_path, 2, status)["plan"]["rows"][0]
    assert (row["layer"], row["phase"], row["bytes_basis"]) == ("conv1", "FP", "modelled")


@pytest.mark.parametrize("spoilt", ["runs", "network"])
def test_what_is_no_record_of_passes_is_refused_in_one_line(
    spoilt: str, done: Any, place: Path, tmp_path: Path, terminal: Terminal
) -> None:
    record = done | {spoilt: 7}
    (tmp_path / "board.json").write_text(json.dumps(record))
    words = ["report", str(place / "small.toml"), "--board", str(place / "mine.toml")]
    said = terminal.refusal(*words, "--measured", tmp_path, "-o", tmp_path / "page.html")
    assert "board.json" in said
