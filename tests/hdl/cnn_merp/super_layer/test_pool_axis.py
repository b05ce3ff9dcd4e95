"""Which pooling windows cover an index, against the definition."""

from itertools import product

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.super_layer.pool_axis import pool_axis
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OpenWindows, PoolSizes, PoolSteps
from merp.models.base.shape import Pool
from super_layer_runs import spans

OUTPUTS = tuple(f"windows_{name}" for name in ("covers", "opens", "closes", "closes_last"))


def expected(
    index: int, window: int, stride: int, pooled: int, overlap: int
) -> tuple[int, int, int, int]:
    covers = opens = closes = 0
    for number in range(pooled):
        age = index - number * stride
        bit = 1 << number % overlap
        covers |= bit * (0 <= age < window)
        opens |= bit * (age == 0)
        closes |= bit * (age == window - 1)
    return covers, opens, closes, int(index == (pooled - 1) * stride + window - 1)


def hanging(
    index: int, elements: int, pool: Pool, pooled: int, overlap: int
) -> tuple[int, int, int, int]:
    """The same by the elements of each window that lie inside."""
    covers = opens = closes = last = 0
    for number in range(pooled):
        begin = number * pool.stride - pool.top
        inside = [each for each in range(begin, begin + pool.window) if 0 <= each < elements]
        bit = 1 << number % overlap
        covers |= bit * (index in inside)
        opens |= bit * (index == inside[0])
        closes |= bit * (index == inside[-1])
        last = int(index == inside[-1])
    return covers, opens, closes, last


def far(
    index: int, elements: int, pool: Pool, pooled: int, overlap: int
) -> tuple[int, int, int, int]:
    """The same with several windows over an edge: ``index`` may lie behind the last element."""
    covers = opens = closes = 0
    for number, (first, close) in enumerate(spans(elements, pool.top, pool, pooled)):
        bit = 1 << number % overlap
        covers |= bit * (first <= index <= close)
        opens |= bit * (index == first)
        closes |= bit * (index == close)
    return covers, opens, closes, int(index == close)


def bench_for(overlap: int, hangs: bool = False, far: bool = False) -> BlockBench:
    more = {"at_first": count(overlap), "next_begin": count(6)} if far else {}
    return BlockBench(
        pool_axis, "clk", steps=PoolSteps(flag() if hangs else None),
        sizes=PoolSizes(count(4), count(6), count(12), count(4) if hangs else None, **more),
        windows=OpenWindows(overlap), overlap=overlap,
    )  # fmt: skip


def walk(
    cases: list[tuple[int, int, int]], overlap: int, seed: int = 0
) -> tuple[Recorded, list[tuple[int, int, int, int]]]:
    """Walk a line of each (window, stride, elements) twice, with pauses; what is to be seen."""
    rng = np.random.default_rng(seed)
    steps: list[dict[str, int]] = []
    wanted: list[tuple[int, int, int, int]] = []
    for window, stride, elements in cases:
        pooled = (elements - window) // stride + 1
        config = {"sizes_window": window, "sizes_stride": stride, "sizes_pooled": pooled}
        for index in (*range(elements), *range(elements)):
            if rng.random() < 0.3:
                steps.append(config | {"steps_restart": 0, "steps_advance": 0})
                wanted.append(wanted[-1] if wanted else (0, 0, 0, 0))
            # The end of a line advances, too: restart wins.
            steps.append(config | {"steps_restart": int(index == 0), "steps_advance": 1})
            wanted.append(expected(index, window, stride, pooled, overlap))
    return bench_for(overlap).run([*steps, {"steps_restart": 0, "steps_advance": 0}]), wanted


def all_cases(overlap: int) -> list[tuple[int, int, int]]:
    return [
        (window, stride, elements)
        for window, stride in product(range(1, 5), range(1, 7))
        if -(-window // stride) <= overlap
        for elements in (window, window + 1, window + 2 * stride, window + 3 * stride - 1)
        if (elements - window) // stride + 1 <= 12
    ]


@pytest.mark.parametrize("overlap", [1, 2, 3, 4])
def test_matches_the_definition(overlap: int) -> None:
    trace, wanted = walk(all_cases(overlap), overlap)
    assert trace.columns(*OUTPUTS)[1:] == wanted


@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_windows_that_hang_over_the_edges(overlap: int) -> None:
    """Every padding ahead and behind, on lines down to a single index."""
    steps: list[dict[str, int]] = []
    wanted: list[tuple[int, int, int, int]] = []
    last = [0]  # with the index, a cycle after the step to it
    for window, stride in product(range(1, 5), range(1, 6)):
        most = min(window, stride)
        if -(-window // stride) > overlap:
            continue
        for before, behind, elements in product(range(most), range(most), (1, 2, 3, 5, 8)):
            pool = Pool(window=window, stride=stride, pad=(before, 0, behind, 0))
            pooled = pool.rows(elements)
            config = {"sizes_window": window, "sizes_stride": stride}
            config |= {"sizes_pooled": pooled, "sizes_pad": before}
            for index in (*range(elements), *range(elements)) if pooled else ():
                steps.append(config | {"steps_restart": int(index == 0), "steps_advance": 1})
                wanted.append(hanging(index, elements, pool, pooled, overlap))
                last.append(int(index == elements - 1))
    steps.append({"steps_restart": 0, "steps_advance": 0})
    rows = [step | {"steps_last": each} for step, each in zip(steps, last, strict=True)]
    trace = bench_for(overlap, hangs=True).run(rows)
    assert trace.columns(*OUTPUTS)[1:] == wanted


def walk_far(overlap: int, step: int) -> tuple[Recorded, list[tuple[int, int, int, int]]]:
    """Walk lines of every ``step``-th geometry with pauses, and the indices behind each line."""
    rng = np.random.default_rng(overlap)
    steps: list[dict[str, int]] = []
    wanted: list[tuple[int, int, int, int]] = []
    edges = [0]  # with the index, a cycle after the step to it
    cases = product(
        range(1, 5), range(1, 6), range(4), range(4), (1, 2, 3, 4, 7), (1, 2)
    )  # window, stride, padding, elements, walks
    fitting = [
        case
        for case in cases
        if -(-case[0] // case[1]) <= overlap and max(case[2], case[3]) < case[0]
    ]
    for window, stride, before, behind, elements, walks in fitting[::step]:
        pool = Pool(window=window, stride=stride, pad=(before, 0, behind, 0))
        if not (pooled := pool.rows(elements)):
            continue
        config = {"sizes_window": window, "sizes_stride": stride, "sizes_pooled": pooled}
        config |= {"sizes_pad": before, "sizes_at_first": pool.at_first(elements, window)[0]}
        config["sizes_next_begin"] = stride - before % stride
        for index in (*range(elements + pool.late(elements, window)[0]),) * walks:
            edge = int(index >= elements - 1)
            if rng.random() < 0.2:
                steps.append(config | {"steps_restart": 0, "steps_advance": 0})
                wanted.append(wanted[-1] if wanted else (0, 0, 0, 0))
                edges.append(edges[-1])
            steps.append(config | {"steps_restart": int(index == 0), "steps_advance": 1})
            wanted.append(far(index, elements, pool, pooled, overlap))
            edges.append(edge)
    steps.append({"steps_restart": 0, "steps_advance": 0})
    rows = [step | {"steps_last": each} for step, each in zip(steps, edges, strict=True)]
    return bench_for(overlap, hangs=True, far=True).run(rows), wanted


@pytest.mark.parametrize("overlap", [1, 2, 3, 4])
def test_several_windows_that_hang_over_the_edges(overlap: int) -> None:
    trace, wanted = walk_far(overlap, 1)
    assert trace.columns(*OUTPUTS)[1:] == wanted


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays_with_several_windows_over_the_edges(replays: Replays) -> None:
    trace, _ = walk_far(3, 7)
    replays(trace, lint=True)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("overlap", [1, 3])
def test_vhdl_replays(overlap: int, replays: Replays) -> None:
    trace, _ = walk(all_cases(overlap)[::5], overlap)
    replays(trace, lint=True)
