"""Block RAM by arithmetic beside syntheses of other sizes than those of ``resources.json``."""

from dataclasses import replace

import pytest

from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.synthesis.resources import measure, total
from merp.models.machines.cnn_merp.fpga.estimate import estimate
from merp.models.machines.cnn_merp.fpga.memories import block_rams, convolution_memories
from merp.models.machines.cnn_merp.params.design import EngineDesign
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
@needs("yosys")
def test_partial_sums_take_the_memories_of_the_synthesis() -> None:
    """Their FIFO in LUT RAM, and the places of biases, which are as many more."""
    plain = EngineDesign(**(SIZES | {"groups": 40}))
    partial = replace(plain, partial=True)
    blocks, beside = (total(measure(forward_top(each), False)) for each in (partial, plain))
    ours, theirs = (convolution_memories(each) for each in (partial, plain))
    more = sum(memory.luts for memory in ours) - sum(memory.luts for memory in theirs)
    assert blocks.memory - beside.memory == more > 0
    assert blocks.bram == block_rams(ours)
    logic = estimate(partial, "fp", ours).logic - estimate(plain, "fp", theirs).logic
    assert blocks.logic - beside.logic == pytest.approx(logic, rel=0.5)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
@needs("yosys")
def test_block_ram_is_that_of_the_synthesis(case: str) -> None:
    design = EngineDesign(**(SIZES | CASES[case]))
    blocks = measure(forward_top(design), False)
    assert sum(block.all.bram for block in blocks) == block_rams(convolution_memories(design))
