"""The loads of a step with several bitstreams: lists, places in flash, scripts, refusals."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from narrow_part import narrow
from system_files import read, words_of
from unconverted import unconverted
from yosys import yosys

import merp
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.convert import convert
from merp.hdl.memory.bitstream_loader import BitstreamLoad, IcapPins, bitstream_loader
from merp.models.fpga.flash import MIB, SECTOR
from merp.models.memory.commands import load
from merp.models.memory.params.commands import WORD, Operation
from merp.tools.fpga.export.package import render
from needed_tools import needs
from packages import STUB, run, tcl
from terminal import Terminal

SHARE = 0.3
BITSTREAM = 91_548_896 // 8
"""Bytes of a bitstream of the XC7K325T (UG470)."""

CABLE = '[vivado]\nboard_part = "xilinx.com:kc705:part0"\n'


def flash_board(folder: Path, kind: str, mib: int) -> Path:
    """Write the file of a board with flash and a block design."""
    path = narrow(folder, SHARE)
    table = f"[configuration]\nmbytes_s = 132\nflash = '{kind}'\nflash_mib = {mib}\n"
    path.write_text(path.read_text() + table + CABLE)
    return path


@pytest.fixture(scope="module", params=["host", "spi", "bpi"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of tiny3 with two bitstreams, without its hardware."""
    folder: Path = tmp_path_factory.mktemp(request.param) / request.param
    folder.parent.joinpath("board").mkdir()
    place = folder.parent / "board"
    board = (
        narrow(place, SHARE) if request.param == "host" else flash_board(place, request.param, 64)
    )
    with pytest.MonkeyPatch.context() as patch:
        unconverted(patch)
        merp.load("tiny3").system(2, board=board, output=folder)
    return folder


def test_a_list_ends_with_the_load_that_the_step_has(made: Path) -> None:
    step = read(made, "step")
    rows = step["bitstreams"]
    names = [row["bitstream"] for row in rows]
    words = {row["bitstream"]: row.get("boot_word", at) for at, row in enumerate(rows)}
    homes = [each["bitstream"] for each in step["lists"]]
    found = []
    for each, home, following in zip(step["lists"], homes, [*homes[1:], homes[0]], strict=True):
        assert each["load"] == (None if home == following else following)
        (row,) = (r for r in read(made / home, "lists")["lists"] if r["name"] == each["name"])
        *_, last, word = words_of(made / home, row).tolist()
        if each["load"] is None:
            assert word == Operation.END << 24
        else:
            assert [last, word] == load(words[each["load"]]).encoded()
            found.append(each["load"])
    assert found == [*names[1:], names[0]]
    for row in rows:
        registers = read(made / row["bitstream"], "registers")
        assert [each["engine"] for each in registers["engines"]] == row["engines"]
        assert {"status_load", "status_bitstream"} <= {each["name"] for each in registers["host"]}
    assert "\n\n\n" not in (made / "README.md").read_text()


def test_bitstreams_are_at_sectors_of_the_flash(made: Path) -> None:
    step, page = read(made, "step"), (made / "README.md").read_text()
    rows = step["bitstreams"]
    if made.name == "host":
        assert step["loader"] == "host"
        assert set(rows[0]) == {"bitstream", "engines"}
        assert "`status_bitstream` is the number of the next bitstream" in page
        assert not (made / "flash.tcl").exists()
        return
    assert step["loader"] == "icape2"
    places = [row["flash_address"] for row in rows]
    assert [row["flash_bytes"] for row in rows] == [BITSTREAM] * len(rows)
    before = 256 if made.name == "spi" else 0  # SPI flash of 64 MiB has addresses of 32 bits
    assert places[0] == before
    assert all((place - before) % SECTOR == 0 for place in places)
    assert all(one + BITSTREAM <= other - before for one, other in pairwise(places))
    unit = 256 if made.name == "spi" else 2
    assert [row["boot_word"] * unit for row in rows] == [place - before for place in places]
    assert "contents are not guaranteed, and the step cannot go on" in page


@needs("tclsh")
def test_the_scripts_load_from_flash(made: Path) -> None:
    step = read(made, "step")
    folder = made / "bitstream0" / "vivado"
    calls = tcl(folder / ("ip.tcl" if made.name == "host" else "build.tcl"))
    tops = [call[2] for call in calls if call[:2] == ["set_property", "top"]]
    if made.name == "host":
        assert tops == ["memory_system"]
        assert not (folder / "icape2.v").exists()
        return
    assert tops == ["memory_system_icape2", "system_wrapper"]
    (files,) = (
        call
        for call in calls
        if call[:3] == ["add_files", "-norecurse", "../verilog/memory_system.v"]
    )
    assert files[-1] == "icape2.v"
    limits = tcl(folder / "constraints.xdc")
    assert "create_generated_clock" in [call[0] for call in limits]
    assert any("SPI_32BIT_ADDR" in " ".join(call) for call in limits) == (made.name == "spi")
    (joined,) = (call for call in tcl(made / "flash.tcl") if call[0] == "write_cfgmem")
    for row in step["bitstreams"]:
        at = joined.index(f"{row['bitstream']}/vivado/accelerator.bit")
        assert joined[at - 2 : at] == ["up", f"{row['flash_address']:#010x}"]


@needs("tclsh")
def test_the_host_on_jtag_waits_for_the_next_accelerator(made: Path) -> None:
    if made.name == "host":
        return
    folder, step = made / "bitstream0", read(made, "step")
    name = next(each["name"] for each in step["lists"] if each["load"] == "bitstream1")
    host = {row["name"]: row for row in read(made / "bitstream1", "registers")["host"]}
    register = 0x80000000 + host["configuration"]["offset"]
    hash_of = host["configuration"]["reset"]

    def loading(word: int) -> tuple[int, str]:
        """Ring the list; as the cable looks again, all registers are lost except the hash."""
        again = (
            f"proc refresh_hw_device args {{ unset ::words; set ::words({register}) {word:08x} }}"
        )
        command = ["tclsh", str(STUB), "host.tcl", f"{again}; merp_ring {name}"]
        done = run(folder / "vivado", *command)
        return done.returncode, done.stderr

    assert loading(hash_of) == (0, "")
    status, said = loading(hash_of ^ 1)
    assert status != 0
    assert f"list {name}: another bitstream is loaded: configuration is {hash_of ^ 1}" in said
    late = run(folder / "vivado", "tclsh", str(STUB), "host.tcl", f"merp_ring {name} 0")
    assert f"list {name}: its bitstream is not loaded within 0 seconds" in late.stderr


def test_bitstreams_that_the_flash_cannot_hold_are_refused(
    tmp_path: Path, terminal: Terminal
) -> None:
    most = BITSTREAM // MIB + 2
    board, place = flash_board(tmp_path, "bpi", most), tmp_path / "made"
    said = terminal.refusal("system", "tiny3", "--board", board, "-o", place)
    assert said == (
        "merp: tiny3: --board narrow: 2 bitstreams of 11,443,612 bytes: allowed are 1 in its flash "
        f"of {most} MiB"
    )
    assert not place.exists()


@needs("yosys")
def test_yosys_knows_every_pin_of_the_primitives(tmp_path: Path) -> None:
    """Its library has ICAPE2 and BUFG. The loader alone has the pins of the accelerator."""
    arguments = {name: flag() for name in ("clk", "rst", "idle", "busy")}
    ports = {"load": BitstreamLoad(flag(), bits(WORD)), "icap": IcapPins()}
    found = convert(bitstream_loader, arguments | ports, "verilog", tmp_path / "verilog")
    text = render("vivado/icape2.v.jinja", {"top": found.top, "pins": found.ports})
    (tmp_path / "icape2.v").write_text(text)
    script = "; ".join(
        [
            "read_verilog -lib +/xilinx/cells_sim.v +/xilinx/cells_xtra.v",
            f"read_verilog icape2.v {' '.join(f'verilog/{each.name}' for each in found.files)}",
            f"hierarchy -check -top {found.top}_icape2",
            "proc",
            f"select {found.top}_icape2",
            "write_json -selected all.json",
        ]
    )
    assert yosys(script, tmp_path) == (0, "")
    modules = json.loads((tmp_path / "all.json").read_text())["modules"]
    cells = modules[f"{found.top}_icape2"]["cells"]
    icap = next(each for each in cells.values() if each["type"] == "ICAPE2")
    inner = next(each for each in cells.values() if each["type"] == found.top)
    for pin in ("I", "CSIB", "RDWRB"):
        assert icap["connections"][pin] == inner["connections"][f"icap_{pin.lower()}"]
    outside = {each.name for each in found.ports if not each.name.startswith("icap_")}
    assert set(modules[f"{found.top}_icape2"]["ports"]) == outside
