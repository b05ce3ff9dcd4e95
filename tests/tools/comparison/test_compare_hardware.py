"""``merp compare --measured``: two machines on one network, by what their hardware did."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.myhdl_engine import elaboration_sha
from merp.models.network.network_file import read_network
from merp.tools.cli import main
from merp.tools.fpga.bitstream.engines import engine_of
from terminal import Terminal

LAYERS = """
input = { rows = 6, columns = 6, channels = 1 }

[[layer]]
name = "conv1"
maps = 3
kernel = 3
pool = { kind = "max", window = 2, stride = 2 }
design = "conv"

[[layer]]
name = "fc2"
maps = 3
relu = false
design = "full"
"""
FLOATS = f"""
[network]
name = "plain"
format = "bfloat16"
{LAYERS}
[design.conv]
k = 3
n_cu = 2
r = 2

[design.full]
k = 1
n_cu = 2
r = 2
"""
FIXED = f"""
[network]
name = "fixed"
format = "fixed16"
{LAYERS.replace('"conv"', '"array"').replace('"full"', '"array"')}
[design.array]
architecture = "mac-array"
pox = 4
poy = 4
pof = 4
"""
PHASES = ["conv1 fp", "fc2 fp", "fc2 dp", "fc2 ku", "conv1 ku"]


def synthesis(network: Path, layer: str | None, phase: str | None) -> dict[str, Any]:
    """As ``merp resources --json`` answers."""
    found = read_network(network)
    engine = engine_of(found, layer, phase)
    kinds = {"lut": 1000, "ff": 2000, "bram": 2.5, "dsp": 18, "delay_ns": 6.5}
    return {
        "network": found.name, "layer": layer, "phase": phase, "part": "xc7k325t", "yosys": "0.70",
        "design": engine.design, "hardware_sha": elaboration_sha(engine.top()), "total": kinds,
    }  # fmt: skip


def training(network: str, accuracy: float) -> dict[str, Any]:
    """As ``merp train --json`` answers."""
    return {
        "network": network, "engine": "golden", "steps": 440, "batch": 32, "seed": 0,
        "accuracy": accuracy, "images": {"trained": 1438, "held_out": 359},
    }  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both networks, and what the verbs left of them."""
    folder = tmp_path_factory.mktemp("hardware")
    for name, text in (("plain", FLOATS), ("fixed", FIXED)):
        (folder / f"{name}.toml").write_text(text)
        words = ["simulate", str(folder / f"{name}.toml"), "--layer", "all", "--phase", "all"]
        words += ["--images", "2", "--delta-at", "pooled", "-o", str(folder / name)]
        assert main(words + ["--state"] * (name == "plain")) == 0
    made = {
        "plain-conv.json": synthesis(folder / "plain.toml", "conv1", "fp"),
        "fixed.json": synthesis(folder / "fixed.toml", None, None),
        "digits.json": training("digits", 0.98),
        "digits-fixed.json": training("digits-fixed", 0.97),
    }
    for name, content in made.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def compare(given: Path, *measured: object, names: str = "cnn-merp,rtl-compiler") -> list[str]:
    words = ["compare", str(given / "plain.toml"), "--architecture", names, "--scope", "all"]
    words += ["--board", "vc709", "--word", "16", "--batch", "2"]
    return words + [word for each in measured for word in ("--measured", str(each))]


def test_both_machines_stand_side_by_side(given: Path, tmp_path: Path, terminal: Terminal) -> None:
    fixed = f"{given}/fixed.toml="
    own = [given / "plain", f"{fixed}{given}/fixed", given / "plain-conv.json"]
    trained = [given / "digits.json", given / "digits-fixed.json"]
    words = compare(given, *own, f"{fixed}{given}/fixed.json", *trained)
    assert main([*words, "-o", str(tmp_path / "page.html")]) == 0
    tables = json.loads((tmp_path / "page.json").read_text())["tables"]
    machines = ["cnn-merp", "rtl-compiler"]
    pins = tables["pins"]["rows"]
    assert [row["architecture"] for row in pins] == machines
    for row, name in zip(pins, ("plain", "fixed"), strict=True):
        runs = json.loads((given / name / "simulate.json").read_text())["runs"]
        assert sorted(f"{run['layer']} {run['phase']}" for run in runs) == sorted(PHASES)
        loads = sum(run["cycles"].get("kernel_load", 0) for run in runs)
        assert row["cycles_step"] == sum(run["cycles"]["total"] for run in runs) + loads
        assert {row["cycles_step_level"], row["traffic_ku_level"]} == {"rtl"}
        seen = [
            each for each in tables["ports"]["rows"] if each["architecture"] == row["architecture"]
        ]
        words_of = {each["port"]: each["step"] for each in seen}
        assert words_of == {
            port: sum(run["ports"].get(port, {"monitor": 0})["monitor"] for run in runs)
            for port in words_of
        }
        assert sum(words_of.values()) == sum(
            ways["monitor"] for run in runs for ways in run["ports"].values()
        )
    made = tables["synthesis"]["rows"]
    assert [row["architecture"] for row in made] == machines
    assert [row["bitstream"] for row in made] == [
        "conv1, fp: design conv", "design array, all phases"
    ]  # fmt: skip
    assert {row[f"{kind}_level"] for row in made for kind in ("lut", "dsp", "chip")} == {
        "synthesised"
    }
    assert [row["accuracy"] for row in tables["learning"]["rows"]] == [98, 97]
    assert "In hardware" in (tmp_path / "page.html").read_text()
    said = terminal.output(*words)
    assert " r │" in said
    assert " y │" in said


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path, Path], str]:
    """The run of floats, changed, in a folder of its own."""

    def made(given: Path, folder: Path) -> str:
        record = json.loads((given / "plain" / "simulate.json").read_text())
        change(record)
        (folder / "simulate.json").write_text(json.dumps(record))
        return str(folder)

    return made


def answered(name: str, **change: Any) -> Callable[[Path, Path], str]:
    """Another answer, changed."""

    def made(given: Path, folder: Path) -> str:
        record = json.loads((given / name).read_text()) | change
        (folder / name).write_text(json.dumps(record))
        return str(folder / name)

    return made


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda *_: "nowhere", "nowhere: "),
        (lambda _, folder: folder, "simulate.json: "),
        (changed(lambda record: record["runs"].pop()), "cnn-merp: fc2 ku is missing: allowed"),
        (
            changed(lambda record: record["runs"].append(record["runs"][0])),
            "cnn-merp: conv1 fp is there 2 times: allowed",
        ),
        (
            changed(lambda record: record["runs"][0].update(mismatches=3)),
            "conv1 fp: 3 words differ from the golden model",
        ),
        (
            changed(lambda record: record["runs"][0].update(hardware_sha="ab")),
            "conv1 fp: hardware_sha = ab: must be ",
        ),
        (
            changed(lambda record: record["runs"][0].pop("hardware_sha")),
            "conv1 fp: hardware_sha is missing: the hardware may have changed since",
        ),
        (
            changed(lambda record: record.update(network="nobody")),
            "network = 'nobody': allowed are plain and shipped networks",
        ),
        (changed(lambda record: record.update(network="lenet5")), "lenet5 has other layers than"),
        (
            lambda given, _: f"{given}/plain.toml={given}/fixed",
            "network = 'fixed': must be 'plain'",
        ),
        (answered("plain-conv.json", hardware_sha="ab"), "hardware_sha = ab: must be "),
        (
            answered("plain-conv.json", total={}),
            "not an answer of merp resources --json or merp train",
        ),
        (answered("plain-conv.json", phase="up"), "phase = 'up': must be null, or one of fp, "),
        (answered("plain-conv.json", layer="fc9"), "fc9"),
        (lambda *_: "x" * 300, "too long"),
        (answered("digits.json", accuracy=98), "accuracy = 98: must be a number from 0 to 1"),
    ],
)
def test_what_proves_nothing_is_refused(
    given: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[Path, Path], str],
    said: str,
) -> None:
    assert main(compare(given, made(given, tmp_path))) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_what_stands_side_by_side_is_of_one_size(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fewer = answered("digits-fixed.json", steps=10)(given, tmp_path)
    assert main(compare(given, given / "digits.json", fewer)) == 2
    assert "steps = 10, 440: allowed is the same of all" in capsys.readouterr().err
    assert main(compare(given, given / "digits.json", names="rtl-compiler")) == 2
    assert "digits is for cnn-merp: allowed are records of" in capsys.readouterr().err
