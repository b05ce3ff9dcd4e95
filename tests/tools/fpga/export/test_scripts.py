"""A package's scripts under tclsh, by a stand-in for Vivado."""

import re
import shutil
from pathlib import Path

import pytest

from merp.models.network.phases import PHASES
from needed_tools import needs
from packages import STUB, manifest_of, run, tcl


@needs("tclsh")
@pytest.mark.parametrize("phase", PHASES)
def test_scripts_run_with_vivados_commands(
    phase: str, exports: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    shutil.copytree(exports[phase], folder)
    manifest = manifest_of(folder)
    hardware = [name for name in manifest["compile_order"] if name.startswith("hdl/")]
    *inner, wrapper = hardware

    build = tcl(folder / "build.tcl")
    read = [call[1:] for call in build if call[0] == "read_vhdl"]
    assert read == [["-vhdl2008", *inner], [wrapper]]
    assert ["read_xdc", "-mode", "out_of_context", "clock.xdc"] in build
    assert build.index(["read_xdc", "-unmanaged", "attributes.tcl"]) < [
        call[0] for call in build
    ].index("synth_design")
    made = next(call for call in build if call[0] == "synth_design")
    assert made[made.index("-top") + 1] == manifest["top"] == f"merp_tiny_net_k2_{phase}"
    assert made[made.index("-part") + 1] == manifest["part"] == "xc7k325tffg900-2"
    steps = [call[0] for call in build if call[0].endswith("_design")]
    assert steps == [
        "synth_design",
        "opt_design",
        "place_design",
        "phys_opt_design",
        "route_design",
    ]

    assert ["set_property", "HD.CLK_SRC"] in [call[:2] for call in build]
    assert [call[2] for call in build if call[0] == "get_timing_paths"] == ["max", "min"]
    assert ["report_methodology", "-file", "build/methodology.rpt"] in build

    package = tcl(folder / "ip.tcl")
    assert ["add_files", "-fileset", "constrs_1", "-norecurse", "clock.xdc"] in package
    families = next(call for call in package if call[1:2] == ["supported_families"])
    assert {"zynq", "kintex7", "zynquplus"} < set(families)
    assert ["add_files", "-norecurse", *hardware] in package
    buses = [call[1] for call in package if call[0] == "ipx::get_bus_interfaces"]
    streams = {path.stem for path in folder.glob("vectors/small/?_axis_*.txt")}
    assert {"aclk", "aresetn", "interrupt", "s_axi", *streams} == set(buses)

    assert tcl(folder / "clock.xdc") == [
        ["get_ports", "aclk"], ["create_clock", "-name", "aclk", "-period", "7.299", "get_ports"]
    ]  # fmt: skip


@needs("tclsh")
@pytest.mark.parametrize("phase", PHASES)
def test_memories_and_streams_have_handles(
    phase: str, exports: dict[str, Path], tmp_path: Path
) -> None:
    folder = exports[phase]
    script = tmp_path / "attributes.tcl"
    text = (folder / script.name).read_text()
    script.write_text(text)
    assert tcl(script) == []  # as it is, nothing is changed
    script.write_text(text.replace(" auto\n", " block\n").replace("set debug 0", "set debug 1"))
    calls = tcl(script)
    *filters, bank = [
        call for call in calls if "-hierarchical" in call and call[-1].endswith("bank")
    ]
    assert filters == []
    at = calls.index(bank)
    assert calls[at + 1 : at + 3] == [
        ["get_cells", "get_cells/memory_reg*"],
        ["set_property", "RAM_STYLE", "block", "get_cells"],
    ]
    nets = next(call[1:] for call in calls if call[0] == "get_nets")
    ports = (folder / "hdl" / f"merp_tiny_net_k2_{phase}.vhd").read_text()
    assert set(re.findall(r"(\w+_axis_\w+_t(?:valid|ready|last)) :", ports)) | {"interrupt"} == set(
        nets
    )
    assert ["set_property", "MARK_DEBUG", "true", "get_nets"] in calls
    # Every memory that is named is there, and none that is written a word at a time is left out.
    listed = {tuple(line.split()[:2]) for line in text.splitlines() if line.endswith(" auto")}
    for entity, memory in listed:
        declared = (folder / "hdl" / f"{entity}.vhd").read_text()
        assert re.search(rf"signal {memory} +: {memory}_t", declared)
    prefix = f"merp_tiny_net_k2_{phase}_"
    written = {
        path.stem
        for path in (folder / "hdl").glob("*.vhd")
        if re.search(r"memory\(to_integer\([^;]*\) <= ", path.read_text())
    }
    assert written <= {entity for entity, _ in listed}
    assert any(entity.startswith(f"{prefix}bank") for entity in written)


@needs("tclsh")
@pytest.mark.parametrize(("slack", "status"), [("0.0", 0), ("-0.001", 1)])
def test_a_build_that_misses_its_timing_fails(
    slack: str, status: int, exports: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copy(exports["fp"] / "build.tcl", tmp_path)
    done = run(tmp_path, "tclsh", str(STUB), "build.tcl", SLACK=slack)
    assert done.returncode == status, done.stderr
    assert ("FAIL: timing is not met" in done.stdout) == (status != 0)


@needs("tclsh")
@pytest.mark.parametrize("mistake", ["report_utilisation -file x", "route_design -fast"])
def test_a_mistake_in_a_script_is_seen(mistake: str, tmp_path: Path) -> None:
    (tmp_path / "build.tcl").write_text(f"opt_design\n{mistake}\n")
    assert run(tmp_path, "tclsh", str(STUB), "build.tcl").returncode != 0
