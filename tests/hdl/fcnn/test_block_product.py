"""The matrix product: bits of the golden models, cycles by formula, stalls, resets, and VHDL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from framing_checks import check_told_until_start
from product_cases import Case, case, random_case, small

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.fcnn.block_product import block_product
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import ProductRun
from merp.models.machines.fcnn.product_cycles import product_cycles
from merp.models.machines.fcnn.product_order import product_of
from merp.testbenches.fcnn.product_bench import SINKS, arguments
from merp.testbenches.fcnn.stream_player import SLACK, StreamPlayer

STALLS = ("stall_output", "stall_bias", "stall_kernel", "stall_map")


def play(
    cases: Sequence[Case], rates: Mapping[str, float] | None = None, seed: int = 0
) -> Recorded:
    design = cases[0].run.design
    paces = {name: 1 / rate - 1 for name, rate in (rates or {}).items()}
    cycles = 0
    for each in cases:
        run = each.run
        words = (run.map_words, run.kernel_words, run.bias_words, run.sum_words)
        named = dict(zip((*SINKS, "source"), words, strict=True))
        waits = sum(pace * named[name] for name, pace in paces.items())
        cycles += product_cycles(run).total + SLACK + int(1.3 * waits)
    player = StreamPlayer([each.job for each in cases], ("source",), rates=rates or {}, seed=seed)
    return BlockBench(block_product, **arguments(design)).run(player, cycles)


def pieces(trace: Recorded, design: ProductDesign) -> list[list[int]]:
    """Elements of the output of each run."""
    width = design.fmt.width
    found: list[list[int]] = [[]]
    for data, last in trace.words("source"):
        found[-1] += [data >> (i * width) & ((1 << width) - 1) for i in range(design.size)]
        if last:
            found.append([])
    return found[:-1]


def check(cases: Sequence[Case], trace: Recorded) -> None:
    found = pieces(trace, cases[0].run.design)
    assert len(found) == len(cases)
    for each, elements in zip(cases, found, strict=True):
        assert len(elements) == each.run.sum_words * each.run.design.size
        assert np.array_equal(product_of(each.run, np.array(elements, np.uint32)), each.wanted)
    assert not any(trace.column("framing_error"))
    assert trace.column("done")[-1]


def cycles_of(trace: Recorded) -> list[tuple[int, ...]]:
    """The cycles of each run as ``ProductCycles``; no cycle has two causes."""
    names = ("issue", "drain", "stall_bias", "stall_kernel", "stall_output", "stall_map")
    activity = trace.columns(*(f"activity_{name}" for name in names))
    useful = trace.column("activity_useful")
    starts = [t for t, start in enumerate(trace.column("start")) if start]
    found = []
    for begin, after in zip(starts, [*starts[1:], len(useful)], strict=True):
        own = activity[begin + 1 : after]
        causes = [sum(column) for column in zip(*own, strict=True)]
        total = sum(1 for row in own if any(row))
        assert total == sum(causes)
        done = trace.column("done")[begin + 1 : after]
        assert done == [0] * total + [1] * (len(done) - total)
        found.append((total, *causes[:4], sum(useful[begin + 1 : after])))
    return found


@pytest.mark.parametrize(
    ("size", "blocks", "turns"),
    [(1, 1, 2), (2, 1, 2), (2, 2, 3), (1, 3, 3),
     *(pytest.param(*each, marks=pytest.mark.full)
       for each in ((3, 1, 2), (3, 2, 4), (2, 4, 4), (4, 2, 2)))],
)  # fmt: skip
def test_random_sizes(size: int, blocks: int, turns: int) -> None:
    rng = Random(f"{size} {blocks} {turns}")
    design = small(size, blocks, turns)
    cases = [random_case(design, rng) for _ in range(5)]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(product_cycles(each.run)) for each in cases]


def test_usual_latencies_in_binary32() -> None:
    design = small(2, 1, 5, fmt=BINARY32, mul_latency=3, add_latency=4)
    cases = [case(design, (13, 4, 3), True, Random(1))]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(product_cycles(cases[0].run))]


@pytest.mark.parametrize(
    "rates",
    [
        {"sink_map": 0.5}, {"sink_kernel": 0.4}, {"sink_bias": 0.3}, {"source": 0.3},
        {"sink_map": 0.7, "sink_kernel": 0.8, "sink_bias": 0.5, "source": 0.6},
    ],
)  # fmt: skip
def test_bits_do_not_depend_on_who_waits(rates: dict[str, float]) -> None:
    rng = Random(str(rates))
    design = small(2, 2, 2)
    cases = [case(design, (7, 3, 6), biased, rng) for biased in (True, False)]
    trace = play(cases, rates, seed=2)
    check(cases, trace)
    for found, each in zip(cycles_of(trace), cases, strict=True):
        wanted = product_cycles(each.run)
        assert (found[1], found[-1]) == (wanted.issue, wanted.useful)


def test_gradients_of_a_layer() -> None:
    """Rows are inputs, and a row of ones; images ascend. Bits of ``ku_kind = "position"``."""
    design, rng = small(2, 1, 3), Random(4)
    images, inputs, outputs = 4, 6, 3
    fmt = design.fmt
    base = case(design, (inputs + 1, images, outputs), False, rng)
    base.a[-1] = fmt.one
    trace = play([base])
    check([base], trace)
    found = product_of(base.run, np.array(pieces(trace, design)[0], np.uint32))
    shape = Shape(n=inputs, m=outputs, k=1, rows=1, columns=1)
    x = np.ascontiguousarray(base.a[:-1].T).reshape(images, 1, 1, inputs)
    delta = base.b.reshape(images, 1, 1, outputs)
    kernels = kernel_gradient(x, delta, shape, fmt)
    assert np.array_equal(found[:-1].T, kernels.reshape(outputs, inputs))
    assert np.array_equal(found[-1], bias_gradient(delta, fmt))


def test_a_word_that_is_wrongly_last_is_told() -> None:
    design = small(1, 1, 2)
    good = case(design, (2, 2, 2), True, Random(5)).job
    for name in SINKS:
        bad = replace(good, words={**good.words, name: [*good.words[name], 0]})
        player = StreamPlayer([bad, good], ("source",))
        trace = BlockBench(block_product, **arguments(design)).run(player, 90)
        check_told_until_start(trace, "framing_error")
        assert trace.column("done")[-1]


def session(design: ProductDesign) -> Callable[[int], StreamPlayer]:
    def begin(number: int) -> StreamPlayer:
        rng = Random(number)
        jobs = [case(design, (5, 3, 5 - number), not number, rng).job for _ in range(2)]
        rates = {"sink_map": 0.9, "sink_kernel": 0.9, "sink_bias": 0.8, "source": 0.7}
        return StreamPlayer(jobs, ("source",), rates=rates, seed=number)

    return begin


def test_a_reset_leaves_nothing_behind() -> None:
    design = small(2, 2, 2)
    BlockBench(block_product, **arguments(design)).as_new_after_reset(
        session(design), (3, 4, 12, 49), 60,
        payload={"source_valid": "source_data source_last"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("turns", 1, "turns must be a whole number from 2 to 64"),
        ("turns", 2, "turns must be a whole number from 3 to 64, not 2"),
        ("size", 17, "size must be a whole number from 1 to 16, not 17"),
    ],
)
def test_what_cannot_be_built_is_refused(key: str, value: int, allowed: str) -> None:
    with pytest.raises(ValueError, match=allowed):
        small(**{"size": 2, "blocks": 3, "turns": 4, key: value})


def test_what_does_not_fit_is_refused() -> None:
    design = small(2, 1, 2)
    for key in ("rows", "inner", "columns"):
        sizes = {"rows": 1, "inner": 1, "columns": 1, key: 21}
        with pytest.raises(ValueError, match=f"{key} must be 1 to 20 on this design, not 21"):
            ProductRun(**sizes, biased=False, design=design)


@pytest.mark.ghdl
def test_block_product_vhdl(replays: Replays) -> None:
    design = small(2, 2, 3, fmt=BFLOAT16)
    cases = [random_case(design, Random(7)) for _ in range(2)]
    trace = play(cases, {"sink_map": 0.9, "sink_kernel": 0.8, "source": 0.8})
    check(cases, trace)
    replays(trace)
