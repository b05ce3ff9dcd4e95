"""An exported package by itself: its bench under GHDL, its scripts under tclsh, its schedule."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from marks import in_full
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.models.params.cnn_merp.registers import registers
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.bitstream.bitstream import bitstream_of, schedule
from merp.tools.cli import main
from merp.tools.common.owned import MANIFEST
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.export.dma import LARGEST_TRANSFER, images_in_a_transfer
from merp.tools.export.facts import layer_facts
from merp.tools.export.vectors import small_pass
from needed_tools import needs

# Names of all characters that are allowed.
NETWORK = """
[network]
name = 'Tiny +.- net'
input = { rows = 7, columns = 6, channels = 3 }

[[layer]]
name = "conv1 +.-_ X"
maps = 3
kernel = 2
pool = { kind = "max", window = 2, stride = 2 }
design = "k2"

[[layer]]
name = "conv2"
maps = 4
kernel = 2
pad = 1
design = "k2"

[design.k2]
k = 2
n_cu = 2
r = 1
d = 2
add_latency = 2
mul_latency = 1
"""

STUB = ROOT / "tests" / "vivado_stub.tcl"
NAME = "tiny-net-k2"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "tiny.toml"
    path.write_text(NETWORK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def exported(network: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything of the network."""
    folder = tmp_path_factory.mktemp("all")
    assert main(["export", str(network), "--all", "-o", str(folder)]) == 0
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / MANIFEST).read_text())


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.fixture(scope="module")
def built(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the exports, outside the package's tree, built as their pages say."""
    copy = tmp_path_factory.mktemp("elsewhere") / "exports"
    shutil.copytree(exported, copy)
    for phase in PHASES:
        folder = copy / f"{NAME}-{phase}"
        *commands, _ = ghdl_commands(folder)
        for command in commands:
            done = run(folder, "sh", "-c", command)
            assert done.returncode == 0, done.stderr
    return copy


def ghdl_commands(folder: Path) -> list[str]:
    """The commands of the page, in order; the last one runs the bench."""
    page = (folder / "README.md").read_text()
    commands = re.findall(r"^    ((?:mkdir|ghdl) .*)$", page, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["mkdir", "ghdl", "ghdl", "ghdl"]
    return commands


def bench(folder: Path, *generics: str) -> tuple[int, list[str]]:
    """Status and lines of the bench."""
    done = run(folder, *ghdl_commands(folder)[-1].split(), *generics)
    return done.returncode, [*done.stdout.splitlines(), *done.stderr.splitlines()]


@pytest.mark.ghdl
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("generics", [(), ("-gPAUSE=40", "-gSEED=3")], ids=["full", "pauses"])
def test_the_bench_passes_in_ghdl_alone(phase: str, generics: tuple[str, ...], built: Path) -> None:
    folder = built / f"{NAME}-{phase}"
    status, lines = bench(folder, *generics)
    assert status == 0, lines
    assert lines[-1] == "PASS"
    compared = manifest_of(folder)["vectors"]["small"]["words_compared"]
    assert compared > 0
    assert f", compared {compared}, wrong 0;" in lines[-2]
    counted = len((folder / "vectors" / "small" / "status.txt").read_text().splitlines())
    assert f"registers compared {counted}, wrong 0" in lines[-2]


@pytest.mark.ghdl
@pytest.mark.parametrize("phase", ["fp", *in_full("dp", "ku")])
def test_the_bench_aborts_a_run_and_begins_it_again(phase: str, built: Path) -> None:
    folder = built / f"{NAME}-{phase}"
    _, whole = bench(folder)
    for at in (40, 150):
        status, lines = bench(folder, f"-gABORT_AT={at}")
        assert status == 0, lines
        assert lines == whole, at  # the same words, and the same cycles
        # ... which take place after others.
    status, lines = bench(folder, "-gABORT_AT=1", "-gPAUSE=40")
    assert status == 0, lines


def spoilt_word(lines: list[str]) -> list[str]:
    return [*lines[:2], f"{int(lines[2], 16) ^ 1:0{len(lines[2])}x}", *lines[3:]]


def spoilt_value(lines: list[str]) -> list[str]:
    address, value, name = lines[-2].split()
    return [*lines[:-2], f"{address} {int(value, 16) + 1:x} {name}", lines[-1]]


@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("file", "spoil", "said"),
    [
        ("m_axis_map", spoilt_word, "first mismatch on m_axis_map, word 2: "),
        ("m_axis_map", lambda lines: lines[:-1], "tlast must be '1'"),
        ("m_axis_map", lambda lines: [*lines, lines[-1]], "words that must come out are missing"),
        ("m_axis_state", spoilt_word, "first mismatch on m_axis_state, word 2: "),
        ("s_axis_kernel", spoilt_word, "first mismatch on m_axis_map"),
        ("s_axis_map", lambda lines: lines[:-1], "no word moved for 300 cycles"),
        ("s_axis_map", lambda lines: [*lines, lines[-1]], "words that go in were not all taken"),
        ("status", spoilt_value, "status_useful: "),
        ("registers", lambda lines: [f"{0:x} 0 ident", *lines], "write to 00000000: response 2"),
    ],
)
def test_the_bench_finds_what_is_planted(
    file: str, spoil: Any, said: str, built: Path, tmp_path: Path
) -> None:
    folder = built / f"{NAME}-fp"
    vectors = tmp_path / "vectors"
    shutil.copytree(folder / "vectors" / "small", vectors)
    path = vectors / f"{file}.txt"
    path.write_text("".join(f"{line}\n" for line in spoil(path.read_text().splitlines())))
    status, lines = bench(folder, f"-gVECTORS={vectors}", "-gWATCHDOG=300")
    assert status != 0
    assert "FAIL" in lines
    assert "PASS" not in lines
    assert any(said in line for line in lines), lines


def test_two_exports_are_identical_byte_for_byte(network: Path, tmp_path: Path) -> None:
    """In another process, too, whose sets are in another order."""
    arguments = ["export", str(network), "--layer", "conv2", "--phase", "fp", "-o"]
    assert main([*arguments, str(tmp_path / "one")]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "merp.tools.cli", *arguments, str(tmp_path / "two")],
        env=os.environ | {"PYTHONHASHSEED": "2"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    one, two = (
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two
    assert Path(f"{NAME}-fp/vectors/conv2/m_axis_map.txt") in one


@pytest.mark.parametrize("phase", PHASES)
def test_every_file_that_is_named_is_there(phase: str, exported: Path) -> None:
    folder = exported / f"{NAME}-{phase}"
    manifest = manifest_of(folder)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == there - {MANIFEST}
    order = manifest["compile_order"]
    assert set(order) == {name for name in there if name.endswith(".vhd")}
    core = (folder / f"{manifest['top']}.core").read_text()
    listed = re.findall(r"^      - ([\w./]+)(?::|$)", core, re.MULTILINE)
    vectors = {name for name in there if name.startswith("vectors/small/")}
    assert sorted(listed) == sorted({*order, *vectors, "clock.xdc", "out_of_context.tcl"})
    project = (folder / "sim" / "bench.prj").read_text()
    assert re.findall(r"^vhdl\w* work \.\./(.*)$", project, re.MULTILINE) == order
    page = (folder / "README.md").read_text()
    named = set(re.findall(r"`([\w/]+\.\w+)`", page)) - {
        "registers.txt",
        "status.txt",
        "cycles.txt",
    }
    assert named <= there
    assert {"build.tcl", "ip.tcl", "clock.xdc", "out_of_context.tcl"} < named


@pytest.mark.parametrize("phase", PHASES)
def test_the_page_tells_the_order_of_words_in_every_stream(phase: str, exported: Path) -> None:
    folder = exported / f"{NAME}-{phase}"
    page = (folder / "README.md").read_text()
    told = dict(re.findall(r"^\| `([sm]_axis_\w+)` \| ([^|`]+) \|$", page, re.MULTILINE))
    assert set(told) == {path.stem for path in folder.glob("vectors/small/?_axis_*.txt")}
    taken = {name: words for name, words in told.items() if name.startswith("s_")}
    taken.pop("s_axis_state", None)  # bytes of a string of bits
    assert all(" order" in words for words in taken.values()), taken


def tcl(script: Path) -> list[list[str]]:
    """The calls of Vivado's commands that a script makes."""
    done = run(script.parent, "tclsh", str(STUB), script.name)
    assert done.returncode == 0, done.stderr
    # A list of files is written over several lines.
    calls = re.split(r"^CALL ", done.stdout, flags=re.MULTILINE)[1:]
    return [call.replace("{", " ").replace("}", " ").split() for call in calls]


@needs("tclsh")
@pytest.mark.parametrize("phase", PHASES)
def test_scripts_run_with_vivados_commands(phase: str, exported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(exported / f"{NAME}-{phase}", folder)
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
def test_memories_and_streams_have_handles(phase: str, exported: Path, tmp_path: Path) -> None:
    folder = exported / f"{NAME}-{phase}"
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


@pytest.mark.parametrize(("most", "found"), [(4, None), (9, 6)])
def test_a_transfer_has_at_most_26_bits_of_length(most: int, found: int | None) -> None:
    size = 10 * 2**20  # bytes of an image; 64 MiB less a byte fit
    assert images_in_a_transfer(lambda images: size * images, most) == found
    assert images_in_a_transfer(lambda images: LARGEST_TRANSFER, most) is None
    assert images_in_a_transfer(lambda images: LARGEST_TRANSFER + 1, most) == 0


def test_an_export_tells_how_many_images_a_dma_takes_at_once(exported: Path) -> None:
    network = open_network("alexnet")
    layer = network.layer("conv1")
    facts = layer_facts(bitstream_of(network, layer, "fp"), layer, 128)
    assert facts["bytes"]["map_in"] == 77_070_336  # 224 * 224 * 3 * 4 an image
    assert (facts["dma_images"]["map_in"], facts["dma_images"]["kernel"]) == (111, None)
    for phase in PHASES:
        page = (exported / f"{NAME}-{phase}" / "README.md").read_text()
        [row] = re.findall(r"^\| conv2 \|((?: [\d,]+ \(all\) \|)+)$", page, re.MULTILINE)
        told = manifest_of(exported / f"{NAME}-{phase}")["layers"][-1]
        assert row.count("(all)") == len(told["bytes"])


@needs("tclsh")
@pytest.mark.parametrize(("slack", "status"), [("0.0", 0), ("-0.001", 1)])
def test_a_build_that_misses_its_timing_fails(
    slack: str, status: int, exported: Path, tmp_path: Path
) -> None:
    shutil.copy(exported / f"{NAME}-fp" / "build.tcl", tmp_path)
    done = subprocess.run(
        ["tclsh", str(STUB), "build.tcl"],
        cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"SLACK": slack},
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert ("FAIL: timing is not met" in done.stdout) == (status != 0)


def core_of(folder: Path) -> str:
    named = re.search(r"^name: (.*)$", next(folder.glob("*.core")).read_text(), re.MULTILINE)
    assert named is not None
    return named[1]


def fusesoc(folder: Path, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # A configuration and a cache of its own: nothing of the user's is read or written.
    environment = os.environ | {"HOME": str(work), "XDG_CACHE_HOME": str(work / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "fusesoc.main", "--cores-root", str(folder), "run",
         "--work-root", str(work / "build"), *words, core_of(folder)],
        cwd=work, capture_output=True, text=True, timeout=600, env=environment,
    )  # fmt: skip


@pytest.mark.full
@needs("fusesoc", "tclsh")
def test_fusesoc_sets_a_synthesis_up_that_is_out_of_context(exported: Path, tmp_path: Path) -> None:
    folder = exported / f"{NAME}-fp"
    done = fusesoc(folder, tmp_path, "--target=synth", "--setup")
    assert done.returncode == 0, done.stdout + done.stderr
    project = tmp_path / "build" / f"{core_of(folder).replace(':', '_')}.tcl"
    calls = tcl(project)
    option = ["STEPS.SYNTH_DESIGN.ARGS.MORE", "OPTIONS", "-value", "-mode", "out_of_context"]
    assert ["set_property", "-name", *option, "-objects", "get_runs"] in calls
    assert ["set_property", "top", "merp_tiny_net_k2_fp", "current_fileset"] in calls
    assert any(call[0] == "read_xdc" for call in calls)
    makefile = (tmp_path / "build" / "Makefile").read_text()
    assert "synth:" in makefile


@pytest.mark.full
@pytest.mark.ghdl
@needs("fusesoc")
def test_fusesoc_simulates_an_export(exported: Path, tmp_path: Path) -> None:
    done = fusesoc(exported / f"{NAME}-fp", tmp_path, "--target=sim")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout + done.stderr


@needs("tclsh")
@pytest.mark.parametrize("mistake", ["report_utilisation -file x", "route_design -fast"])
def test_a_mistake_in_a_script_is_seen(mistake: str, tmp_path: Path) -> None:
    (tmp_path / "build.tcl").write_text(f"opt_design\n{mistake}\n")
    assert run(tmp_path, "tclsh", str(STUB), "build.tcl").returncode != 0


def test_the_schedule_loads_each_design_once(exported: Path, network: Path) -> None:
    written = json.loads((exported / "schedule.json").read_text())
    assert [each["name"] for each in written["bitstreams"]] == [f"{NAME}-{p}" for p in PHASES]
    passes = [(p["bitstream"][-2:], p["layer"], p["load"]) for p in written["passes"]]
    assert passes == [
        ("fp", "conv1 +.-_ X", True), ("fp", "conv2", False), ("dp", "conv2", True),
        ("ku", "conv1 +.-_ X", True), ("ku", "conv2", False),
    ]  # fmt: skip
    assert written["loads_in_a_step"] == 3
    read = read_network(network)
    layer = read.layer("conv2")
    wanted = registers(layer.shape, 1, read.design(layer))
    told = written["passes"][1]["registers"]
    assert {each["name"]: each["value"] for each in told} == wanted
    addresses = manifest_of(exported / f"{NAME}-fp")["registers"]
    assert all(each["address"] == addresses[each["name"]] for each in told)


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("name", shipped_names())
def test_runs_are_legal_on_every_shipped_design(name: str, before: bool) -> None:
    network = open_network(name)
    for bitstream, layer in schedule(network, state=True, before=before):
        top = bitstream.phase.top()
        legal = axi_registers_of(top)
        small = small_pass(bitstream).run
        small.check(top.ports)
        of = bitstream.phase.registers
        for values in (small.config, of(layer, 1), of(layer, 64)):
            assert values.keys() == {pin.name for pin in top.ports.config}
            for key, value in values.items():
                assert legal[key].least <= value <= legal[key].most, key


@pytest.mark.ghdl
@pytest.mark.full
@pytest.mark.parametrize("phase", PHASES)
def test_16_cus_of_alexnet_in_ghdl(phase: str, tmp_path: Path) -> None:
    arguments = ["export", "alexnet", "--layer", "conv2", "--phase", phase, "-o", str(tmp_path)]
    assert main(arguments) == 0
    folder = tmp_path / f"alexnet-k5-{phase}"
    *commands, _ = ghdl_commands(folder)
    for command in commands:
        assert run(folder, "sh", "-c", command).returncode == 0
    done = subprocess.run(ghdl_commands(folder)[-1].split(), cwd=folder, check=False)
    assert done.returncode == 0
