"""Sums that take turns in one adder: they need a place for each cycle of the adder."""

from random import Random

import pytest

from block_bench import BlockBench, Replays
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.fcnn.turn_sum import SumStore, turn_sum
from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.formats import BFLOAT16
from merp.testbenches.cnn_merp.cu_bench import elements


def bench(words: int, latency: int) -> BlockBench:
    width = BFLOAT16.width
    return BlockBench(
        turn_sum, "clk begin", place=count(words - 1), first=bits(width), product=bits(width),
        store=SumStore(write=flag(), written=count(words - 1)), word=bits(width), fmt=BFLOAT16,
        words=words, latency=latency,
    )  # fmt: skip


@pytest.mark.ghdl
@pytest.mark.parametrize(("words", "latency"), [(3, 2), (4, 1), (2, 1)])
def test_sums_in_any_order(words: int, latency: int, replays: Replays) -> None:
    """A place rests for the adder's latency, and no longer, or a sum is left out."""
    rng = Random(f"{words} {latency}")
    cycles = 60
    places: list[int] = []
    for _ in range(cycles):
        recent = places[-latency:]
        places.append(rng.choice([p for p in range(words) if p not in recent]))
    goes = [rng.random() < 0.8 for _ in range(cycles)]
    begun: set[int] = set()
    first = elements(cycles, BFLOAT16, rng)
    products = elements(cycles, BFLOAT16, rng)
    rows, sums, wanted = [], [0] * words, []
    for t in range(cycles):
        begin = places[t] not in begun or rng.random() < 0.1
        if goes[t]:
            begun.add(places[t])
        before = first[t] if begin else sums[places[t]]
        wanted.append(before)
        if goes[t] and t + 1 < cycles:
            sums[places[t]] = int(fp_add(before, products[t + 1], BFLOAT16))
        late = t - latency - 1
        rows.append({
            "place": places[t], "begin": int(begin), "first": first[t], "product": products[t],
            "write": int(late >= 0 and goes[late]), "written": places[late] if late >= 0 else 0,
        })  # fmt: skip
    trace = bench(words, latency).run(rows)
    assert trace.column("word")[1:] == wanted[:-1]
    replays(trace)


def test_too_few_sums_are_refused() -> None:
    with pytest.raises(ValueError, match="words must be at least 3, not 2"):
        bench(2, 2).run([{"place": 0, "write": 0}])
