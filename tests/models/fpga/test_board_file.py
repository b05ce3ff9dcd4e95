"""Board files: figures with where they come from, and each mistake in one line."""

from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board, FigureSource, Link, Usable
from merp.models.fpga.board_file import read_board
from merp.models.fpga.parts import FOREIGN, PARTS
from merp.tools.common.boards import any_board, open_board, shipped_boards

PLAIN = """
[board]
name = "mine"
part = "xc7k325t"
clock_mhz = 137
[memory]
gbytes_s = 12.8
efficiency = 0.8
"""
FULL = """
[board]
name = "cluster"
part = "xc7vx690t"
clock_mhz = { value = 200, from = "assumed", why = "nobody prints it" }
devices = { value = 3, from = "printed", why = "section V" }
power_w = 31
usable = { dsp = 0.5, from = "printed", why = "half of them" }
[memory]
gbytes_s = { value = 29.9, from = "vendor", why = "two modules" }
efficiency = 1
mib = { value = 8192, from = "vendor", why = "4 GB each" }
data_bits = { value = 32, from = "derived", why = "half of a module" }
[configuration]
seconds = 0.5
[host]
gbytes_s = 8
[link]
topology = "chain"
gbytes_s = 1.64
lanes = { value = 6, from = "printed", why = "abstract" }
latency_cycles = 100
"""


def read(folder: Path, text: str) -> Board:
    file = folder / "mine.toml"
    file.write_text(text)
    return read_board(file)


def test_a_plain_file_is_one_board_without_sources(tmp_path: Path) -> None:
    board = read(tmp_path, PLAIN)
    assert (board.memory_mib, board.memory_bits) == (None, None)
    assert (board.devices, board.link, board.host_gbytes_s, board.power_w) == (1, None, None, None)
    assert board.usable == Usable()
    assert board.room == board.part
    assert board.sources == {}
    assert board.load_seconds == pytest.approx(91_548_896 / 16 / 66e6)


def test_every_figure_may_say_where_it_comes_from(tmp_path: Path) -> None:
    board = read(tmp_path, FULL)
    assert board.link == Link(topology="chain", gbytes_s=1.64, lanes=6, latency_cycles=100)
    assert (board.devices, board.power_w, board.host_gbytes_s) == (3, 31.0, 8.0)
    assert (board.memory_mib, board.memory_bits) == (8192, 32)
    assert board.load_seconds == 0.5
    assert board.room.dsps == PARTS["xc7vx690t"].dsps // 2
    assert board.room.luts == PARTS["xc7vx690t"].luts
    assert board.sources == {
        "board: clock_mhz": FigureSource("assumed", "nobody prints it"),
        "board: devices": FigureSource("printed", "section V"),
        "board: usable": FigureSource("printed", "half of them"),
        "memory: gbytes_s": FigureSource("vendor", "two modules"),
        "memory: mib": FigureSource("vendor", "4 GB each"),
        "memory: data_bits": FigureSource("derived", "half of a module"),
        "link: lanes": FigureSource("printed", "abstract"),
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dsp = 0.5", "dsp = 0", "board: usable: dsp = 0: must be a number from 0.01 to 1"),
        ("dsp = 0.5", "dsp = 1.1", "board: usable: dsp = 1.1: must be a number from 0.01 to 1"),
        ("dsp = 0.5", "dps = 0.5", "board: usable: unknown key 'dps': allowed are"),
        ("value = 200", 'value = "fast"', "board: clock_mhz: value = 'fast': must be a number"),
        ("value = 200, ", "", "board: clock_mhz: value is missing"),
        ('why = "nobody prints it"', 'who = "me"', "board: clock_mhz: why is missing"),
        ('"assumed"', '"guessed"', "from = 'guessed': must be one of printed, vendor, derived, as"),
        ("power_w", "powr_w", "allowed are name, part, clock_mhz, devices, usable, power_w; did"),
        ("efficiency = 1", 'efficiency = "all"', "memory: efficiency = 'all': must be a number"),
        ("value = 8192", "value = 0", "memory: mib: value = 0: must be a whole number from 1 to"),
        ("value = 32", "value = 24", "data_bits: value = 24: must be one of 8, 16, 32, 64"),
        ("value = 32", "value = 128", "data_bits: value = 128: must be a whole number from 8 to"),
        ("value = 3,", "value = 2.5,", "devices: value = 2.5: must be a whole number"),
        ("power_w = 31", "power_w = 0", "power_w = 0: must be a number from 0.001"),
        ('"chain"', '"torus"', "link: topology = 'torus': must be one of chain"),
        ("lanes = {", "lane = {", "link: lanes is missing; is 'lane' meant to be it?"),
        ("latency_cycles = 100", "latency_cycles = -1", "latency_cycles = -1: must be a whole"),
        ("seconds = 0.5", "", "configuration: mbytes_s = None: must be there, or seconds"),
        ("[host]", "[hots]", "unknown key 'hots': allowed are"),
        ("xc7vx690t", "xc7vx69t", "part = 'xc7vx69t': must be one of xc7k325t"),
        ("xc7vx690t", "5SGSD8", ""),
    ],
)
def test_a_mistake_is_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in FULL
    text = FULL.replace(old, new)
    if not said:  # a foreign part is a part
        assert read(tmp_path, text).part == FOREIGN["5SGSD8"]
        return
    with pytest.raises(BadInput) as complaint:
        read(tmp_path, text)
    assert said in str(complaint.value)
    assert str(complaint.value).startswith("mine.toml: ")
    assert "\n" not in str(complaint.value)


def test_a_part_of_unknown_bitstream_needs_seconds(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"seconds is missing.*5SGSD8"):
        read(tmp_path, PLAIN.replace("xc7k325t", "5SGSD8"))


def test_all_figures_of_shipped_boards_have_a_source() -> None:
    boards = shipped_boards()
    assert {"kc705", "maia", "stratix10-devkit", "vc709", "zc7100"} <= {x.name for x in boards}
    for board in boards:
        said = set(board.sources)
        wanted = {"board: clock_mhz", "memory: gbytes_s", "memory: efficiency"}
        wanted.add("configuration: " + ("mbytes_s" if board.load_s is None else "seconds"))
        wanted |= {"link: lanes", "link: gbytes_s", "link: latency_cycles"} if board.link else set()
        wanted |= {"host: gbytes_s"} if board.host_gbytes_s else set()
        wanted |= {"board: power_w"} if board.power_w else set()
        wanted |= {"memory: mib"} if board.memory_mib else set()
        wanted |= {"memory: data_bits"} if board.memory_bits else set()
        wanted |= {"board: devices"} if board.devices > 1 else set()
        wanted |= {"board: usable"} if board.usable != Usable() else set()
        assert said == wanted, board.name
        assert board.part.source


def test_plans_are_of_parts_that_estimates_are_of() -> None:
    assert open_board("vc709").name == "vc709"
    assert any_board("maia").part.block_bits == 20_480
    with pytest.raises(BadInput, match=r"maia.*allowed are kc705, nexys-video, paper, vc707"):
        open_board("maia")
