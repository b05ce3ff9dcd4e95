"""Board files: figures with where they come from, and each mistake in one line."""

from dataclasses import replace
from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board, FigureSource, Link, Usable, VivadoBoard
from merp.models.fpga.board_file import read_board
from merp.models.fpga.flash import Flash
from merp.models.fpga.parts import KNOWN, PARTS
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
STATED = PLAIN.replace(
    'part = "xc7k325t"',
    'part = "xc7s50"\ncapacity = { lut = 32600, ff = 65200, bram = 75, dsp = 120 }',
).replace("[memory]", "[configuration]\nseconds = 0.1\n[memory]")
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


VIVADO = '[vivado]\nboard_part = "xilinx.com:kc705:part0"\n'


def test_a_board_may_be_known_to_vivado(tmp_path: Path) -> None:
    known = VivadoBoard(board_part="xilinx.com:kc705:part0")
    assert read(tmp_path, PLAIN).vivado is None
    assert read(tmp_path, PLAIN + VIVADO).vivado == known
    assert read(tmp_path, PLAIN + VIVADO + "pynq = true").vivado == replace(known, pynq=True)


@pytest.mark.parametrize("name", ["kc705", "xilinx.com:kc705:part0:1.6", "a b:c:part0", "a:b:part"])
def test_a_board_part_has_vendor_board_and_part(name: str, tmp_path: Path) -> None:
    said = "mine.toml: file: vivado: board_part = .*: must be VENDOR:BOARD:PART, as xilinx.com"
    with pytest.raises(BadInput, match=said):
        read(tmp_path, PLAIN + VIVADO.replace("xilinx.com:kc705:part0", name))


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
        ("power_w", "powr_w", "allowed are name, clock_mhz, part, capacity, devices, usable, pow"),
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
        ("xc7vx690t", "xc7vx69t", "or the board needs capacity = {...}"),
        (
            "data_bits =",
            "kind = 'ddr5'\ndata_bits =",
            "kind = 'ddr5': must be one of ddr3, ddr4, lpd",
        ),
        ("xc7vx690t", "5SGSD8", ""),
    ],
)
def test_a_mistake_is_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in FULL
    text = FULL.replace(old, new)
    if not said:  # a foreign part is a part
        assert read(tmp_path, text).part == KNOWN["5SGSD8"]
        return
    with pytest.raises(BadInput) as complaint:
        read(tmp_path, text)
    assert said in str(complaint.value)
    assert str(complaint.value).startswith("mine.toml: ")
    assert "\n" not in str(complaint.value)


def test_a_file_states_the_capacity_of_another_part(tmp_path: Path) -> None:
    part = read(tmp_path, STATED).part
    assert (part.name, part.luts, part.flip_flops) == ("xc7s50", 32_600, 65_200)
    assert (part.block_rams, part.dsps, part.planned) == (75, 120, True)
    assert (part.configuration_bits, part.origin) == (0, "assumed")


def test_a_stated_capacity_has_a_source_and_a_bitstream(tmp_path: Path) -> None:
    more = "dsp = 120, bitstream_bits = 17536096, from = 'vendor', why = 'DS180'"
    text = STATED.replace("dsp = 120", more).replace("seconds = 0.1", "mbytes_s = 10")
    board = read(tmp_path, text)
    assert board.sources == {"board: capacity": FigureSource("vendor", "DS180")}
    assert (board.part.origin, board.part.source) == ("vendor", "DS180")
    assert board.load_seconds == pytest.approx(17_536_096 / 8 / 10e6)


def test_a_part_with_other_block_ram_has_no_estimate(tmp_path: Path) -> None:
    part = read(tmp_path, STATED.replace("bram = 75", "bram = 75, block_bits = 9216")).part
    assert (part.memory_bytes, part.planned) == (75 * 1152, False)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lut = 32600", "lut = 0", "board: capacity: lut = 0: must be a whole number from 1 to 10"),
        ("ff = 65200", "ff = 1.5", "capacity: ff = 1.5: must be a whole number"),
        ("bram = 75", "bram = -1", "capacity: bram = -1: must be a whole number from 0"),
        (
            "dsp = 120",
            "dsp = 1000000000",
            "dsp = 1000000000: must be a whole number from 0 to 1000",
        ),
        (", dsp = 120", "", "board: capacity: dsp is missing"),
        ("dsp = 120", "dps = 120", "capacity: dsp is missing; is 'dps' meant to be it?"),
        ("dsp = 120", "dsp = 120, uram = 9", "capacity: unknown key 'uram': allowed are from, lut"),
        ("dsp = 120", "dsp = 120, from = 'vendor'", "board: capacity: why is missing"),
        ("dsp = 120", "dsp = 120, block_bits = 0", "block_bits = 0: must be a whole number from 1"),
        ("{ lut", "[{ lut", "board: capacity must be a table, not [{"),
        ('"xc7s50"', '"xc7a50tcsg324-1"', "capacity: that of xc7a50t is known: allowed is usable"),
        ('"xc7s50"', '"a/b"', "board: part = 'a/b': must be 1 to 64 letters"),
        ('"xc7s50"', '""', "board: part = '': must be 1 to 64 letters"),
    ],
)
def test_a_wrong_capacity_is_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = STATED.replace(old, new)
    text = text.replace("dsp = 120 }", "dsp = 120 }]") if "[{" in new else text
    with pytest.raises(BadInput) as complaint:
        read(tmp_path, text)
    assert said in str(complaint.value)
    assert str(complaint.value).startswith("mine.toml: ")
    assert "\n" not in str(complaint.value)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("XC7Z020-1CLG400C", "xc7z020"), ("xczu9eg-ffvb1156-2-e", "xczu9eg"),
        ("LFE5U-85F-6BG381C", "LFE5U-85F"),
    ],
)  # fmt: skip
def test_a_part_is_named_by_its_order_code(code: str, name: str, tmp_path: Path) -> None:
    part = read(tmp_path, PLAIN.replace("xc7k325t", code)).part
    assert replace(part, order_code=KNOWN[name].order_code) == KNOWN[name]


FLASH = PLAIN + "[configuration]\nseconds = 1\nflash = 'spi'\nflash_mib = 16\n"


def test_a_board_may_have_flash(tmp_path: Path) -> None:
    assert read(tmp_path, FLASH).flash == Flash(kind="spi", mib=16)
    assert read(tmp_path, PLAIN).flash is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("'spi'", "'nand'", "configuration: flash = 'nand': must be one of spi, bpi"),
        ("flash_mib = 16", "", "configuration: flash_mib is missing"),
        ("flash = 'spi'", "", "configuration: flash is missing"),
        ("= 16", "= 0", "configuration: flash_mib = 0: must be a whole number from 1 to 1024"),
        ("xc7k325t", "xc7z020", "flash: xc7z020clg400-1: allowed are parts that boot from flash"),
        (
            '"xc7k325t"',
            '"xc7k70tfbg484-1"\ncapacity = { lut = 1, ff = 1, bram = 1, dsp = 1 }',
            "flash: the size of a bitstream of xc7k70tfbg484-1 is unknown: allowed is a capacity",
        ),
    ],
)
def test_wrong_flash_is_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as complaint:
        read(tmp_path, FLASH.replace(old, new))
    assert said in str(complaint.value)
    assert str(complaint.value).startswith("mine.toml: ")
    assert "\n" not in str(complaint.value)


def test_a_part_of_unknown_bitstream_needs_seconds(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"seconds is missing.*5SGSD8"):
        read(tmp_path, PLAIN.replace("xc7k325t", "5SGSD8"))


def test_all_figures_of_shipped_boards_have_a_source() -> None:
    boards = shipped_boards()
    names = {board.name for board in boards}
    assert names >= {"kc705", "maia", "stratix10-devkit", "vc709", "zc7100", "pynq-z2", "zcu102"}
    assert names >= {"zcu104", "ultra96", "arty-a7-100", "ulx3s-85f", "versa-ecp5"}
    for board in boards:
        said = set(board.sources)
        wanted = {"board: clock_mhz", "memory: gbytes_s", "memory: efficiency"}
        wanted.add("configuration: " + ("mbytes_s" if board.load_s is None else "seconds"))
        wanted |= {"link: lanes", "link: gbytes_s", "link: latency_cycles"} if board.link else set()
        wanted |= {"host: gbytes_s"} if board.host_gbytes_s else set()
        wanted |= {"board: power_w"} if board.power_w else set()
        wanted |= {"memory: mib"} if board.memory_mib else set()
        wanted |= {"memory: data_bits"} if board.memory_bits else set()
        wanted |= {"configuration: flash_mib"} if board.flash else set()
        wanted |= {"board: devices"} if board.devices > 1 else set()
        wanted |= {"board: usable"} if board.usable != Usable() else set()
        assert said == wanted, board.name
        assert board.part.source


def test_plans_are_of_parts_that_estimates_are_of() -> None:
    assert open_board("vc709").name == "vc709"
    assert any_board("maia").part.block_bits == 20_480
    for name, part in (("maia", "5SGSD8"), ("ulx3s-85f", "LFE5U-85F")):
        with pytest.raises(BadInput, match=f"{name}.*{part}: estimates are for FPGAs of AMD") as no:
            open_board(name)
        assert "allowed are arty-a7-100, kc705, nexys-video, paper, pynq-z2" in str(no.value)
        assert name not in str(no.value).partition("allowed are")[2]
