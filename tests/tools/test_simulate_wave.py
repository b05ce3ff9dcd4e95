"""``merp simulate --wave``: the waveform, what viewers are told of it, and complaints."""

import os
import re
from pathlib import Path

import pytest

from checkout import ROOT
from merp.cosim.phases.audit.wave_file import Name, last_time, signals
from merp.testbenches.top.top import Pin, TopPorts
from merp.tools.simulate.wave_views import grouped, gtkwave, surfer
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "d": 2, "mul_latency": 1, "add_latency": 2}},
)

PAGES = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "tools/simulate/request.py")
SHOWN = sorted(
    {
        name
        for page in PAGES
        for name in re.findall(
            r"(?:wave-of |wave_of=\"|as \"\n *\")(layer[\w.]*)", page.read_text()
        )
    }
)
"""Instances that the pages and the help speak of."""


def traced(save: str) -> list[str]:
    """The signals of a save file."""
    return re.findall(r"^\+\{\S+\} (\S+)$", save, re.MULTILINE)


def added(commands: str) -> list[str]:
    """The signals of a command file."""
    return re.findall(r"^variable_add (\S+)$", commands, re.MULTILINE)


def full(found: dict[Name, str]) -> set[str]:
    return {".".join(name) + bits for name, bits in found.items()}


@pytest.mark.sample(2)
@pytest.mark.parametrize("part", [None, "layer.finish", *SHOWN, "all"])
def test_viewers_are_told_of_every_signal_and_of_nothing_else(
    network_file: Path, terminal: Terminal, tmp_path: Path, part: str | None
) -> None:
    assert SHOWN, "the pages speak of none, or in other words"
    words = [] if part is None else ["--wave-of", part]
    answer = terminal.answer("simulate", network_file, "--wave", tmp_path / "a.b.vcd", *words)
    for counts in answer["ports"].values():
        assert "waveform" in counts
        assert len(set(counts.values())) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a.b.vcd", "a.b.gtkw", "a.b.sucl"}
    found = signals(tmp_path / "a.b.vcd")
    below = {name[1:-1] for name in found if len(name) > 2}
    if part is None:
        assert not below
    else:
        path = () if part == "all" else tuple(part.split("."))
        assert below
        assert all(name[: len(path)] == path for name in below)
    save = (tmp_path / "a.b.gtkw").read_text()
    commands = (tmp_path / "a.b.sucl").read_text()
    assert set(traced(save)) == full(found)
    assert set(added(commands)) == {".".join(name) for name in found}
    assert '[dumpfile] "a.b.vcd"\n' in save
    assert str(tmp_path) not in save + commands


@pytest.mark.full
@pytest.mark.verilator
def test_an_array_in_cpp_shows_its_ports_alone(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "w.vcd"
    words = ["--engine", "verilator", "--cu-array", "behavioural", "--wave-of", "all"]
    terminal.answer("simulate", network_file, "--wave", path, *words)
    found = signals(path)
    assert set(traced((tmp_path / "w.gtkw").read_text())) == full(found)
    array = {name[3] for name in found if name[1:3] == ("layer", "units_inst")}
    assert {"sums_valid", "slot_valid", "window"} <= array
    assert all(len(name) == 4 for name in found if name[1:3] == ("layer", "units_inst"))
    assert not any("next" in name or name == "object" for name in array)


@pytest.mark.ghdl
def test_what_viewers_are_told_of_an_fst(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    words = ["--engine", "ghdl", "--wave", tmp_path / "w.fst", "--wave-of", "layer.finish"]
    answer = terminal.answer("simulate", network_file, *words)
    assert answer["bit_exact"] is True
    assert all(len(set(each.values())) == 1 for each in answer["ports"].values())
    found = signals(tmp_path / "w.fst")
    cycles = answer["cycles"]["total"] + answer["cycles"]["kernel_load"]
    assert last_time(tmp_path / "w.fst") > cycles * 10_000_000  # 10 ns, in fs
    assert set(traced((tmp_path / "w.gtkw").read_text())) == full(found)
    assert set(added((tmp_path / "w.sucl").read_text())) == {".".join(name) for name in found}


PORTS = TopPorts((Pin("s_axis_map", 32),), (), (Pin("config_words", 8),), (Pin("status_done", 1),))
SHOWN: dict[Name, str] = {
    ("top", "config_words"): "[7:0]", ("top", "own"): "", ("top", "s_axis_map_tlast"): "",
    ("top", "s_axis_map_tdata"): "[31:0]", ("top", "start"): "", ("top", "clk"): "",
    ("top", "units_0", "clk"): "", ("top", "status_done"): "", ("top", "units_0", "y"): "[3:0]",
}  # fmt: skip


def test_ports_come_first_by_purpose_then_each_instance() -> None:
    assert list(grouped(SHOWN, PORTS).items()) == [
        ("control", [("top", "clk"), ("top", "start")]),
        ("s_axis_map", [("top", "s_axis_map_tdata"), ("top", "s_axis_map_tlast")]),
        ("config", [("top", "config_words")]),
        ("status", [("top", "status_done")]),
        ("top", [("top", "own")]),
        ("top.units_0", [("top", "units_0", "clk"), ("top", "units_0", "y")]),
    ]


def test_a_save_file_has_a_group_for_each_and_words_in_hexadecimal() -> None:
    save = gtkwave("w.vcd", SHOWN, PORTS, 1200)
    assert re.findall(r"^-(\S+)$", save, re.MULTILINE) == [
        head for head in grouped(SHOWN, PORTS) for _ in ("begins", "ends")
    ]
    assert "-s_axis_map\n@22\n+{s_axis_map_tdata} top.s_axis_map_tdata[31:0]\n" in save


@pytest.mark.parametrize("last", [0, 1, 1200, 68_065_000_000])
def test_a_save_file_shows_the_waves_to_their_end(last: int) -> None:
    save = gtkwave("w.vcd", SHOWN, PORTS, last)
    zoom = float(re.findall(r"^\*(\S+) ", save, re.MULTILINE)[0])
    assert 2**-zoom / 200 * 300 == pytest.approx(max(last, 1), rel=1e-4)


@pytest.mark.parametrize("step", [1, 40_000])
def test_the_last_time_of_a_vcd_is_found_from_its_end(tmp_path: Path, step: int) -> None:
    path = tmp_path / "w.vcd"
    path.write_text("$enddefinitions $end\n#0\n0!\n#7\n" + "1!\n" * step)
    assert last_time(path) == 7
    path.write_text("$enddefinitions $end\n")
    assert last_time(path) == 0


def test_a_change_that_is_cut_is_no_last_time(tmp_path: Path) -> None:
    path = tmp_path / "w.vcd"
    changes = "1#99\n" + "0!\n" * 21844  # 2^16 - 4 bytes: what is read begins at the name #99
    path.write_text("#0\n" + "0!\n" * 9 + "#7\n" + changes)
    assert path.read_bytes()[-(1 << 16) :].startswith(b"#99\n")
    assert last_time(path) == 7


def test_a_command_file_adds_the_signals_under_dividers() -> None:
    lines = surfer(SHOWN, PORTS).splitlines()
    assert lines[:3] == ["divider_add control", "variable_add top.clk", "variable_add top.start"]
    assert lines[-1] == "zoom_fit"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--wave", "w.ghw"], "--wave w.ghw: is of no known kind: allowed are names in .vcd, .fst"),
        (["--wave", "w"], "--wave w: is of no known kind"),
        (["--wave", "w.fst"], "--wave w.fst: engine myhdl writes no .fst: allowed with verilator"),
        (["--wave-of", "layer"], "--wave-of layer: allowed with --wave"),
        (
            ["--wave", "w.vcd", "--wave-of", "layer.sequenser"],
            "--wave-of layer.sequenser: no instance 'sequenser' in layer: allowed: ",
        ),
        (["--wave", "pipe.vcd"], "--wave pipe.vcd: is no regular file"),
        (["--wave", "nowhere.vcd"], "--wave nowhere.vcd: is a link that leads nowhere"),
        (["--wave", "taken.vcd"], "--wave taken.vcd: cannot be written: "),
    ],
)
def test_a_complaint_is_one_line_and_nothing_is_left(
    network_file: Path, words: list[str], wanted: str, tmp_path: Path,
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.vcd")
    Path("nowhere.vcd").symlink_to("missing")
    Path("taken.gtkw").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert terminal.refusal("simulate", network_file, *words).startswith(f"merp: {wanted}")
    assert sorted(tmp_path.rglob("*")) == before
