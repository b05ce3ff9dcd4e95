"""Exported VHDL through GHDL's synthesis: Yosys reads it, and maps it as it maps our Verilog."""

import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from yosys import yosys

from marks import in_full
from merp.cosim.machines.blocks import all_blocks
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.synthesis.resources import inside
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import Export, convert
from merp.models.fpga.resources import Resources, count_cells
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.network.phases import PHASES
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.top.top import Top
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from needed_tools import needs

SMALL = EngineDesign(
    k=3, n_cu=2, r=1, kernel_words=4, groups=1, row_words=4, max_size=8, max_maps=2, fifo_words=2
)
LATCH = "LDCE"


def defaults(netlist: str) -> dict[str, dict[str, str]]:
    """What each choice of a netlist in VHDL comes to otherwise, in Verilog, by entity and net."""

    def verilog(value: str) -> str:
        if same := re.fullmatch(r"\((\d+) downto 0 => '(.)'\)", value):
            return f"{{{int(same[1]) + 1}{{1'b{same[2]}}}}}"
        bits = value.strip("\"'")
        return value if bits == value else f"{len(bits)}'b{bits}"

    otherwise = re.compile(r" select (\w+) <=[^;]*?(\(.*\)|\S+) when others;")
    parts = re.split(r"^(?=architecture )", netlist, flags=re.MULTILINE)[1:]
    return {
        part.split()[3]: {net: verilog(value) for net, value in otherwise.findall(part)}
        for part in parts
    }


def complete(module: str, others: dict[str, str]) -> str:
    """A module in Verilog, with what its choices come to otherwise."""

    def written(match: re.Match[str]) -> str:
        last, net, space = match.groups()
        return f"{last}{space}  default: {net} <= {others[net]};\n{space}endcase"

    return re.sub(r"((\w+) <= [^;]*;\n)( *)endcase", written, module)


def synthesised_by_ghdl(folder: Path, names: Sequence[str], top: str) -> dict[str, str]:
    """The modules that GHDL makes of files of VHDL, by name.

    Where GHDL 2.0 writes Verilog it leaves ``default`` out (its issue 2041); what belongs there
    is in the same netlist as it writes it in VHDL.
    """

    def ghdl(verb: str, *words: str) -> str:
        command = ["ghdl", verb, "--std=08", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    ghdl("-a", *names)
    others = defaults(ghdl("--synth", "--out=vhdl", top))
    modules = re.split(r"^(?=module )", ghdl("--synth", "--out=verilog", top), flags=re.MULTILINE)
    return {text.split()[1]: complete(text, others[text.split()[1]]) for text in modules[1:]}


def ghdl_verilog(top: Top, folder: Path, *, fold: bool) -> dict[str, Path]:
    """The modules that GHDL makes of a design's VHDL, a file each, by name."""
    export = convert(top.function, top.args, "vhdl", folder / "vhdl", fold=fold)

    files = {}
    names = [file.name for file in export.files]
    for name, text in synthesised_by_ghdl(folder / "vhdl", names, export.top).items():
        files[name] = folder / f"{name}.v"
        files[name].write_text(text)
    return files


@pytest.mark.ghdl
@needs("yosys")
@pytest.mark.parametrize("p", [*in_full(1), 2])
def test_yosys_reads_every_entity(p: int, tmp_path: Path) -> None:
    design = EngineDesign(**{**vars(SMALL), "p": p})
    files = ghdl_verilog(axi_top(forward_top(design)), tmp_path, fold=True)
    names = " ".join(file.name for file in files.values())  # Yosys sees its folder alone
    script = f"read_verilog {names}; hierarchy -check -top forward_axi; proc"  # tells of latches
    assert yosys(script, tmp_path) == (0, "")


def mapped(export: Export, files: dict[str, Path]) -> dict[str, Resources]:
    """Resources of each block, those of blocks inside left out."""
    roots = {
        name
        for name in export.instances
        if name == export.top or export.blocks[name] in all_blocks().apart
    }
    found = {}
    for name in roots:
        within = set(inside(export, name, roots - {name}))
        netlist = synthesise([files[each] for each in (name, *within)], name, within & roots)
        kinds = Counter(cell["type"] for cell in netlist["cells"].values())
        assert LATCH not in kinds, name
        found[name] = count_cells(
            {kind: count for kind, count in kinds.items() if kind not in roots}
        )
    return found


@pytest.mark.full
@pytest.mark.ghdl
@needs("yosys")
@pytest.mark.parametrize("phase", PHASES)
def test_resources_are_those_of_the_verilog(phase: str, tmp_path: Path) -> None:
    """Of AlexNet's conv2."""
    network = open_network("alexnet")
    top = axi_top(bitstream_of(network, network.layer("conv2"), phase).phase.top())
    export = convert(top.function, top.args, "verilog", tmp_path / "verilog", fold=False)
    ours = mapped(export, {file.stem: file for file in export.files})
    theirs = mapped(export, ghdl_verilog(top, tmp_path, fold=False))
    sums = [Resources(), Resources()]
    for name, own in ours.items():
        by_ghdl = theirs[name]
        assert (by_ghdl.dsp, by_ghdl.bram) == (own.dsp, own.bram), name
        fewest = 0.995 * own.ff if name == "cu_fused" else own.ff  # 5,050 of 5,068 there
        assert fewest <= by_ghdl.ff <= own.ff, name
        sums[0] += own * export.instances[name]
        sums[1] += by_ghdl * export.instances[name]
    own, by_ghdl = sums
    assert by_ghdl.lut == pytest.approx(own.lut, rel=0.015)  # -0.1, -0.1, 1.1 %


ORDER = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity order is
    port (clk : in std_logic; digit : in unsigned(1 downto 0);
          a, b, c : in unsigned(16 downto 0); y : out unsigned(16 downto 0));
end entity order;
architecture rtl of order is
    signal held, chosen : unsigned(16 downto 0);
begin
    held <= c when rising_edge(clk);
    with digit select chosen <=
        c when "11", a when "10", b when "01", (others => '0') when others;
    y <= held + chosen;
end architecture rtl;
"""
IN_ORDER = """\
module order(input clk, input [1:0] digit, input [16:0] a, b, c, output [16:0] y);
    reg [16:0] {first};
    reg [16:0] {second};
    always @(posedge clk) held <= c;
    always @* chosen = digit == 3 ? c : digit == 2 ? a : digit == 1 ? b : 17'd0;
    assign y = held + chosen;
endmodule
"""


def luts(file: Path) -> int:
    cells = synthesise([file], "order")["cells"].values()
    return count_cells(Counter(cell["type"] for cell in cells)).lut


@pytest.mark.full
@pytest.mark.ghdl
@needs("yosys")
def test_a_sum_takes_more_luts_where_its_selection_is_declared_first(tmp_path: Path) -> None:
    """Why statements are in the order of the data; docs/export.md says it."""
    file = tmp_path / "order.v"
    found = []
    for first, second in (("held", "chosen"), ("chosen", "held")):
        file.write_text(IN_ORDER.format(first=first, second=second))
        found.append(luts(file))
    (tmp_path / "order.vhd").write_text(ORDER)
    verilog = synthesised_by_ghdl(tmp_path, ["order.vhd"], "order")
    file.write_text(verilog["order"])
    assert [*found, luts(file)] == [17, 34, 34]
