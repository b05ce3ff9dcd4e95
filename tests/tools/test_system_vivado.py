"""The Vivado flow of ``merp system``, by a stand-in for Vivado that checks block designs."""

import json
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from unconverted import unconverted

import merp
from needed_tools import needs
from packages import STUB, run, tcl
from small_memory import BOARD
from terminal import Terminal

FLOWS = {
    "pynq-z2": ("digits-small", "processing_system7", "host/S_AXI_HP0", "clocks/clk_out2"),
    "zc706": ("digits", "processing_system7", "host/S_AXI_HP0", "clocks/clk_out2"),
    "zcu104": ("digits", "zynq_ultra_ps_e", "host/S_AXI_HP0_FPD", "clocks/clk_out2"),
    "kc705": ("digits", "mig_7series", "memory/S_AXI", "memory/ui_clk"),
}
PYNQ = {"overlay.py", "train.ipynb"}
EXTRA = {"pynq-z2": PYNQ, "zcu104": PYNQ, "kc705": {"host.tcl"}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The package for each board, without its hardware."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        unconverted(patch)
        for board, (network, *_) in FLOWS.items():
            found[board] = tmp_path_factory.mktemp(board) / "made"
            merp.load(network).system(2, board=board, output=found[board])
    return found


def stub(folder: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    done = run(folder / "vivado", "tclsh", str(STUB), *words, **environment)
    return done.returncode, done.stdout, done.stderr


@needs("tclsh")
@pytest.mark.parametrize("board", FLOWS)
def test_a_block_design_joins_accelerator_host_and_memory(
    board: str, made: dict[str, Path]
) -> None:
    folder = made[board] / "vivado"
    _, kind, port, clock = FLOWS[board]
    names = {"ip.tcl", "build.tcl", "constraints.xdc"} | EXTRA.get(board, set())
    assert {path.name for path in folder.iterdir()} >= names
    calls = tcl(folder / "build.tcl")
    assert f"xilinx.com:ip:{kind}" in [call[4] for call in calls if call[0] == "create_bd_cell"]
    joined = [call for call in calls if call[0].startswith("connect_bd")]
    assert ["connect_bd_intf_net", "accelerator/m_axi", "memory_bus/S00_AXI"] in joined
    assert ["connect_bd_intf_net", "memory_bus/M00_AXI", port] in joined
    # Both clocks enter the SmartConnect that crosses between them.
    assert ["connect_bd_net", "clocks/clk_out1", "memory_bus/aclk"] in joined
    assert ["connect_bd_net", clock, "memory_bus/aclk1"] in joined
    assert ["connect_bd_net", "clocks/clk_out1", "accelerator/clk"] in joined
    assigned = [call for call in calls if call[0] == "assign_bd_address"]
    assert {call[6].partition("/")[0] for call in assigned} == {"accelerator", "host"}
    assert [call[0] for call in calls].index("validate_bd_design") < [
        call[0] for call in calls
    ].index("launch_runs")
    assert tcl(folder / "constraints.xdc")[-1][1:3] == ["BITSTREAM.GENERAL.COMPRESS", "TRUE"]


@needs("tclsh")
def test_the_ip_has_interfaces_whether_vivado_infers_them_or_not(made: dict[str, Path]) -> None:
    folder = made["pynq-z2"]
    calls = tcl(folder / "vivado" / "ip.tcl")
    added = {call[1] for call in calls if call[0] == "ipx::add_bus_parameter"}
    assert {"POLARITY", "SENSITIVITY", "SUPPORTS_NARROW_BURST", "NUM_READ_OUTSTANDING"} <= added
    files = json.loads((folder / "manifest.json").read_text())["compile_order"]["verilog"]
    assert ["add_files", "-norecurse", *(f"../{name}" for name in files)] in calls
    _, said, _ = stub(folder, "ip.tcl", INFERRED="s_axi m_axi")
    assert re.findall(r"CALL ipx::infer_bus_interface (\w+)", said) == ["clk", "rst", "interrupt"]
    status, _, error = stub(folder, "ip.tcl", INFERRED="s_axi")
    assert status != 0
    assert "interface m_axi was not inferred" in error


@needs("tclsh")
@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SLACK": "-0.001"}, "FAIL: timing is not met: see build/timing.rpt"),
        ({"PROGRESS": "45%"}, "FAIL: route_design ERROR: see build/system"),
        ({"BOARDS": ""}, "FAIL: board files xilinx.com:zcu104:part0 are missing"),
    ],
)
def test_a_failed_build_leaves_no_bitstream(
    environment: dict[str, str], said: str, made: dict[str, Path]
) -> None:
    old = made["zcu104"] / "vivado" / "accelerator.bit"
    old.touch()
    status, output, _ = stub(made["zcu104"], "build.tcl", **environment)
    assert status == 1
    assert output.splitlines()[-1].startswith(said)
    assert "write_bitstream" not in output
    assert not old.exists()


@needs("tclsh")
@pytest.mark.parametrize(
    ("line", "mistake", "said"),
    [
        ("host/M_AXI_GP0_ACLK", "host/M_AXI_GPO_ACLK", "no pin host/M_AXI_GPO_ACLK"),
        ("host_bus/aclk memory_bus/aclk", "memory_bus/aclk", "host_bus/aclk is not connected"),
        ("CONFIG.NUM_CLKS 2", "CONFIG.NUM_CLKS 1", "parameters hide memory_bus/aclk1"),
        ("CONFIG.PRIM_SOURCE", "CONFIG.PRIM_SUORCE", "no parameter CONFIG.PRIM_SUORCE"),
        ("ip:clk_wiz clocks", "ip:clk_wizard clocks", "no IP xilinx.com:ip:clk_wizard"),
        ("HP0_DDR_LOWOCM", "HP0_DDR_LOW", "no addresses host/S_AXI_HP0/HP0_DDR_LOW"),
        ("bd_rule:processing_system7", "bd_rule:zynq", "rule xilinx.com:bd_rule:zynq is not for"),
        ("-latest_file_version", "-latest", "get_board_parts has no option -latest"),
        ("wait_on_run impl_1", "wait_on_run", "wait_on_run has 0 arguments"),
        ("write_bitstream -force", "write_bits -force", 'invalid command name "write_bits"'),
    ],
)
def test_a_mistake_in_the_block_design_is_seen(
    line: str, mistake: str, said: str, made: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "vivado"
    folder.mkdir()
    for name in ("ip.tcl", "build.tcl"):
        text = (made["pynq-z2"] / "vivado" / name).read_text()
        assert name == "ip.tcl" or line in text
        (folder / name).write_text(text.replace(line, mistake, 1))
    status, _, error = stub(tmp_path, "build.tcl")
    assert status != 0
    assert said in error


@needs("tclsh")
def test_the_host_on_jtag_moves_bytes_and_rings(made: dict[str, Path], tmp_path: Path) -> None:
    content = bytes(range(256)) * 17 + b"end"
    (tmp_path / "in").write_bytes(content)
    lists = json.loads((made["kc705"] / "lists.json").read_text())["lists"]
    words = f"""merp_open; merp_load {tmp_path}/in 0x1f40
        merp_save {tmp_path}/out 0x1f40 {len(content)}
        merp_save {tmp_path}/list {lists[0]["address"]} {4 * lists[0]["words"]}
        merp_ring {lists[0]["name"]}"""
    status, said, error = stub(made["kc705"], "host.tcl", words)
    assert (status, error) == (0, "")
    assert (tmp_path / "out").read_bytes() == content
    assert (tmp_path / "list").read_bytes() == (made["kc705"] / lists[0]["file"]).read_bytes()
    rung = [f"-address {0x80000000 + row['offset']:08x} " for row in lists[0]["ring"]]
    assert re.findall(r"-type WRITE (-address 8\w+ )", said) == rung
    host = json.loads((made["kc705"] / "registers.json").read_text())["host"]
    at = next(row["offset"] for row in host if row["name"] == "status_failure")
    failing = f"set words({0x80000000 + at}) 00000002; merp_ring {lists[0]['name']}"
    status, _, error = stub(made["kc705"], "host.tcl", failing)
    assert status != 0
    assert f"list {lists[0]['name']}: failure 2" in error


@pytest.mark.parametrize("board", ["pynq-z2", "zcu104"])
def test_the_notebook_trains_on_the_overlay(
    board: str, made: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made[board] / "vivado"
    notebook = nbformat.read(folder / "train.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    loaded: list[str] = []

    class Overlay:
        def __init__(self, bitfile: str) -> None:
            loaded.append(bitfile)
            self.accelerator = "the registers"

    pynq = ModuleType("pynq")
    pynq.Overlay = Overlay  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynq", pynq)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "overlay", raising=False)
    asked: dict[str, Any] = {}
    monkeypatch.setattr(merp.Network, "train", lambda _, **words: asked.update(words))
    code = folder / "cells.py"
    code.write_text("\n".join(each.source for each in notebook.cells if each.cell_type == "code"))
    runpy.run_path(str(code))
    code.unlink()
    sys.modules.pop("overlay")
    assert loaded == [str(folder.resolve() / "accelerator.bit")]
    device = asked.pop("on")
    assert (type(device), device.ip) == (merp.PynqDevice, "the registers")
    layout = json.loads((made[board] / "lists.json").read_text())
    assert device.size >= max(each["address"] + 4 * each["words"] for each in layout["lists"])
    assert asked == {"batch": 2, "steps": 10, "momentum": 0}


def test_the_page_says_that_no_vivado_ran(made: dict[str, Path]) -> None:
    for board, folder in made.items():
        page = (folder / "README.md").read_text()
        assert "**No Vivado has run these scripts.**" in page
        assert f"to a bitstream for {board}: " in page
        assert "the SmartConnect `memory_bus`" in page
        assert "\n\n\n" not in page
    page = (made["zc706"] / "README.md").read_text()
    assert "DDR of the processor, by its port `S_AXI_HP0`; no memory of the logic" in page


@pytest.mark.parametrize(
    ("part", "scripts"), [("xc7k325t", ["ip.tcl"]), ("lfe5u-85f", None)], ids=["amd", "lattice"]
)
def test_a_board_that_vivado_does_not_know_has_the_ip_alone(
    part: str, scripts: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unconverted(monkeypatch)
    board = tmp_path / "mine.toml"
    text = BOARD.replace("xc7k325t", part).replace(
        "[memory]", "[configuration]\nseconds = 1\n[memory]"
    )
    board.write_text(text)
    merp.load("digits-small").system(board=board, output=tmp_path / "made")
    folder = tmp_path / "made" / "vivado"
    assert (sorted(each.name for each in folder.iterdir()) if folder.is_dir() else None) == scripts
    page = (tmp_path / "made" / "README.md").read_text()
    assert ("`mine` has no block design." in page) == (scripts is not None)
    assert "\n\n\n" not in page


def test_a_part_without_a_block_design_is_refused(tmp_path: Path, terminal: Terminal) -> None:
    board = tmp_path / "mine.toml"
    part = 'part = "xcku040-ffva1156-2-e"\ncapacity = { lut = 1, ff = 1, bram = 1, dsp = 1 }'
    text = BOARD.replace('part = "xc7k325t"', part)
    text = text.replace("[memory]", "[configuration]\nseconds = 1\n[memory]")
    board.write_text(text + '[vivado]\nboard_part = "xilinx.com:kcu105:part0"\n')
    said = terminal.refusal("system", "digits-small", "--board", board, "-o", tmp_path / "made")
    assert said == (
        "merp: --board mine: vivado: part xcku040-ffva1156-2-e: no block design: allowed are "
        "Artix-7, Kintex-7, Virtex-7, Zynq-7000, Zynq UltraScale+"
    )
    assert not (tmp_path / "made").exists()
