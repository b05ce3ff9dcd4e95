"""``merp plan`` and ``merp traffic --board`` on the command line, and from Python."""

from pathlib import Path

import pytest

import merp
from merp.models.base.errors import BadInput
from merp.tools.cli import main
from network_text import layer, network_text
from terminal import Terminal

FLATTENED = network_text(
    "flattened",
    (4, 4, 1),
    layer("conv1", 2, kernel=1),
    layer("fc2", 3),
    layer("conv3", 2, kernel=4, pad=3, add="conv1"),
    layer("fc4", 3, relu=False),
)
MINE = """
[board]
name = "mine"
part = "xc7k325t"
clock_mhz = 137
[memory]
gbytes_s = 12.8
efficiency = 0.8
"""


def test_the_answer_has_passes_bitstreams_and_the_step(terminal: Terminal) -> None:
    found = terminal.answer("plan", "lenet5", "--board", "kc705", "--batch", "4")
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
    assert step["loading_share"] == pytest.approx(step["loading_seconds"] / step["seconds"])
    assert [each["share"] for each in step["least_batches"]] == [0.11, 0.05, 0.01]
    assert found["total_all"]["step"]["bytes"] == sum(r["bytes"] for r in found["layers"])


def test_what_has_no_hardware_is_marked(terminal: Terminal, tmp_path: Path) -> None:
    found = terminal.answer("plan", "alexnet", "--board", "kc705")
    assert all(row["hardware"] for row in found["layers"])
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "alexnet"\n[network]\nname = "mine"\n[design.k3]\nmap_port = 4\n')
    assert all(
        row["hardware"] for row in terminal.answer("plan", mine, "--board", "kc705")["layers"]
    )
    mine.write_text(FLATTENED)
    assert "fc2 do not run in hardware yet" in terminal.prose("plan", mine, "--board", "kc705")
    assert "fc2 *" in terminal.output("plan", mine, "--board", "kc705", "--details")


def test_traffic_on_a_board_is_that_of_its_plan(terminal: Terminal) -> None:
    words = ("lenet5", "--board", "nexys-video", "--batch", "8", "--state-bits", "1")
    plan, traffic = terminal.answer("plan", *words), terminal.answer("traffic", *words)
    assert (traffic["footing"], traffic["board"]) == ("board", "nexys-video")
    for row in plan["layers"]:
        layer = next(each for each in traffic["layers"] if each["name"] == row["name"])
        assert layer[row["phase"]]["streams"] == row["ports"]
    assert traffic["total_all"]["step"]["bytes"] == plan["total_all"]["step"]["bytes"]


def test_count_board_is_the_papers_board_where_none_is_named(terminal: Terminal) -> None:
    words = ("traffic", "lenet5", "--count", "board", "--batch", "2")
    assert terminal.answer(*words)["board"] == "paper"
    assert terminal.answer(*words, "--memory", "2000000")["board"] is None


def test_a_users_own_board_is_read(tmp_path: Path, terminal: Terminal) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    assert terminal.answer("plan", "digits", "--board", file)["board"]["name"] == "mine"


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
    old: str, new: str, said: str, tmp_path: Path, terminal: Terminal
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE.replace(old, new))
    complaint = terminal.refusal("plan", "digits", "--board", file)
    assert "mine.toml: " in complaint
    assert said in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "plan digits --board kc75",
            "allowed are arty-a7-100, kc705, nexys-video, paper, ",
        ),
        ("plan digits --board none.toml", "none.toml: cannot be read"),
        ("plan digits --board ulx3s-85f", "'ulx3s-85f': LFE5U-85F: estimates are for FPGAs of AMD"),
        ("explore digits --board versa-ecp5", "LFE5UM-45F: estimates are for FPGAs of AMD"),
        (
            "explore lenet5 --scope all --architecture pipeline --board ulx3s-85f",
            "LFE5U-85F: estimates are for FPGAs of AMD",
        ),
        ("traffic digits --board kc705 --memory 9", "--memory 9: allowed without --board"),
        ("traffic digits --count all --board kc705", "--board kc705: allowed with --count"),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert said in complaint


def test_a_layer_whose_design_is_left_to_the_plan_gets_one(
    tmp_path: Path, terminal: Terminal
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[network]\nname = "mine"\ninput = { rows = 8, columns = 8, channels = 2 }\n'
        '[[layer]]\nname = "conv1"\nmaps = 6\nkernel = 3\npad = 1\ndesign = "auto"\n'
        '[[layer]]\nname = "fc2"\nmaps = 4\ndesign = "auto"\n'
    )
    found = terminal.answer("plan", file, "--board", "nexys-video", "--batch", "3")
    assert [name for name, each in found["designs"].items() if each["chosen"]] == ["auto3"]
    assert {row["design"] for row in found["layers"]} == {"auto3"}
    assert "traffic only" in terminal.refusal("simulate", file, "--layer", "conv1")


def test_ports_of_chosen_designs_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[network]\nname = "mine"\ninput = { rows = 5, columns = 5, channels = 8 }\n'
        '[[layer]]\nname = "conv1"\nmaps = 16\nkernel = 3\ndesign = "auto"\n'
    )
    words = ("plan", str(file), "--board", "kc705", "--batch", "1")
    design = terminal.answer(*words)["designs"]["auto3"]
    assert design["kernel_port"] > 1
    assert main([*words, "--details"]) == 0
    said = f"auto3 (16 units of 3 x 3, kernel_port {design['kernel_port']}"
    assert said in " ".join(capsys.readouterr().out.split())


def test_the_library_gives_the_same_plan(terminal: Terminal) -> None:
    found = merp.load("digits").plan("kc705", 7, goal="time", apart=True)
    words = ("plan", "digits", "--board", "kc705", "--batch", "7", "--for", "time", "--apart")
    assert found.json() == terminal.answer(*words)
    assert [row["bytes"] for row in found] == [row["bytes"] for row in found.json()["layers"]]
    with pytest.raises(BadInput, match="goal = 'speed': allowed are bytes, time"):
        merp.load("digits").plan("kc705", goal="speed")


@pytest.mark.full
def test_the_best_designs_are_named_with_the_command_that_plans_them(terminal: Terminal) -> None:
    words = ["plan", "vgg16-small", "--board", "kc705", "--batch", "2"]
    shipped = terminal.answer(*words)
    assert (shipped["fit"], shipped["bitstreams"][0]["n_cu"]) == ("shipped", [16])
    best = terminal.answer(*words, "--fit", "best")
    assert (best["fit"], best["faster"]) == ("best", None)
    assert best["designs"]["auto3"]["chosen"] is True
    step = {key: best["step"][key] for key in ("seconds", "images_per_second")}
    assert shipped["faster"] == step
    out = terminal.prose(*words)
    command = "merp plan vgg16-small --board kc705 --batch 2 --fit best"
    assert out.endswith(command)
    assert "--fit best" not in terminal.output("plan", "vgg16", *words[2:])
    found = merp.load("vgg16-small").plan("kc705", 2, fit="best")
    assert found.seconds == step["seconds"]
    assert found.json() == best
    with pytest.raises(merp.BadInput, match=r"fit = 'both': allowed are best, shipped"):
        merp.load("vgg16-small").plan("kc705", 2, fit="both")


def test_a_written_file_names_the_fit_and_holds_the_best_designs(
    tmp_path: Path, terminal: Terminal
) -> None:
    path = tmp_path / "best.toml"
    words = ["--board", "kc705", "--batch", "2"]
    written = ["plan", "vgg16-small", *words, "--fit", "best", "-o", str(path)]
    best = terminal.answer(*written)
    assert "--fit best" in path.read_text().partition("\n")[0]
    again = terminal.answer("plan", path, *words)
    assert again["step"] == best["step"]
