"""A MAC array exported: one bitstream, whose bench runs a pass of every kind."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import rows_in_full
from merp.models.machines.mac_array.schedule_words import schedule_passes
from merp.models.network.network_file import read_network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.mac_array.trainer_bench import trainer_top
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.machines.mac_array.export.schedule import phases_of_array, scheduled
from merp.tools.machines.mac_array.export.vectors import small_network, small_passes
from needed_tools import needs
from packages import bench, built, manifest_of, run, verilator_bench
from small_arrays import small_array
from terminal import Terminal

pytest_plugins = ["merp.cocotb.plugin"]

# 4 x 4 x 4, rows of sums that no window of pooling takes, lanes that idle.
NETWORK = small_array("tiny-fixed", side=6, channels=2, maps=6)

KINDS = [
    ("conv1", 1, "fp"),
    ("fc2", 1, "fp, then the deltas of the hinge loss"),
    ("fc2", 1, "dp"),
    ("conv1", 1, "un-pooling of deltas"),
    ("conv1", 1, "ku, first image"),
    ("conv1", 2, "fp"),
    ("conv1", 2, "ku, deltas expanded on entry, last image"),
]


@pytest.fixture(scope="session")
def array_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("array") / "tiny.toml"
    path.write_text(NETWORK)
    return path


def export(network: object, folder: Path, *more: str) -> Path:
    assert main(["export", str(network), "-o", str(folder), *more]) == 0
    (package,) = folder.iterdir()
    return package


@pytest.fixture(scope="module")
def exported(array_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that nobody may write into."""
    return export(array_file, tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def elsewhere(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it, its bench built."""
    return built(shutil.copytree(exported, tmp_path_factory.mktemp("elsewhere") / exported.name))


@pytest.mark.full
def test_one_bitstream_has_vectors_of_every_kind_of_pass(exported: Path) -> None:
    manifest = manifest_of(exported)
    assert manifest["title"] == "tiny-fixed array, all layers and phases, 4 x 4 pixels of 4 maps"
    assert (manifest["phase"], manifest["top"]) == ("all", "merp_tiny_fixed_array")
    small = manifest["vectors"]["small"]
    assert [(each["layer"], each["image"], each["kind"]) for each in small["passes"]] == KINDS
    assert all(each["words_compared"] for each in small["passes"])
    folders = sorted(path.name for path in (exported / "vectors" / "small").iterdir())
    assert folders == [str(number) for number in range(1, len(KINDS) + 1)]
    header = (exported / "software" / "merp_tiny_fixed_array.h").read_text()
    assert "#define MERP_TINY_FIXED_ARRAY_UPDATE_CONFIG_LAST 0x" in header


def test_the_page_names_what_is_there_and_the_order_in_every_stream(exported: Path) -> None:
    manifest, page = manifest_of(exported), (exported / "README.md").read_text()
    told = dict(re.findall(r"^\| `([sm]_axis_\w+)` \| ([^|`]+) \|$", page, re.MULTILINE))
    assert set(told) == set(manifest["streams"])
    single = {"s_axis_target"}  # a word
    assert all(" order" in words for name, words in told.items() if name not in single), told
    named = set(re.findall(r"`((?:hdl|sim|software)/[\w/]+\.\w+)`", page))
    assert named <= set(manifest["files"])
    assert [line for line in page.splitlines() if "| dp |" in line or "| fp" in line]
    core = (exported / f"{manifest['top']}.core").read_text()
    vectors = {name for name in manifest["files"] if name.startswith("vectors/")}
    assert vectors == set(re.findall(r"- (vectors/[\w/]+\.txt):", core))


def test_words_of_no_meaning_are_not_compared(exported: Path) -> None:
    """Columns behind the last one of a row, and lanes without a map."""
    compared = 0
    for number in range(1, len(KINDS) + 1):
        for path in (exported / "vectors" / "small" / str(number)).glob("m_axis_*.txt"):
            words = path.read_text().split()
            assert all(re.fullmatch(r"[0-9a-f]{4}|-", word) for word in words)
            compared += len(words) - words.count("-")
    assert compared == manifest_of(exported)["vectors"]["small"]["words_compared"]


@pytest.mark.full
def test_two_exports_are_identical_byte_for_byte(
    exported: Path, array_file: Path, tmp_path: Path
) -> None:
    command = ["export", str(array_file), "-o", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "merp.tools.cli", *command],
        env=os.environ | {"PYTHONHASHSEED": "2"}, check=False, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0
    one, two = (
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (exported, tmp_path / exported.name)
    )
    assert one == two


@pytest.mark.ghdl
def test_the_bench_passes_in_ghdl_alone(elsewhere: Path) -> None:
    small = manifest_of(elsewhere)["vectors"]["small"]
    status, lines = bench(elsewhere)
    assert (status, lines[-1]) == (0, "PASS"), lines
    assert f", compared {small['words_compared']}, wrong 0;" in lines[-2]
    assert [line for line in lines if line.startswith("pass ")] == [
        f"pass {number}" for number in range(1, len(KINDS) + 1)
    ]


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("generics", [("-gPAUSE=30",), ("-gABORT_AT=60",)])
def test_the_bench_pauses_and_aborts_every_pass(elsewhere: Path, generics: tuple[str, ...]) -> None:
    status, lines = bench(elsewhere, *generics)
    assert (status, lines[-1]) == (0, "PASS"), lines


@pytest.mark.full
@pytest.mark.verilator
def test_the_bench_of_verilog_passes_pauses_and_aborts(array_file: Path, tmp_path: Path) -> None:
    package = export(array_file, tmp_path, "--language", "verilog")
    play = verilator_bench(package)
    compared = manifest_of(package)["vectors"]["small"]["words_compared"]
    for options in ((), ("+PAUSE=30",), ("+ABORT_AT=60",)):
        status, lines = play(*options)
        assert (status, "PASS" in lines) == (0, True), lines
        assert any(f", compared {compared}, wrong 0;" in line for line in lines), lines


def spoilt_word(lines: list[str]) -> list[str]:
    place = next(place for place, line in enumerate(lines) if line != "-")
    return [*lines[:place], f"{int(lines[place], 16) ^ 0x4000:04x}", *lines[place + 1 :]]


def spoilt_value(lines: list[str]) -> list[str]:
    address, value, name = lines[-2].split()
    return [*lines[:-2], f"{address} {int(value, 16) + 1:x} {name}", lines[-1]]


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("file", "spoil", "said"),
    [
        ("m_axis_map", spoilt_word, "first mismatch on m_axis_map, word "),
        ("s_axis_kernel", spoilt_word, "first mismatch on m_axis_map, word "),
        ("s_axis_map", lambda lines: lines[:-1], "status_map_in: "),
        *rows_in_full(("status", spoilt_value, "status_saturated_loss: ")),
    ],
)
def test_the_bench_finds_what_is_planted_in_vectors(
    file: str, spoil: Callable[[list[str]], list[str]], said: str, elsewhere: Path, tmp_path: Path
) -> None:
    vectors = tmp_path / "vectors"
    shutil.copytree(elsewhere / "vectors" / "small" / "1", vectors / "1")
    path = vectors / "1" / f"{file}.txt"
    path.write_text("".join(f"{line}\n" for line in spoil(path.read_text().splitlines())))
    status, lines = bench(elsewhere, f"-gVECTORS={vectors}", "-gPASSES=1", "-gWATCHDOG=300")
    assert (status != 0, "FAIL" in lines, "PASS" in lines) == (True, True, False), lines
    assert any(said in line for line in lines), lines


@pytest.mark.ghdl
def test_the_bench_finds_a_fault_of_the_hardware(exported: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(exported, tmp_path / exported.name)
    file = folder / "hdl" / "merp_tiny_fixed_array_mac.vhd"
    text = file.read_text()
    assert text.count("base + product") == 1
    assert text.count("base + product") == 1
    file.write_text(text.replace("base + product", "base - product"))
    status, lines = bench(built(folder), "-gPASSES=1")
    assert (status != 0, "FAIL" in lines) == (True, True), lines
    assert any("first mismatch on m_axis_map" in line for line in lines)


@pytest.mark.ghdl
def test_hardware_is_analysed_without_a_warning(exported: Path, tmp_path: Path) -> None:
    order = [str(exported / name) for name in manifest_of(exported)["compile_order"]]
    done = run(tmp_path, "ghdl", "-a", "--std=08", *order)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.full
@pytest.mark.ghdl
def test_the_package_runs_under_cocotb(exported: Path) -> None:
    """Through AXI alone, without pauses and with them, every rule of the ports seen."""
    done = run(exported, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "sim")
    assert done.returncode == 0, done.stdout


@pytest.mark.full
@pytest.mark.ghdl
def test_8_x_8_x_16_in_ghdl(tmp_path: Path) -> None:
    status, lines = bench(built(export("cifar10-1x-fixed", tmp_path)))
    assert (status, lines[-1]) == (0, "PASS"), lines


@pytest.mark.parametrize("name", ["cifar10-1x-fixed", "cifar10-4x-fixed", "digits-fixed"])
def test_small_passes_are_legal_on_every_shipped_array(name: str) -> None:
    network = open_network(name)
    design = phases_of_array(network, fused=False)["fp"].design
    top = trainer_top(design)
    legal, kinds = axi_registers_of(top), []
    for each in small_passes(network):
        each.given.run.check(top.ports)
        kinds.append((each.work.phase, each.work.loss, each.work.expands, each.image))
        for register, value in each.given.run.config.items():
            assert legal[register].least <= value <= legal[register].most, register
    assert kinds == [
        ("fp", None, False, 0), ("fp", "hinge", False, 0), ("dp", None, False, 0),
        ("upsample", None, True, 0), ("ku", None, False, 0), ("fp", None, False, 1),
        ("ku", None, True, 1),
    ]  # fmt: skip


def test_an_array_of_one_layer_has_a_small_network_too(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    head, _first, rest = NETWORK.partition("[[layer]]")
    _, second, last = rest.partition("[[layer]]")
    path.write_text(head + second + last)
    network = read_network(path)
    assert [layer.name for layer in small_network(network).layers] == ["fc2"]
    assert [each.work.phase for each in small_passes(network)] == ["fp", "ku", "fp", "ku"]


def schedule_of(package: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((package / "software" / "schedule.json").read_text())
    return found


def test_the_schedule_is_the_passes_of_an_image(exported: Path, array_file: Path) -> None:
    written = schedule_of(exported)
    assert [(each["layer"], each["kind"].partition(",")[0]) for each in written["passes"]] == [
        ("conv1", "fp"), ("fc2", "fp"), ("fc2", "ku"), ("fc2", "dp"),
        ("conv1", "un-pooling of deltas"), ("conv1", "ku"),
    ]  # fmt: skip
    manifest = manifest_of(exported)
    legal = axi_registers_of(
        trainer_top(phases_of_array(read_network(array_file), fused=False)["fp"].design)
    )
    for each in written["passes"]:
        assert list(each["registers"])
        assert set(each["registers"]) == set(manifest["settings"])
        for name, value in each["registers"].items():
            assert legal[name].least <= value <= legal[name].most, name
    last = written["passes"][-1]["streams"]
    assert last["s_axis_delta"] == {"array": "deltas of sums", "layer": "conv1"}
    assert last["s_axis_map"] == {"array": "images", "layer": None}
    assert last["m_axis_gradient"] == {"array": "gradients", "layer": "conv1"}


def test_the_words_of_the_schedule_hold_the_registers(exported: Path, array_file: Path) -> None:
    """As the hardware reads them; of an image's place in its batch they say nothing."""
    design = phases_of_array(read_network(array_file), fused=False)["fp"].design
    written = schedule_of(exported)
    words = [word for each in written["passes"] for word in each["words"]]
    held = schedule_passes(np.array(words, np.uint32), design)
    image = {written["first"], written["last"]}
    assert held == [
        {name: value for name, value in each["registers"].items() if name not in image}
        for each in written["passes"]
    ]
    assert f"{len(words) // len(held)} a pass (`words`" in (exported / "README.md").read_text()
    header = (exported / "software" / f"{manifest_of(exported)['top']}_schedule.h").read_text()
    _, _, table = header.partition("_SCHEDULE_WORDS] = {")
    table, _, _ = table.partition("};")
    found = re.findall(r"0x([0-9a-f]+)u", table)
    assert [int(word, 16) for word in found] == words


@needs("gcc")
def test_c_writes_the_registers_of_a_pass(exported: Path, tmp_path: Path) -> None:
    top, written = manifest_of(exported)["top"], schedule_of(exported)
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "{top}_schedule.h"\n'
        "static uint32_t map[1024];\n"
        "int main(void)\n{\n    int i;\n"
        f"    {top}_write_pass(map, {top.upper()}_PASSES - 1, 0, 1);\n"
        '    for (i = 0; i < 1024; i++) printf("%u\\n", map[i]);\n    return 0;\n}\n'
    )
    include = f"-I{exported / 'software'}"
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function")
    done = run(tmp_path, "gcc", *flags, include, "main.c", "-o", "main")
    assert done.returncode == 0, done.stderr
    words = run(tmp_path, str(tmp_path / "main")).stdout.split()
    wanted = written["passes"][-1]["registers"] | {written["first"]: 0, written["last"]: 1}
    addresses = manifest_of(exported)["registers"]
    assert {name: int(words[addresses[name] // 4]) for name in wanted} == wanted


def test_deltas_of_the_schedule_may_lie_pooled(array_file: Path) -> None:
    passes = list(scheduled(read_network(array_file), 3, fused=True))
    assert "un-pooling of deltas" not in [each.kind for each in passes]
    assert passes[-1].kind == "ku, deltas expanded on entry"
    assert passes[-1].streams["s_axis_delta"] == ("deltas", "conv1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layer", "conv1"], "--layer: the one bitstream of tiny-fixed has all layers and phas"),
        (["--all"], "--all: the one bitstream of tiny-fixed"),
        (["--phase", "ku"], "--phase: the one bitstream of tiny-fixed"),
        (["--state"], "--state: the one bitstream of tiny-fixed"),
        (["--weights", "x.npz"], "--weights: the one bitstream of tiny-fixed"),
        (["--architecture", "pipeline"], "allowed here is 'cnn-merp'"),
        (["--architecture", "cnn-merp"], "--architecture: the one bitstream of tiny-fixed has all"),
        (["--depth", "2"], "--depth 2: allowed with --architecture pipeline"),
    ],
)
def test_what_an_array_does_not_take_is_one_line(
    arguments: list[str], said: str, array_file: Path, tmp_path: Path,
    terminal: Terminal,
) -> None:  # fmt: skip
    error = terminal.refusal("export", array_file, *arguments, "-o", tmp_path / "out")
    assert said in error
    assert not (tmp_path / "out").exists()
