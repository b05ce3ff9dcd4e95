"""The size of the array in rows after synthesis is what its page says."""

import pytest

from checkout import BLOCK_PAGES
from merp.cosim.synthesis.resources import measure
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.top import Top
from needed_tools import needs

PAGE = BLOCK_PAGES / "cnn_merp" / "gradient_array" / "row_array.md"


def row(name: str, found: Resources) -> str:
    """A line of the page's table."""
    memory = f"{found.bram:g} | {found.dsp}"
    return (
        f"| {name} | {found.logic:,} | {found.shift + found.memory:,} | {found.ff:,} | {memory} |"
    )


@pytest.mark.full
@needs("yosys")
def test_size() -> None:
    """The array of AlexNet's layer 2: 16 CUs of 5 x 5."""
    design = EngineDesign(
        k=5, n_cu=16, r=1, kernel_words=384, groups=8, row_words=288, max_size=27, max_maps=48,
        fifo_words=8, cu_kind="fused", ku_kind="row",
    )  # fmt: skip
    args = {
        "clk": flag(), "rst": flag(), "slot": RowSlot(design), "opening": flag(),
        "window": bits(design.window_width), "deltas": bits(16 * 32),
        "read": GradientRead(design), "gradient": bits(32), "design": design,
    }  # fmt: skip
    blocks = measure(Top(row_array, args), whole=False)
    in_a_cu = {"row_cu": 1, "fp_add": 1, "dual_port_ram_words9600": 1}
    cu, whole = Resources(), Resources()
    for block in blocks:
        cu += block.each * in_a_cu.get(block.name, 0)
        whole += block.all
    page = PAGE.read_text()
    for line in (row("a CU", cu), row("the array, 16 CUs", whole)):
        assert line in page, line
    assert f"is {max(block.delay_ns for block in blocks):.1f} ns" in page
