"""A lane's size after synthesis is what its page says: a DSP block to each MAC, and the rank."""

from collections import Counter
from pathlib import Path

import pytest

from checkout import BLOCK_PAGES
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.array.mac_lane import mac_lane
from merp.models.fpga.resources import count_cells
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.testbenches.mac_array.designs import small_design
from needed_tools import needs

PAGE = BLOCK_PAGES / "mac_array" / "array" / "mac_array.md"


@pytest.mark.full
@needs("yosys")
def test_size_of_a_lane(tmp_path: Path) -> None:
    design = small_design(8, 8)
    args = {
        "clk": flag(), "pixels": bits(WORD_BITS * design.pixels), "weight": bits(WORD_BITS),
        "first": flag(), "add": flag(), "biased": flag(), "copy": flag(),
        "place": count(design.pixels), "total": bits(SUM_BITS), "design": design,
    }  # fmt: skip
    export = convert(mac_lane, args, "verilog", tmp_path)
    cells = synthesise(export.files, export.top)["cells"].values()
    found = count_cells(Counter(cell["type"] for cell in cells))
    said = f"A lane of 64 MACs takes {found.dsp} DSP, {found.logic:,} LUT and {found.ff:,} FF"
    assert said in PAGE.read_text(), said
