"""The files of a package, what its page and its manifest say of them, and the schedule."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.registers import registers
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.tools.cli import main
from merp.tools.common.owned import MANIFEST
from packages import manifest_of


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
    assert Path("tiny-net-k2-fp/vectors/conv2/m_axis_map.txt") in one


@pytest.mark.parametrize("phase", PHASES)
def test_every_file_that_is_named_is_there(phase: str, exports: dict[str, Path]) -> None:
    folder = exports[phase]
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
def test_the_page_tells_the_order_of_words_in_every_stream(
    phase: str, exports: dict[str, Path]
) -> None:
    folder = exports[phase]
    page = (folder / "README.md").read_text()
    told = dict(re.findall(r"^\| `([sm]_axis_\w+)` \| ([^|`]+) \|$", page, re.MULTILINE))
    assert set(told) == {path.stem for path in folder.glob("vectors/small/?_axis_*.txt")}
    taken = {name: words for name, words in told.items() if name.startswith("s_")}
    taken.pop("s_axis_state", None)  # bytes of a string of bits
    assert all(" order" in words for words in taken.values()), taken


def test_the_schedule_loads_each_design_once(exports: dict[str, Path], network: Path) -> None:
    written = json.loads((exports["fp"].parent / "schedule.json").read_text())
    assert [each["name"] for each in written["bitstreams"]] == [
        folder.name for folder in exports.values()
    ]
    passes = [(p["bitstream"][-2:], p["layer"], p["load"]) for p in written["passes"]]
    assert passes == [
        ("fp", "conv1 +.-_ X", True), ("fp", "conv2", False), ("dp", "conv2", True),
        ("ku", "conv1 +.-_ X", True), ("ku", "conv2", False),
    ]  # fmt: skip
    assert written["loads_in_a_step"] == 3
    read = read_network(network)
    layer = read.layer("conv2")
    wanted = registers(layer.shape, 1, design_of(read, layer))
    told = written["passes"][1]["registers"]
    assert {each["name"]: each["value"] for each in told} == wanted
    addresses = manifest_of(exports["fp"])["registers"]
    assert all(each["address"] == addresses[each["name"]] for each in told)
