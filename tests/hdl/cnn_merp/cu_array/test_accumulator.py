"""The co-located accumulators against golden additions: revisits, forwarding, biases."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays
from marks import in_full
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.cu_array.accumulator import accumulator
from merp.hdl.cnn_merp.cu_array.unit_ports import MemoryWrite, SumWrite
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.cu_bench import element

Plan = list[dict[str, int]]
CONTROL = ("first", "bias_sel", "read_addr")


def design_for(**changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=1, n_cu=1, r=1, p=2, groups=3, fmt=BFLOAT16, add_latency=2, kernel_words=1, row_words=1,
        max_size=4, max_maps=4, fifo_words=3,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


DESIGNS = [
    design_for(add_latency=1),
    design_for(add_latency=4, p=1, groups=1),
    design_for(add_latency=5, fmt=BINARY32, groups=2),
    design_for(add_latency=3, groups=3, p=1),
    design_for(add_latency=2, fmt=BINARY32, cu_kind="fused", accumulator_precision=28),
]


def name_of(design: EngineDesign) -> str:
    sums, digits = design.p * design.groups, design.accumulator_format.frac_bits + 1
    return f"{sums}sums-add{design.add_latency}-p{digits}"


every_design = pytest.mark.parametrize("design", DESIGNS, ids=name_of)


class Expectation:
    """The specification cycle by cycle: memories, the operand they gave, the sums in the adder."""

    def __init__(self, design: EngineDesign) -> None:
        self.element, self.fmt = design.fmt, design.accumulator_format
        self.sums = [0] * (design.p * design.groups)
        self.biases = [0] * design.groups
        self.operand = 0
        self.adding = [0] * design.add_latency

    def step(self, now: dict[str, int]) -> int:
        """One cycle with these inputs; the output in it."""
        y = self.adding.pop(0)
        self.adding.append(int(fp_add(now["psum"], self.operand, self.fmt)))
        if now["write_enable"]:
            self.sums[now["write_addr"]] = y
        if now["first"]:
            bias = self.biases[now["bias_sel"]]
            self.operand = int(fp_convert(bias, self.element, self.fmt))
        else:
            self.operand = self.sums[now["read_addr"]]
        if now["bias_enable"]:
            self.biases[now["bias_addr"]] = now["bias_data"]
        return y


def check(design: EngineDesign, plan: Plan) -> Recorded:
    width, wide = design.fmt.width, design.accumulator_format.width
    sums = design.p * design.groups
    signals = {
        "first": flag(), "bias_sel": count(design.groups - 1), "read_addr": count(sums - 1),
        "psum": bits(wide), "write": SumWrite(flag(), count(sums - 1)),
        "bias": MemoryWrite(flag(), count(design.groups - 1), bits(width)),
    }  # fmt: skip
    bench = BlockBench(accumulator, "clk", y=bits(wide), design=design, **signals)
    trace = bench.run(plan)
    model = Expectation(design)
    assert trace.column("y") == [model.step(now) for now in plan]
    return trace


def anything(design: EngineDesign, cycles: int) -> Plan:
    """Random bits everywhere, with few enough addresses that all kinds of meetings occur."""
    rng = Random(design.add_latency)
    return [
        {
            "first": int(rng.random() < 0.3),
            "bias_sel": rng.randrange(design.groups),
            "read_addr": rng.randrange(design.p * design.groups),
            "psum": element(design.accumulator_format, rng),
            "write_enable": rng.getrandbits(1),
            "write_addr": rng.randrange(design.p * design.groups),
            "bias_enable": rng.getrandbits(1),
            "bias_addr": rng.randrange(design.groups),
            "bias_data": element(design.fmt, rng),
        }
        for _ in range(cycles)
    ]


def sequence(design: EngineDesign, turns: list[tuple[int, int, int]], biases: list[int]) -> Plan:
    """Turns (cycle, accumulator, psum): the first of an accumulator starts it, each is kept."""
    latency = design.add_latency
    begin = len(biases)
    end = begin + max(t for t, _, _ in turns) + latency + 3
    biases_in = ("bias_enable", "bias_addr", "bias_data")
    names = (*CONTROL, "psum", "write_enable", "write_addr", *biases_in)
    plan = [dict.fromkeys(names, 0) for _ in range(end)]
    for addr, word in enumerate(biases):
        plan[addr] |= {"bias_enable": 1, "bias_addr": addr, "bias_data": word}
    begun: set[int] = set()
    for t, place, psum in turns:
        first = int(place not in begun)
        begun.add(place)
        group = place % design.groups
        plan[begin + t] |= {"first": first, "bias_sel": group, "read_addr": place}
        plan[begin + t + 1] |= {"psum": psum}
        plan[begin + t + 1 + latency] |= {"write_enable": 1, "write_addr": place}
    return plan


@every_design
def test_accumulator_matches_golden(design: EngineDesign) -> None:
    check(design, anything(design, 300))


@pytest.mark.sample(5)
@pytest.mark.parametrize("latency", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("late", [0, 1, 2])
def test_accumulator_revisit(latency: int, late: int) -> None:
    """At accumulate_latency, where the sum is forwarded, and later, from the memory."""
    design = design_for(add_latency=latency, groups=2, p=1)
    interval = design.accumulate_latency + late
    one, two, four = (BFLOAT16.one + (n << BFLOAT16.frac_bits) for n in range(3))
    turns = [(turn * interval, 1, one) for turn in range(3)]
    trace = check(design, sequence(design, turns, [four, one]))
    last = 2 + turns[-1][0] + 1 + latency
    assert trace.column("y")[last] == four  # bias 1 + 3 * 1
    assert trace.column("y")[last - interval] == two + (1 << BFLOAT16.frac_bits - 1)


def test_accumulator_forwards_the_same_address_only() -> None:
    """While one sum is written, another one is read."""
    design = design_for(add_latency=2, groups=2, p=1)
    one = BFLOAT16.one
    turns = [(0, 0, one), (1, 1, one), (3, 0, one), (4, 1, one)]
    check(design, sequence(design, turns, [0, one]))
    crossed = sequence(design, [*turns, (7, 1, one), (10, 0, one)], [0, one])
    crossed[2 + 7]["write_enable"] = 1  # accumulator 0 is written in the cycle in which 1 is read
    check(design, crossed)


@pytest.mark.ghdl
@pytest.mark.parametrize("design", [DESIGNS[-1], *in_full(*DESIGNS[:-1])], ids=name_of)
def test_accumulator_vhdl(design: EngineDesign, replays: Replays) -> None:
    replays(check(design, anything(design, 200)))
