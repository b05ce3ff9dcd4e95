"""``merp explore``: what it prints and writes, and that other verbs take what it writes."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.tools.cli import main
from merp.tools.common.boards import open_board
from merp.tools.machines.cnn_merp.plan.answer import plan_json
from network_text import layer, network_text
from packages import bench, built
from terminal import Terminal

MINE = network_text(
    "mine",
    (6, 6, 1),
    layer("conv1", 2, kernel=2, pool={"kind": "max", "window": 2}, design="wide"),
    layer("conv2", 3, kernel=2, design="wide"),
    layer("fc3", 2, relu=False),
    designs={"wide": {"k": 2, "n_cu": 2}},
)
BOARD = "kc705"
FILES = {"front.csv", "front.json", "knee.toml", "least-cycles.toml", "least-lut.toml"}


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network file and, beside it, what was found."""
    file = tmp_path_factory.mktemp("user") / "mine.toml"
    file.write_text(MINE)
    words = ["--board", BOARD, "--scope", "all", "--batch", "2", "-o", str(file.parent / "found")]
    assert main(["explore", str(file), *words]) == 0
    return file


@pytest.fixture(scope="module")
def found(mine: Path) -> Path:
    """The folder."""
    return mine.parent / "found"


def read(found: Path) -> Any:
    return json.loads((found / "front.json").read_text())


def test_a_point_s_file_is_planned_as_the_front_says(found: Path) -> None:
    front = read(found)
    assert set(front["chosen"]) == {"knee", "least-cycles", "least-lut"}
    for name, place in front["chosen"].items():
        point = front["points"][place]
        network = read_network(found / f"{name}.toml")
        planned = plan(network, open_board(BOARD), 2)
        answer = plan_json(planned)
        for kind in ("lut", "ff", "bram", "dsp"):
            assert point[kind] == max(each[kind] for each in answer["bitstreams"])
        cycles = answer["step"]["computing_seconds"] * front["clock_mhz"] * 1e6
        assert point["cycles"] == pytest.approx(cycles, abs=len(PHASES))  # each in whole cycles
        moved = sum(each.bytes for each in planned.layers)  # folded maps as if all were full
        assert point["bytes"] == pytest.approx(moved, rel=0.01)
        for design, keys in point["choices"].items():
            assert keys.items() <= answer["designs"][design].items()


def test_an_image_in_bytes_is_read_by_a_design_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    stored = 'storage = { image = "uint8", image_scale = 0.00001, maps = "bfloat16" }\ninput'
    bare = MINE[: MINE.index("[design")].replace('design = "wide"\n', "")
    file.write_text(bare.replace("input", stored, 1))
    words = ["--board", BOARD, "--scope", "all", "--batch", "2", "-o", str(tmp_path / "found")]
    assert main(["explore", str(file), *words]) == 0
    test_a_point_s_file_is_planned_as_the_front_says(tmp_path / "found")
    knee = read_network(tmp_path / "found" / "knee.toml")
    assert [layer.design for layer in knee.layers] == ["auto2_image", "auto2", "auto2"]
    assert knee.storage == read_network(file).storage
    assert [design_of(knee, layer).stored_input.bytes for layer in knee.layers] == [1, 2, 2]


def test_the_front_is_one_in_every_form(found: Path) -> None:
    front = read(found)
    assert {path.name for path in found.iterdir() if not path.name.startswith(".")} == FILES
    with (found / "front.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(front["points"]) > 3
    for row, point in zip(rows, front["points"], strict=True):
        assert {key: float(row[key]) for key in ("cycles", "bytes", "lut")} == {
            key: point[key] for key in ("cycles", "bytes", "lut")
        }
        assert int(row["auto2.n_cu"]) == point["choices"]["auto2"]["n_cu"]
    named = {name: int(row["point"]) for row in rows for name in row["chosen"].split()}
    assert named == front["chosen"]
    for one, other in zip(front["points"], front["points"][1:], strict=False):
        assert one["cycles"] < other["cycles"]
        assert one["lut"] > other["lut"]


def test_layers_out_of_scope_have_no_design(mine: Path, tmp_path: Path) -> None:
    words = ["--board", BOARD, "--scope", "conv1", "-o", str(tmp_path / "some")]
    assert main(["explore", str(mine), *words]) == 0
    network = read_network(tmp_path / "some" / "knee.toml")
    assert [layer.design for layer in network.layers] == ["auto2", None, None]


def test_the_knee_is_by_its_rule(found: Path) -> None:
    points = read(found)["points"]
    ranges = {
        key: (min(each[key] for each in points), max(each[key] for each in points))
        for key in ("cycles", "lut")
    }

    def away(point: dict[str, float]) -> float:
        return sum(((point[k] - low) / (high - low)) ** 2 for k, (low, high) in ranges.items())

    assert read(found)["chosen"]["knee"] == min(range(len(points)), key=lambda i: away(points[i]))


def test_the_table_is_readable_at_80_columns(
    mine: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merp.tools.common.table._FILE_WIDTH", 80)
    words = ["explore", str(mine), "--board", BOARD, "--scope", "conv1"]
    table = terminal.output(*words).partition("Designs of")[0]
    assert max(map(len, table.splitlines())) <= 80
    assert "least-lut" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--objectives cycles,luts", "--objectives 'luts': allowed are cycles, bytes, lut, ff, "
         "bram, dsp, with commas; did you mean lut?"),
        ("--objectives ''", "--objectives"),
        ("--scope conv9", "--scope 'conv9': allowed are conv, all, conv1"),
        ("--method enumerate", "--method enumerate: allowed only with --architecture pipeline"),
        ("--seed 1", "--seed 1: allowed with --method nsga2"),
        ("--method nsga2", "pymoo is not installed: pip install 'merp[search]'"),
        ("--architecture pipeline --batch 2", "--batch 2: allowed with --architecture cnn-merp"),
        ("--architecture pipeline --for time", "--for time: allowed with --architecture cnn-merp"),
        ("--architecture pipeline --objectives bytes", "allowed are cycles, lut, bram, dsp"),
        ("-o FOUND --objectives cycles,dsp", "has 'least-lut.toml': allowed is a folder without"),
        ("-o OTHER", "front.json is of 'yours': allowed is a folder without points of another"),
        ("-o SPOILT", "front.json is no front: allowed is"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    words: str, said: str, mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, "pymoo", None)
    monkeypatch.setitem(sys.modules, "pymoo.algorithms.moo.nsga2", None)
    folders = {"FOUND": mine.parent / "found", "OTHER": tmp_path / "a", "SPOILT": tmp_path / "b"}
    for name, text in (("a", '{"network": "yours"}'), ("b", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "front.json").write_text(text)
    before = {path: path.read_bytes() for path in folders["FOUND"].iterdir() if path.is_file()}
    given = [str(folders.get(word, word.strip("'"))) for word in words.split()]
    try:
        status = main(["explore", str(mine), "--board", BOARD, *given])
    except SystemExit as error:
        status = error.code  # type: ignore[assignment]
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert said in err
    assert {p: p.read_bytes() for p in folders["FOUND"].iterdir() if p.is_file()} == before


@pytest.mark.full
def test_the_knee_is_simulated_to_the_golden_s_bits(found: Path, terminal: Terminal) -> None:
    words = ["simulate", str(found / "knee.toml"), "--layer", "all", "--phase", "all"]
    line = terminal.output(*words, "--images", "2", "--engine", "myhdl")
    assert "All 8 passes: equal to the golden" in line


@pytest.mark.full
@pytest.mark.ghdl
def test_the_knee_s_export_passes_its_bench(found: Path, tmp_path: Path) -> None:
    assert main(["export", str(found / "knee.toml"), "--all", "-o", str(tmp_path)]) == 0
    folders = sorted(path for path in tmp_path.iterdir() if path.is_dir())
    assert [path.name for path in folders] == [f"mine-auto2-{phase}" for phase in sorted(PHASES)]
    for folder in folders:
        status, lines = bench(built(folder))
        assert (status, lines[-1]) == (0, "PASS")
