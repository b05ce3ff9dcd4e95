"""The fused CU's size after synthesis is what its page says."""

from collections import Counter
from pathlib import Path

import pytest

from checkout import BLOCK_PAGES
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.cu_array.cu_fused import cu_fused
from merp.hdl.conversion.convert import convert
from merp.models.base.fused import OPERAND_BITS, activation_bits
from merp.models.fpga.resources import Resources, count_cells
from merp.models.machines.cnn_merp.params.design import EngineDesign
from needed_tools import needs

PAGE = BLOCK_PAGES / "cnn_merp" / "cu_array" / "cu_fused.md"


def size(dsp: int, window: int, folder: Path) -> Resources:
    """Cells of a 5 x 5 CU on 7-series, as Yosys maps the exported Verilog."""
    design = EngineDesign(
        k=5, n_cu=1, r=1, kernel_words=1, groups=1, row_words=1, max_size=5, max_maps=1,
        fifo_words=1, cu_kind="fused", fused_dsp=dsp, fused_window=window,
    )  # fmt: skip
    args = {
        "clk": flag(), "window": bits(25 * activation_bits(dsp)),
        "kernel": bits(25 * OPERAND_BITS), "y": bits(32), "design": design,
    }  # fmt: skip
    export = convert(cu_fused, args, "verilog", folder)
    cells = synthesise(export.files, export.top)["cells"].values()
    return count_cells(Counter(cell["type"] for cell in cells))


@pytest.mark.full
@pytest.mark.parametrize(("dsp", "window"), [(1, 32), (1, 28), (2, 32)])
@needs("yosys")
def test_size(dsp: int, window: int, tmp_path: Path) -> None:
    found = size(dsp, window, tmp_path)
    name = {1: "one", 2: "two"}[dsp]
    cells = f"{found.logic:,} | {found.shift} | {found.ff:,} | {found.dsp}"
    row = f"| {name} DSP, W = {window} | {cells} |"
    assert row in PAGE.read_text(), row
