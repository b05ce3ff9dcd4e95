"""The convolution element's size after synthesis is what its page says."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checkout import BLOCK_PAGES
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.arithmetic.cu_tree import cu_tree
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.conversion.convert import convert
from merp.hdl.mazouz.convolution_element import convolution_element
from merp.models.fpga.cell_timing import cell_timing
from merp.models.fpga.logic_delay import block_timing
from merp.models.fpga.resources import count_cells
from merp.models.papers.mazouz.params.element import ElementDesign
from merp.testbenches.mazouz.element_bench import arguments
from needed_tools import needs

PAGE = BLOCK_PAGES / "mazouz" / "convolution_element.md"
DESIGN = ElementDesign(k=3, max_rows=32, max_columns=32)
UNIT = {
    "clk": flag(), "window": bits(DESIGN.window_width), "kernel": bits(DESIGN.window_width),
    "y": bits(DESIGN.fmt.width), "design": DESIGN,
}  # fmt: skip


def line(columns: int) -> dict[str, Any]:
    """Ports of the line buffer of maps as wide."""
    params = replace(DESIGN, max_columns=columns).line
    return {
        "clk": flag(), "start": flag(), "advance": flag(), "columns": count(columns),
        "sink": bits(params.beat_width), "window": bits(params.window_width), "params": params,
    }  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "function", "args"),
    [
        ("element", convolution_element, arguments(DESIGN)),
        ("its `cu_tree`, by itself", cu_tree, UNIT),
        ("its `tap_line`, by itself", tap_line, line(32)),
        ("the same for lines of 1,024", tap_line, line(1024)),
    ],
)
@needs("yosys")
def test_size(
    name: str, function: Callable[..., Any], args: dict[str, Any], tmp_path: Path
) -> None:
    export = convert(function, args, "verilog", tmp_path)
    module = synthesise(export.files, export.top)
    found = count_cells(Counter(cell["type"] for cell in module["cells"].values()))
    delay = block_timing(module, cell_timing).inside
    row = f"| {name} | {found.lut:,} | {found.ff:,} | {found.dsp} | {found.bram:g} | {delay:.1f} |"
    assert row in PAGE.read_text(), row
