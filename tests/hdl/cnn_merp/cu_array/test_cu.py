"""A computational unit against the golden product tree, kernel memory included."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.cu_array.cu import SUM_OF_PRODUCTS, cu
from merp.hdl.cnn_merp.cu_array.unit_ports import UnitWrite
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.summation import CU_KINDS
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.arithmetic.fp_bench import corner_pairs
from merp.testbenches.cnn_merp.cu_bench import elements, joined

Words = list[int]


def design_for(k: int, fmt: FloatFormat, mul_latency: int, add_latency: int) -> EngineDesign:
    return EngineDesign(
        k=k, fmt=fmt, mul_latency=mul_latency, add_latency=add_latency, n_cu=1, r=1,
        kernel_words=5, groups=1, row_words=1, max_size=4, max_maps=5, fifo_words=1,
    )  # fmt: skip


DESIGNS = [
    design_for(1, BINARY32, 3, 4),
    design_for(1, BFLOAT16, 1, 1),
    design_for(2, BINARY32, 2, 3),
    design_for(3, BFLOAT16, 1, 5),
    design_for(4, BFLOAT16, 2, 2),
    design_for(5, BINARY32, 3, 1),
]
every_design = pytest.mark.parametrize(
    "design",
    DESIGNS,
    ids=lambda d: f"k{d.k}-e{d.fmt.exp_bits}f{d.fmt.frac_bits}-{d.mul_latency}{d.add_latency}",
)


def check(design: EngineDesign, kernels: list[Words], reads: list[tuple[int, Words]]) -> Recorded:
    """Load ``kernels``; then each cycle reads an address and, a cycle later, brings a window."""
    fmt, width = design.fmt, design.fmt.width
    addr, data = count(design.kernel_words - 1), bits(design.window_width)
    bench = BlockBench(
        cu, "clk", write=UnitWrite(flag(), addr, data), read_addr=count(design.kernel_words - 1),
        window=bits(design.window_width), y=bits(width), design=design,
    )  # fmt: skip
    plan: list[dict[str, int]] = [
        {"write_enable": 1, "write_addr": addr, "write_data": joined(taps, width)}
        for addr, taps in enumerate(kernels)
    ]
    begin = len(plan)
    noise = joined([fmt.one] * design.taps, width)
    plan.append({"write_enable": 0, "write_data": noise})
    plan += [{} for _ in range(len(reads) + design.cu_latency)]
    for t, (addr, window) in enumerate(reads, begin):
        plan[t] |= {"read_addr": addr}
        plan[t + 1] |= {"window": joined(window, width)}
    trace = bench.run(plan)
    wanted = fp_tree(
        fp_mul([window for _, window in reads], [kernels[addr] for addr, _ in reads], fmt), fmt
    )
    first = begin + 1 + design.cu_latency
    assert trace.column("y")[first : first + len(reads)] == wanted.tolist() != []
    return trace


def random_case(design: EngineDesign, reads: int) -> tuple[list[Words], list[tuple[int, Words]]]:
    rng = Random(design.k)
    fmt, taps = design.fmt, design.taps
    kernels = [elements(taps, fmt, rng) for _ in range(design.kernel_words)]
    return kernels, [
        (rng.randrange(design.kernel_words), elements(taps, fmt, rng)) for _ in range(reads)
    ]


@every_design
def test_cu_matches_golden(design: EngineDesign) -> None:
    check(design, *random_case(design, 12 if design.k > 3 else 30))


@pytest.mark.parametrize("k", [1, 2])
def test_cu_corner_values(k: int) -> None:
    """NaN, infinities, zeros and subnormals, as kernels and in the window."""
    design = design_for(k, BFLOAT16, 1, 1)
    corners = sorted({a for a, _ in corner_pairs(BFLOAT16)})
    one = [BFLOAT16.one] * (design.taps - 1)
    kernels = [[word, *one] for word in (BFLOAT16.inf, BFLOAT16.nan, 1, BFLOAT16.sign_bit | 1, 0)]
    check(design, kernels, [(addr, [*one, word]) for addr in range(5) for word in corners])
    check(design, kernels, [(addr, [word, *one]) for addr in range(5) for word in corners])


@pytest.mark.parametrize("tap", range(9))
def test_cu_tap_order(tap: int) -> None:
    """Each tap of the window meets the same tap of the kernel, in the declared cycle only."""
    design = design_for(3, BFLOAT16, 2, 1)
    kernel = [BFLOAT16.one + (n << BFLOAT16.frac_bits) for n in range(9)]
    window = [BFLOAT16.one if n == tap else 0 for n in range(9)]
    trace = check(design, [kernel], [(0, [0] * 9), (0, window), (0, [0] * 9)])
    assert [word for word in trace.column("y") if word] == [kernel[tap]]


@pytest.mark.parametrize("read_at", [0, 1, 2])
def test_cu_reads_before_it_writes(read_at: int) -> None:
    """A kernel that is written in the cycle in which it is read gives the old word."""
    design = design_for(1, BFLOAT16, 1, 1)
    one, two = BFLOAT16.one, BFLOAT16.one + (1 << BFLOAT16.frac_bits)
    bench = BlockBench(
        cu, "clk", write=UnitWrite(flag(), count(4), bits(16)), read_addr=count(4),
        window=bits(16), y=bits(16), design=design,
    )  # fmt: skip
    plan: list[dict[str, int]] = [{"window": one, "read_addr": 1} for _ in range(8)]
    plan[0] |= {"write_enable": 1, "write_addr": 0, "write_data": one}
    plan[1] |= {"write_enable": 0}
    plan[3] |= {"write_enable": 1, "write_data": two}
    plan[4] |= {"write_enable": 0}
    plan[2 + read_at] |= {"read_addr": 0}
    y = bench.run(plan).column("y")
    wanted = [0] * 8
    wanted[2 + read_at + 1 + design.cu_latency] = two if read_at == 2 else one
    assert y == wanted


def test_cu_kinds_are_all_built() -> None:
    assert set(SUM_OF_PRODUCTS) == set(CU_KINDS)


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.parametrize("design", DESIGNS[:4], ids=lambda d: f"k{d.k}")
def test_cu_vhdl(design: EngineDesign, replays: Replays) -> None:
    replays(check(design, *random_case(design, 30)))
