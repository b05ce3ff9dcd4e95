"""Block RAM by arithmetic beside syntheses of other sizes than those of ``resources.json``."""

from __future__ import annotations

import pytest

from merp.cosim.phases.cnn_merp.forward import forward_top
from merp.cosim.synthesis.resources import measure
from merp.models.fpga.memories import block_rams, convolution_memories
from merp.models.params.cnn_merp.design import Design
from needed_tools import needs

SIZES = {
    "k": 3, "n_cu": 2, "r": 1, "max_size": 30, "max_maps": 100, "fifo_words": 80, "groups": 20,
    "kernel_words": 40, "row_words": 40,
}  # fmt: skip

CASES = {
    "LUT RAM alone": {},
    "deep kernels": {"kernel_words": 700, "cu_kind": "fused"},
    "kernels of a row of blocks and a bit": {"kernel_words": 1100},
    "deep accumulators": {"groups": 80, "fifo_words": 160},
    "rows and pooling": {"row_words": 300, "d": 2, "pool_window": 2, "pool_words": 600},
    "a deep FIFO": {"fifo_words": 600, "row_words": 1100},
}


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
@needs("yosys")
def test_block_ram_is_that_of_the_synthesis(case: str) -> None:
    design = Design(**(SIZES | CASES[case]))
    blocks = measure(forward_top(design), False)
    assert sum(block.all.bram for block in blocks) == block_rams(convolution_memories(design))
