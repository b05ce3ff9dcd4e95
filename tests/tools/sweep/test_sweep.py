"""``merp sweep``: each point is what a network file with its values is, wherever it is computed."""

import csv
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import merp
from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.cycles import network_cycles
from merp.models.network.network_file import network_of
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.comparison.sweep.axes import design_axes, read_axes
from merp.tools.comparison.sweep.evaluate import PointJob, evaluate
from merp.tools.comparison.sweep.report import pareto
from needed_tools import needs
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (5, 5, 2),
    layer("conv1", 3, kernel=2, pool={"kind": "max", "window": 2}, design="k2"),
    layer("conv2", 4, kernel=2, design="k2"),
    layer("fc3", 3),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1}},
)
AXES = design_axes(open_network("digits"))
AXES_200 = ("n_cu=1:5", "r=1,2", "p=1:2", "add_latency=1:5", "batch=2,7")


def single(folder: Path, point: dict[str, Any]) -> dict[str, Any]:
    """A point by what is known of a network file that says its values."""
    design = "".join(f"{key} = {value}\n" for key, value in point.items() if key != "batch")
    path = folder / "network.toml"
    path.write_text(NETWORK.replace("n_cu = 1\nr = 1\n", design))
    try:
        net = merp.load(path)
    except merp.BadInput as error:
        return point | {"time": None, "bytes": None, "refused": str(error)}
    batch = point["batch"]
    cycles = sum(each.phase for _, _, each in network_cycles(net.description, batch))
    moved = net.traffic(batch=batch, count="all").total("step").bytes
    return point | {"time": cycles / 137e6, "bytes": moved, "refused": None}


@pytest.mark.full
def test_200_points_are_the_single_runs(
    network_file: Path, tmp_path: Path, terminal: Terminal
) -> None:
    over = [word for axis in AXES_200 for word in ("--over", axis)]
    answer = terminal.answer("sweep", network_file, *over, "--jobs", "2")
    points = answer["points"]
    assert len(points) == 200
    keys = "n_cu", "r", "p", "add_latency", "batch"
    assert len({tuple(each[key] for key in keys) for each in points}) == 200
    for found in points:
        on_front = found.pop("pareto")
        wanted = single(tmp_path, {key: found[key] for key in keys})
        assert found == wanted
        assert not (on_front and found["refused"])
    refused = [each for each in points if each["refused"]]
    assert {(each["n_cu"], each["r"]) for each in refused} == {(1, 2)}
    assert "r must not exceed n_cu (1), not 2" in refused[0]["refused"]


def test_bytes_are_those_of_the_network_as_it_is_stored() -> None:
    tables = tomllib.loads(NETWORK)
    tables["network"]["storage"] = {"maps": "bfloat16", "gradients": "bfloat16"}
    for point in ({"n_cu": 2}, {}):
        job = PointJob(
            file="t", tables=tables, point=point, goals=("bytes",), batch=4, clock_mhz=1.0
        )  # fmt: skip
        network = network_of("t", tables)
        assert network.storage is not None
        layers = network_traffic(network, 4, Count(name="all"))
        assert evaluate(asdict(job))["bytes"] == total(layers, "step").bytes
        plain = network_traffic(replace(network, storage=None), 4, Count(name="all"))
        maps = ("map_in", "map_out", "state_out", "state_in")  # the state is the activation
        halves = sum(total(plain, "step").streams[port] for port in maps) // 2
        assert total(plain, "step").bytes - total(layers, "step").bytes == halves


def test_the_front_is_what_no_other_beats() -> None:
    found = [(3, 1), (1, 3), (2, 2), (2, 3), (3, 3), (1, 3), (None, 0)]
    results = [{"time": time, "bytes": moved} for time, moved in found]
    assert pareto(results, ("time", "bytes")) == [0, 1, 2, 5]
    assert pareto(results, ("time",)) == [1, 5]
    assert pareto(results, ("bytes",)) == [6]
    assert pareto([], ("bytes",)) == []


def test_what_is_written_and_shown_is_the_answer(
    network_file: Path, tmp_path: Path, terminal: Terminal
) -> None:
    words = ["sweep", str(network_file), "--over", "n_cu=1,2", "--over", "clock=50:100:50"]
    folder = tmp_path / "out"
    answer = terminal.answer(*words, "--jobs", "1", "-o", folder)
    assert json.loads((folder / "sweep.json").read_text()) == answer
    rows = list(csv.DictReader((folder / "sweep.csv").open()))
    assert [row["n_cu"] for row in rows] == ["1", "1", "2", "2"]
    assert [float(row["time"]) for row in rows] == [each["time"] for each in answer["points"]]
    assert (folder / "pareto.png").read_bytes().startswith(b"\x89PNG")
    assert answer["points"][0]["time"] == 2 * answer["points"][1]["time"]
    shown = terminal.output(*words, "--jobs", "1")
    assert "tiny: 1 of 4 points that no other beats" in " ".join(shown.split())
    (best,) = (each for each in answer["points"] if each["pareto"])
    figures = rf" {best['n_cu']} +│ +100 │ +{1e3 * best['time']:.3f} │ +{best['bytes'] / 1e6:.3f} │"
    assert re.search(figures, shown)


def test_a_single_goal_has_no_picture(network_file: Path, tmp_path: Path) -> None:
    words = ["sweep", str(network_file), "--over", "p=1", "--for", "bytes", "--jobs", "1"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    names = {"sweep.json", "sweep.csv", "finished"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--over board=a,b", f"no axis 'board': there are {', '.join(AXES)}"),
        ("--over n_cus=1", "; did you mean n_cu?"),
        ("--over n_cu", "--over n_cu: must be LOW:HIGH, LOW:HIGH:STEP or numbers with commas, "),
        ("--over n_cu=8:4", "from 1 to 512"),
        ("--over n_cu=1:9:0", "from 1 to 512"),
        ("--over n_cu=0,1", "from 1 to 512"),
        ("--over n_cu=1:513", "from 1 to 512"),
        ("--over n_cu=-1", "from 1 to 512"),
        ("--over n_cu=1:999999999", "from 1 to 512"),
        ("--over n_cu=1:9999999999", "from 1 to 512"),
        ("--over n_cu=1,٣", "from 1 to 512"),
        ("--over cu_kind=tree,fus", "allowed are tree, fused, with commas"),
        ("--over n_cu=1 --over n_cu=2", "n_cu is given twice: allowed is once"),
        ("--over batch=1:65536 --over p=1,2", "131,072 points or more: allowed are 100,000"),
        ("--over p=1 --for size", "--for size: allowed are time, bytes, lut, ff, bram, dsp"),
        ("--over p=1 --for time,", "--for time,: allowed are time, bytes"),
        ("--over p=1 --jobs 0", "from 1 to 512"),
        ("", "--over"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    words: str, complaint: str, network_file: Path, terminal: Terminal
) -> None:
    told = terminal.refusal("sweep", network_file, *words.split())
    assert complaint in told


def test_a_network_without_designs_has_few_axes(tmp_path: Path, terminal: Terminal) -> None:
    bare = NETWORK.partition("[design")[0].replace('design = "k2"\n', "")
    (tmp_path / "bare.toml").write_text(bare)
    assert terminal.refusal("sweep", tmp_path / "bare.toml", "--over", "n_cu=1") == (
        "merp: bare.toml: no layer has a design: allowed are the axes batch, clock"
    )


def test_axes_are_those_of_the_machine(terminal: Terminal) -> None:
    words = ["sweep", "digits-fixed", "--for", "bytes", "--over"]
    assert terminal.refusal(*words, "n_cu=1") == (
        "merp: --over n_cu=1: no axis 'n_cu': there are batch, clock"
    )
    assert terminal.refusal("sweep", "digits-fixed", "--over", "batch=1,2").endswith(
        "mac-array has no model of cycles: allowed are the goals bytes, lut, ff, bram, dsp"
    )


def test_ranges_have_both_ends() -> None:
    found = read_axes(["n_cu=8:48:8", "p=2,1,2", "cu_kind=fused", "batch=3..5"], AXES)
    assert found == {
        "n_cu": (8, 16, 24, 32, 40, 48), "p": (1, 2), "cu_kind": ("fused",), "batch": (3, 4, 5),
    }  # fmt: skip
    with pytest.raises(BadInput):
        read_axes(["p=1:3"], AXES)


@pytest.mark.full
@needs("distributed")
def test_two_dask_workers_give_the_same_bytes(
    network_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    from distributed import LocalCluster

    words = ["sweep", str(network_file), "--over", "n_cu=1:5", "--over", "r=1,2", "--json"]
    here = terminal.output(*words, "--jobs", "1")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        assert main([*words, "--dask", cluster.scheduler_address]) == 0
    assert capsys.readouterr().out == here


@pytest.mark.full
@needs("distributed")
def test_a_scheduler_that_is_not_there_is_told(network_file: Path, terminal: Terminal) -> None:
    words = ["sweep", str(network_file), "--over", "p=1", "--dask", "tcp://127.0.0.1:1"]
    assert "nobody answers: allowed is a scheduler" in terminal.refusal(*words)


@pytest.mark.full
@needs("yosys")
def test_logic_is_that_of_the_largest_engine(network_file: Path, terminal: Terminal) -> None:
    (point,) = terminal.answer(
        "sweep", network_file, "--over", "n_cu=2", "--for", "lut,dsp", "--jobs", "1"
    )["points"]
    network_file.with_name("two.toml").write_text(NETWORK.replace("n_cu = 1", "n_cu = 2"))
    totals = [
        terminal.answer("resources", network_file.with_name("two.toml"), "--layer", "conv2",
                  "--phase", phase)["total"]
        for phase in ("fp", "dp", "ku")
    ]  # fmt: skip
    assert point["lut"] == max(each["lut"] for each in totals)
    assert point["dsp"] == max(each["dsp"] for each in totals)


def test_workers_end_with_who_started_them() -> None:
    """Killed in the middle of so many points that they take half a minute."""
    words = "sweep", "alexnet", "--over", "n_cu=8:48", "--over", "add_latency=1:5", "--jobs", "2"
    program = "import sys; from merp.tools.cli import main; sys.exit(main())"
    sweep = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert sweep.stderr is not None
        assert "processes: 2" in sweep.stderr.readline()
        sleep(4)  # the workers are there, and hold its standard error, too
    finally:
        sweep.kill()
    _, told = sweep.communicate(timeout=60)  # until nobody holds it
    assert "205 of 205" not in told
