"""``merp plan`` and ``merp traffic --board`` on the command line, and from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import merp
from merp.models.base.errors import BadInput
from merp.tools.cli import main

FLATTENED = """
[network]
name = "flattened"
input = { rows = 4, columns = 4, channels = 1 }
[[layer]]
name = "conv1"
maps = 2
kernel = 1
[[layer]]
name = "fc2"
maps = 3
[[layer]]
name = "conv3"
maps = 2
kernel = 4
pad = 3
add = "conv1"
[[layer]]
name = "fc4"
maps = 3
relu = false
"""
MINE = """
[board]
name = "mine"
part = "xc7k325t"
clock_mhz = 137
[memory]
gbytes_s = 12.8
efficiency = 0.8
"""


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_answer_has_passes_bitstreams_and_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "plan", "lenet5", "--board", "kc705", "--batch", "4")
    assert (found["network"], found["batch"], found["for"]) == ("lenet5", 4, "bytes")
    assert found["board"]["part"] == "xc7k325t"
    row = next(r for r in found["layers"] if (r["name"], r["phase"]) == ("conv2", "fp"))
    assert row["bytes"] == sum(row["ports"].values())
    assert row["passes"] == row["groups"] * row["input_parts"] * row["output_parts"]
    assert row["hardware"] is True
    for engine in found["bitstreams"]:
        assert engine["bram"] == sum(memory["bram"] for memory in engine["memories"])
        assert engine["bram"] <= found["board"]["capacity"]["bram"]
    step = found["step"]
    assert step["seconds"] == pytest.approx(step["computing_seconds"] + step["loading_seconds"])
    assert found["total_all"]["step"]["bytes"] == sum(r["bytes"] for r in found["layers"])


def test_what_has_no_hardware_is_marked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = answer(capsys, "plan", "alexnet", "--board", "kc705")
    assert all(row["hardware"] for row in found["layers"])
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "alexnet"\n[network]\nname = "mine"\n[design.k3]\nmap_port = 4\n')
    assert all(
        row["hardware"] for row in answer(capsys, "plan", str(mine), "--board", "kc705")["layers"]
    )
    mine.write_text(FLATTENED)
    assert main(["plan", str(mine), "--board", "kc705"]) == 0
    shown = capsys.readouterr().out
    assert "fc2 *" in shown
    told = "no hardware expands the deltas at which sums of flattened maps start"
    assert told in " ".join(shown.split())


def test_traffic_on_a_board_is_that_of_its_plan(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("lenet5", "--board", "nexys-video", "--batch", "8", "--state-bits", "1")
    plan, traffic = answer(capsys, "plan", *words), answer(capsys, "traffic", *words)
    assert (traffic["footing"], traffic["board"]) == ("board", "nexys-video")
    for row in plan["layers"]:
        layer = next(each for each in traffic["layers"] if each["name"] == row["name"])
        assert layer[row["phase"]]["streams"] == row["ports"]
    assert traffic["total_all"]["step"]["bytes"] == plan["total_all"]["step"]["bytes"]


def test_footing_board_is_the_papers_board_where_none_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("traffic", "lenet5", "--footing", "board", "--batch", "2")
    assert answer(capsys, *words)["board"] == "paper"
    assert answer(capsys, *words, "--memory", "2000000")["board"] is None


def test_a_users_own_board_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    assert answer(capsys, "plan", "digits", "--board", str(file))["board"]["name"] == "mine"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("xc7k325t", "xc7k70t", "board: part = 'xc7k70t': must be one of xc7k325t, "),
        ("clock_mhz = 137", "clock_mhz = 0", "clock_mhz = 0: must be a number from 1 to 2000"),
        ("efficiency = 0.8", "efficiency = 1.5", "efficiency = 1.5: must be a number from"),
        ("efficiency", "eficiency", "efficiency is missing; is 'eficiency' meant to be it?"),
        ("clock_mhz", "colour = 1\nclock_mhz", "unknown key 'colour': allowed are "),
        ("12.8", "true", "gbytes_s = true: must be a number"),
        ("[memory]", "[memry]", "memory is missing; is 'memry' meant to be it?"),
    ],
)
def test_a_mistake_in_a_board_file_is_named(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE.replace(old, new))
    assert main(["plan", "digits", "--board", str(file)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "mine.toml: " in complaint
    assert said in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "plan digits --board kc75",
            "allowed are kc705, nexys-video, paper, vc707, vc709, ",
        ),
        ("plan digits --board none.toml", "none.toml: cannot be read"),
        ("traffic digits --board kc705 --memory 9", "--memory 9: allowed without --board"),
        ("traffic digits --footing full --board kc705", "--board kc705: allowed with --footing"),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert said in complaint


def test_a_layer_whose_design_is_left_to_the_plan_gets_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[network]\nname = "mine"\ninput = { rows = 8, columns = 8, channels = 2 }\n'
        '[[layer]]\nname = "conv1"\nmaps = 6\nkernel = 3\npad = 1\ndesign = "auto"\n'
        '[[layer]]\nname = "fc2"\nmaps = 4\ndesign = "auto"\n'
    )
    found = answer(capsys, "plan", str(file), "--board", "nexys-video", "--batch", "3")
    assert [name for name, each in found["designs"].items() if each["chosen"]] == ["auto3"]
    assert {row["design"] for row in found["layers"]} == {"auto3"}
    assert main(["simulate", str(file), "--layer", "conv1"]) == 2
    assert "traffic only" in capsys.readouterr().err


def test_ports_of_chosen_designs_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[network]\nname = "mine"\ninput = { rows = 5, columns = 5, channels = 8 }\n'
        '[[layer]]\nname = "conv1"\nmaps = 16\nkernel = 3\ndesign = "auto"\n'
    )
    words = ("plan", str(file), "--board", "kc705", "--batch", "1")
    design = answer(capsys, *words)["designs"]["auto3"]
    assert design["kernel_port"] > 1
    assert main([*words]) == 0
    said = f"auto3 (16 units of 3 x 3, kernel_port {design['kernel_port']}"
    assert said in " ".join(capsys.readouterr().out.split())


def test_the_library_gives_the_same_plan(capsys: pytest.CaptureFixture[str]) -> None:
    found = merp.load("digits").plan("kc705", 7, goal="time", apart=True)
    words = ("plan", "digits", "--board", "kc705", "--batch", "7", "--for", "time", "--apart")
    assert found.json() == answer(capsys, *words)
    assert [row["bytes"] for row in found] == [row["bytes"] for row in found.json()["layers"]]
    with pytest.raises(BadInput, match="goal = 'speed': allowed are bytes, time"):
        merp.load("digits").plan("kc705", goal="speed")


def test_the_best_designs_are_named_with_the_command_that_plans_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["plan", "vgg16-small", "--board", "kc705", "--batch", "2"]
    shipped = answer(capsys, *words)
    assert (shipped["fit"], shipped["bitstreams"][0]["n_cu"]) == ("shipped", [16])
    best = answer(capsys, *words, "--fit", "best")
    assert (best["fit"], best["faster"]) == ("best", None)
    assert best["designs"]["auto3"]["chosen"] is True
    step = {key: best["step"][key] for key in ("seconds", "images_per_second")}
    assert shipped["faster"] == step
    assert main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    command = "merp plan vgg16-small --board kc705 --batch 2 --fit best"
    assert out.endswith(command)
    assert main(["plan", "vgg16", *words[2:]]) == 0
    assert "--fit best" not in capsys.readouterr().out
    found = merp.load("vgg16-small").plan("kc705", 2, fit="best")
    assert found.seconds == step["seconds"]
    assert found.json() == best
    with pytest.raises(merp.BadInput, match=r"fit = 'both': allowed are best, shipped"):
        merp.load("vgg16-small").plan("kc705", 2, fit="both")


def test_a_written_file_names_the_fit_and_holds_the_best_designs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "best.toml"
    words = ["--board", "kc705", "--batch", "2"]
    written = ["plan", "vgg16-small", *words, "--fit", "best", "-o", str(path)]
    best = answer(capsys, *written)
    assert "--fit best" in path.read_text().partition("\n")[0]
    again = answer(capsys, "plan", str(path), *words)
    assert again["step"] == best["step"]
