"""``merp sweep --architecture``: each point is what ``merp map`` and ``merp cluster`` say."""

import csv
import json
from pathlib import Path

import pytest

from merp.tools.cli import main
from needed_tools import needs
from terminal import Terminal

FPDEEP = ("sweep", "lenet5", "--architecture", "fpdeep")


def test_points_are_the_single_records(terminal: Terminal) -> None:
    axes = ("--vary", "boards=2..4", "--vary", "depth=1,4", "--vary", "balance=none,image")
    points = terminal.answer(*FPDEEP, *axes, "--batch", "9", "--jobs", "1")["points"]
    assert len(points) == 12
    for point in points:
        words = [
            word for name in ("devices", "depth", "balance") for word in (f"--{name}", point[name])
        ]
        record = terminal.answer(
            "map", "lenet5", "--architecture", "fpdeep", "--batch", "9", *words
        )
        totals = record["totals"]
        assert point["images_per_s"] == totals["images_per_s"]["value"]
        assert point["images_per_s_level"] == totals["images_per_s"]["level"]
        assert point["link_mb_per_gflop"] == totals["mb_per_gflop"]["link"]["value"]
        assert point["fits"] == record["fits"]
        assert point["refused"] is None


def test_simulated_points_are_those_of_the_cluster(terminal: Terminal) -> None:
    axes = ("--vary", "link_gbs=4,40", "--vary", "latency=0,500", "--vary", "devices=1..2")
    words = ("--simulate", "--batch", "5", "--jobs", "1")
    for point in terminal.answer(*FPDEEP, *axes, *words)["points"]:
        link = ("--link-gbs", point["link_gbs"], "--latency", point["latency"])
        found = terminal.answer(
            "cluster", "lenet5", "--images", "5", "--devices", point["devices"], *link
        )
        assert point["step_s"] == found["record"]["interval_s"]["value"]


def test_a_batch_that_is_too_large_to_simulate_is_refused(terminal: Terminal) -> None:
    words = ("--vary", "batch=2,1025", "--devices", "1", "--simulate", "--jobs", "1")
    small, large = terminal.answer(*FPDEEP, *words)["points"]
    assert small["refused"] is None
    assert large["refused"] == "1,025 images: a simulation keeps every task of at most 1,024"


def test_other_architectures_have_their_own_options(terminal: Terminal) -> None:
    words = ("--architecture", "fcnn", "--vary", "batch=8,16", "--jobs", "1")
    points = terminal.answer("sweep", "lenet5", *words)["points"]
    for point in points:
        record = terminal.answer(
            "map", "lenet5", "--architecture", "fcnn", "--batch", point["batch"]
        )
        assert point["images_per_s"] == record["totals"]["images_per_s"]["value"]


def test_alexnet_from_5_to_85_boards(terminal: Terminal) -> None:
    """More boards are faster until the links bind; behind that nothing changes."""
    points = terminal.answer(
        "sweep", "alexnet", "--architecture", "fpdeep", "--vary", "boards=5..85", "--jobs", "1"
    )["points"]
    assert [each["devices"] for each in points] == list(range(5, 86))
    speeds = [each["images_per_s"] for each in points]
    assert speeds[:64] == sorted(speeds[:64])
    assert len(set(speeds[64:])) == 1
    assert speeds[64] == pytest.approx(speeds[63], rel=0.01)


def test_files_and_what_is_shown_are_the_answer(tmp_path: Path, terminal: Terminal) -> None:
    words = [*FPDEEP, "--vary", "devices=1,2,99", "--simulate", "--batch", "3", "--jobs", "1"]
    folder = tmp_path / "out"
    answer = terminal.answer(*words, "-o", folder)
    assert json.loads((folder / "sweep.json").read_text()) == answer
    rows = list(csv.DictReader((folder / "sweep.csv").open()))
    assert [row["devices"] for row in rows] == ["1", "2", "99"]
    assert float(rows[1]["images_per_s"]) == answer["points"][1]["images_per_s"]
    assert "at most 40 boards can work, not 99" in rows[2]["refused"]
    assert {path.name for path in folder.iterdir()} == {
        "sweep.json", "sweep.csv", "sweep.svg", "finished"
    }  # fmt: skip
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shown = terminal.output(*words, "-o", folder)
    assert "lenet5 by fpdeep on vc709, simulated row by row" in shown
    assert "Not built: 1; the first: lenet5 has 40 maps" in shown
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--architecture fpdeeep --vary devices=2", "did you mean fpdeep?"),
        ("--architecture fpdeep --vary n_cu=2", "no axis 'n_cu': there are devices, link_gbs"),
        ("--architecture fpdeep --vary device=2", "did you mean devices?"),
        ("--architecture fpdeep --vary devices=0..4", "from 1 to 1024"),
        ("--architecture fpdeep --vary devices=1..1025", "from 1 to 1024"),
        ("--architecture fpdeep --vary link_gbs=0", "from 1 to 100000"),
        ("--architecture fpdeep --vary balance=batch", "allowed are none, image, with commas"),
        ("--architecture fpdeep --vary boards=2 --vary devices=3", "devices is given twice"),
        ("--architecture fpdeep --vary devices=2 --for time", "--for time: allowed without --arch"),
        ("--architecture fpdeep --vary devices=2 --clock 100", "--clock 100.0: allowed without"),
        ("--architecture fcnn --vary devices=2 --simulate", "allowed with --architecture fp"),
        ("--architecture fcnn --vary devices=2 --depth 3", "allowed only with --architecture fp"),
        ("--architecture fpdeep --vary devices=2 --board vc710", "did you mean vc709?"),
        ("--vary p=1 --simulate", "--simulate: allowed with --architecture"),
        ("--vary p=1 --board vc709", "--board vc709: allowed with --architecture"),
        ("--vary p=1 --depth 3", "--depth: allowed only with --architecture fpdeep"),
        ("--vary p=1 --scope all", "--scope all: allowed with --architecture"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: str, complaint: str, terminal: Terminal) -> None:
    told = terminal.refusal("sweep", "lenet5", *words.split())
    assert complaint in told


@pytest.mark.full
@needs("distributed")
def test_two_dask_workers_give_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    from distributed import LocalCluster

    words = [*FPDEEP, "--vary", "devices=1..4", "--simulate", "--batch", "4", "--json"]
    here = terminal.output(*words, "--jobs", "2")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        assert main([*words, "--dask", cluster.scheduler_address]) == 0
    assert capsys.readouterr().out == here
