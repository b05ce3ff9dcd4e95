"""``merp simulate`` on a small network: its answer, its failures, its complaints."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marks import in_full
from merp.cosim.engines import simulators
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation
from merp.hdl.cnn_merp.ports.forward_ports import ForwardPorts
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network.network_file import read_network
from merp.tools.simulate import report
from network_text import layer, max_pool, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (7, 7, 1),
    layer("conv1", 4, kernel=3, pad=1, pool=max_pool(3, 2), design="k3"),
    layer("conv2", 6, kernel=3, pad=1, groups=2, design="k3"),
    layer("fc3", 3, relu=False),
    designs={"k3": {"k": 3, "n_cu": 2, "r": 2, "d": 2, "mul_latency": 1, "add_latency": 2}},
)


KEYS = {
    "network", "layer", "group", "groups", "phase", "engine", "cu_array", "cu_kind", "ku_kind",
    "design", "hardware_sha", "elaboration_sha", "images", "rows", "bit_exact", "mismatches",
    "words_compared", "ports", "cycles", "mb_per_gflop", "seconds", "build_seconds",
}  # fmt: skip


def test_answer_has_the_fixed_keys_and_every_count_is_equal(
    network_file: Path, terminal: Terminal
) -> None:
    answer = terminal.answer(
        "simulate", network_file, "--layer", "conv2", "--group", "1", "--images", "2"
    )
    assert answer.keys() >= KEYS
    assert answer["bit_exact"] is True
    assert (answer["group"], answer["groups"], answer["words_compared"]) == (1, 2, 2 * 9 * 3)
    words = {"map_in": 2 * 9 * 2, "map_out": 2 * 9 * 3, "kernel": 2 * 3 * 9, "bias": 3}
    for port, count in words.items():
        counts = answer["ports"][port]
        assert counts.keys() == {"closed_form", "counter", "hardware", "monitor"}
        assert set(counts.values()) == {count}
    cycles = answer["cycles"]
    causes = [cycles[key] for key in ("issue", "fill", "drain")] + list(cycles["stall"].values())
    assert cycles["total"] == sum(causes)
    # 2 input maps, 2 groups of CUs, 9 positions, 2 images; 3 of 4 slots are useful
    assert (cycles["issue"], cycles["ideal"]) == (2 * 2 * 9 * 2, 2 * 3 * 9 * 2 / 2)
    assert cycles["slot_efficiency"] == 0.75
    assert cycles["efficiency"] == cycles["ideal"] / cycles["total"]
    assert cycles["efficiency"] == pytest.approx(1 - sum(cycles["lost"].values()))
    assert cycles["lost"]["idle CUs"] == (72 - 54) / cycles["total"]
    network = read_network(network_file)
    model = layer_cycles(network, network.layer("conv2"), "fp", 2)
    assert model is not None
    assert cycles["model"] == model.efficiency
    here = {"fill": cycles["fill"], "stall_hazard": cycles["stall"]["hazard"]}
    assert {name: getattr(model, name) for name in here} == {  # of both groups
        name: 2 * count for name, count in here.items()
    }
    operations = 2 * 9 * 2 * 3 * 9 * 2
    assert answer["mb_per_gflop"]["paper"] == pytest.approx((36 + 54) * 4 / operations * 1000)
    assert answer["mb_per_gflop"]["full"] == pytest.approx((36 + 54 + 57) * 4 / operations * 1000)


def test_all_layers_feed_each_other_on_one_elaboration(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    answer = terminal.answer("simulate", network_file, "--layer", "all", "-o", tmp_path)
    assert [run["layer"] for run in answer["runs"]] == ["conv1", "conv2"]
    assert all(run["bit_exact"] and run["group"] == "all" for run in answer["runs"])
    assert len({run["elaboration_sha"] for run in answer["runs"]}) == 1
    assert answer["total"]["words_compared"] == 9 * 4 + 9 * 6
    assert json.loads((tmp_path / "simulate.json").read_text()) == answer
    assert "0 differ" in (tmp_path / "simulate.txt").read_text()
    for name in ("tiny-conv1.png", "tiny-conv2.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_row_of_a_wrong_pass_says_so(
    network_file: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong bit and a wrong count in every pass, even where few rows are shown."""

    def wrong(record: RunRecord, expected: Expectation) -> Audit:
        outcome = record.outcome
        words = {stream: found ^ 1 for stream, found in outcome.words.items()}
        status = dict(outcome.status) | {"status_map_in": 1}
        return audit(
            replace(record, outcome=replace(outcome, words=words, status=status)), expected
        )

    command = ("simulate", network_file, "--layer", "all")
    assert "FAILED" not in terminal.output(*command)
    monkeypatch.setattr(run_and_audit, "audit", wrong)
    monkeypatch.setattr(report, "ROWS", 0)
    status, out, _ = terminal.run(*command)
    assert status == 1
    rows = [line for line in out.splitlines() if line.startswith("│ conv")]
    assert [("36 differ" in row or "54 differ" in row, "DIFFER" in row) for row in rows] == [
        (True, True), (True, True),
    ]  # fmt: skip
    assert out.count("FAILED    conv") >= 4


def test_cus_and_waveform(network_file: Path, terminal: Terminal, tmp_path: Path) -> None:
    vcd = tmp_path / "ports.vcd"
    answer = terminal.answer(
        "simulate", network_file, "--layer", "conv1", "--cus", "3", "--wave", vcd
    )
    assert answer["n_cu"] == 3
    assert answer["cycles"]["slot_efficiency"] == pytest.approx(4 / 6)
    for counts in answer["ports"].values():
        assert counts.keys() >= {"waveform"}
        assert len(set(counts.values())) == 1


def test_the_first_rows_alone_are_a_run_of_their_own(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    folder = tmp_path / "rows"
    arguments = ("simulate", network_file, "--layer", "conv1", "-o", folder, "--resume")
    answer = terminal.answer(*arguments, "--rows", "5", "--state")
    assert answer["rows"] == 5
    words = {"map_in": 5 * 7, "map_out": 2 * 3 * 4, "kernel": 4 * 9, "bias": 4}
    assert {port: answer["ports"][port]["monitor"] for port in words} == words
    assert all(len(set(counts.values())) == 1 for counts in answer["ports"].values())
    assert answer["bit_exact"] is True
    assert answer["words_compared"] > words["map_out"]
    assert "fp, first 5 rows, group 0" in (folder / "simulate.txt").read_text()
    # It keeps to its own size, though the other one is finished.
    whole = terminal.answer(*arguments, "--state")
    assert whole["rows"] == 7
    assert whole["ports"]["map_out"]["monitor"] == 3 * 3 * 4


def test_the_first_rows_without_state_as_the_demo_has_them(
    network_file: Path, terminal: Terminal
) -> None:
    answer = terminal.answer("simulate", network_file, "--layer", "conv1", "--rows", "5")
    assert (answer["rows"], answer["bit_exact"], answer["words_compared"]) == (5, True, 2 * 3 * 4)


def test_people_get_a_table(network_file: Path, terminal: Terminal) -> None:
    text = terminal.output("simulate", network_file)
    for part in ("closed form", "monitor", "36 words compared, 0 differ", "MB/GFlop", "stalls"):
        assert part in text


def test_kernels_of_a_user(network_file: Path, terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "kernels.npz"
    np.savez(path, **{"conv1.kernel": np.zeros((4, 1, 3, 3), np.float32)})
    answer = terminal.answer("simulate", network_file, "--kernels", path)
    assert answer["bit_exact"] is True
    kernel = np.ones((4, 1, 3, 3), np.float32)
    kernel[2, 0, 1, 1] = np.nan
    np.savez(path, **{"conv1.kernel": kernel})
    said = terminal.refusal("simulate", network_file, "--kernels", path)
    assert f"{path}: conv1.kernel[2, 0, 1, 1] = nan" in said


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--layer", "conv9"], "no layer 'conv9': allowed are conv1, conv2, fc3"),
        (["--layer", "fc3"], "layer fc3 has no design (traffic only)"),
        (["--layer", "conv2", "--group", "2"], "--group 2: conv2 has 2: allowed: 0 to 1, all"),
        (["--layer", "conv2", "--group", "-1"], "--group -1: conv2 has 2"),
        (["--layer", "all", "--group", "0"], "--group 0: with --layer all every group runs"),
        (["--phase", "dp"], "--phase dp: conv1 is the first layer, its input has no delta"),
        (["--engine", "ghdl", "--cu-array", "behavioural"], "allowed: rtl"),
        (["--cus", "0"], "must be a whole number from 1 to 512"),
        (["--images", "-3"], "must be a whole number from 1 to 256"),
        (["--rows", "0"], "must be a whole number from 1 to"),
        (["--rows", "8"], "--rows 8: conv1 has 7: allowed: 1 to 7"),
        (["--rows", "2"], "--rows 2: conv1: pool window must not exceed the 2 x 7 output"),
        (["--rows", "4", "--layer", "all"], "--rows 4: allowed with one layer, and --phase fp"),
        (["--rows", "4", "--phase", "ku"], "--rows 4: allowed with one layer, and --phase fp"),
        (["--image", "nothing.jpg"], "nothing.jpg: not a readable image"),
        (["--kernels", "nothing.npz"], "nothing.npz: cannot be read: No such file or directory"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[object],
    wanted: str,
    network_file: Path,
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert wanted in terminal.refusal("simulate", network_file, *arguments)


@pytest.mark.verilator
@pytest.mark.parametrize("array", [None, *in_full("behavioural")])
def test_the_answer_names_the_array_that_ran(
    array: str | None, network_file: Path, terminal: Terminal
) -> None:
    words = ["simulate", network_file, "--engine", "verilator", "--cus", 1]
    words += ["--cu-array", array] if array else []
    ran = array or "rtl"
    assert f"engine verilator, CU array {ran} " in f"{terminal.prose(*words)} "
    answer = terminal.answer(*words)
    assert answer["cu_array"] == ran
    assert (answer["bit_exact"], answer["failures"]) == (True, [])


@pytest.mark.parametrize("engine", ["ghdl", "verilator"])
def test_missing_simulator_is_bad_input(
    engine: str, network_file: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulators.shutil, "which", lambda *_, **__: None)
    said = terminal.refusal("simulate", network_file, "--engine", engine)
    assert f"--engine {engine}: " in said


@pytest.mark.ghdl
def test_python_without_a_shared_library_is_bad_input(
    network_file: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cocotb has the simulator load it; builds by pyenv have none unless they are asked to."""
    monkeypatch.delenv("LIBPYTHON_LOC", raising=False)
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    said = terminal.refusal("simulate", network_file, "--engine", "ghdl")
    assert "--engine ghdl: this Python has no shared" in said


@pytest.mark.parametrize(
    ("engine", "array"),
    [
        pytest.param("myhdl", "rtl"),
        pytest.param("verilator", "rtl", marks=pytest.mark.verilator),
        pytest.param("verilator", "behavioural", marks=(pytest.mark.full, pytest.mark.verilator)),
        pytest.param("ghdl", "rtl", marks=pytest.mark.ghdl),
    ],
)
def test_the_forward_engine_gives_one_record_on_every_engine(
    engine: str, array: str, network_file: Path
) -> None:
    network = read_network(network_file)
    jobs = []
    for kind in ("behavioural", array):
        runs = []
        for seed, name in enumerate(("conv1", "conv2", "conv1")):
            layer = network.layer(name)
            shape, design = layer.shape, design_of(network, layer)
            rng = np.random.default_rng(seed)
            size = (2, shape.rows, shape.columns, shape.n)
            x = rng.standard_normal(size).astype(np.float32).view(np.uint32)
            kernels, bias = (words[: shape.m] for words in parameters(network, seed)[name])
            stalls = {
                stream: (*(int(bit) for bit in rng.integers(0, 2, 5)), 1)
                for stream in ForwardPorts.streams_of(design).values()
            }
            reset_at = 100 if seed == 1 else None
            runs.append(forward_run(shape, design, x, kernels, bias, stalls, reset_at))
        jobs.append(Job(forward_top(design, kind), runs, limit=2000))
    reference = run_job(jobs[0], "myhdl")
    records = run_job(jobs[1], engine)
    for ours, theirs in zip(reference, records, strict=True):
        assert ours.differences(theirs) == []
        assert ours.outcome.faults == ()
