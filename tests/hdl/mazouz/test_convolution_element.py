"""The convolution element: bits of the golden convolution, cycles to the formula, on the pins."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from checkout import ROOT
from merp.hdl.mazouz.convolution_element import convolution_element
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Padding, Shape, sides
from merp.models.golden.convolution import convolution
from merp.models.papers.mazouz.params.element import ElementDesign, ElementRun
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.mazouz.element_bench import (
    ElementJob,
    Player,
    arguments,
    play,
    transfers,
)


def small(k: int, side: int = 8, fmt: FloatFormat = BFLOAT16) -> ElementDesign:
    """With adders of one cycle, so that small maps take few."""
    return ElementDesign(
        fmt=fmt, k=k, max_rows=side, max_columns=side, mul_latency=1, add_latency=1
    )


def job(design: ElementDesign, rows: int, columns: int, pad: Padding, rng: Random) -> ElementJob:
    shape = Shape(n=1, m=1, k=design.k, rows=rows, columns=columns, pad=pad)
    return ElementJob(
        ElementRun(shape, design),
        elements(rows * columns, design.fmt, rng),
        elements(design.taps, design.fmt, rng),
    )


def wanted(job: ElementJob) -> list[int]:
    """The golden convolution's words; a bias of -0 changes none of them."""
    shape, design = job.run.shape, job.run.design
    maps = np.array(job.map, np.uint32).reshape(1, shape.rows, shape.columns, 1)
    kernels = np.array(job.kernel, np.uint32).reshape(1, 1, shape.k, shape.k)
    nothing = np.array([design.fmt.sign_bit], np.uint32)
    return convolution(maps, kernels, nothing, 1, shape.pad, design.fmt).ravel().tolist()


def check(jobs: list[ElementJob], trace: Recorded) -> None:
    words = transfers(trace, "source")
    golden = [wanted(job) for job in jobs]
    assert [data for _, data, _ in words] == [word for each in golden for word in each]
    ends = [int(i == len(each) - 1) for each in golden for i in range(len(each))]
    assert [last for *_, last in words] == ends
    assert not any(trace.column("framing_error"))
    done, starts = trace.column("done"), trace.column("start")
    begins = [t for t, start in enumerate(starts) if start]
    lasts = [t for t, _, last in words if last]
    for begin, end, after in zip(begins, lasts, [*begins[1:], len(done)], strict=True):
        # Once the last output has left, not while it is offered, and until the next start.
        assert not any(done[begin + 1 : end + 1])
        assert all(done[end + 1 : after + 1])


def cycles(jobs: list[ElementJob], trace: Recorded) -> list[int]:
    """Of each job, from its map's first word to its output's last, counted on the pins."""
    taken, given = transfers(trace, "sink"), transfers(trace, "source")
    firsts = [taken[sum(len(each.map) for each in jobs[:i])][0] for i in range(len(jobs))]
    lasts = [t for t, _, last in given if last]
    return [last - first + 1 for first, last in zip(firsts, lasts, strict=True)]


def fits(rows: int, columns: int, pad: Padding, k: int) -> bool:
    top, left, bottom, right = sides(pad)
    return rows + top + bottom >= k <= columns + left + right


@pytest.mark.parametrize(
    ("k", "sizes", "paddings"),
    [
        (2, range(1, 4), range(2)),
        (2, range(2, 3), list(product(range(2), repeat=4))),  # each side by itself
        pytest.param(3, range(1, 5), range(3), marks=pytest.mark.full),
    ],
)
def test_every_small_map_and_padding(k: int, sizes: range, paddings: Sequence[Padding]) -> None:
    design, rng = small(k), Random(k)
    jobs = [
        job(design, rows, columns, pad, rng)
        for rows, columns, pad in product(sizes, sizes, paddings)
        if fits(rows, columns, pad, k)
    ]
    trace = play(jobs)
    check(jobs, trace)
    assert cycles(jobs, trace) == [each.run.cycles for each in jobs]


def test_cycles_of_the_papers_maps() -> None:
    """As multipliers and adders usually are, of 3 and 4 cycles, in bfloat16."""
    sides = (28, 14, 7)
    design = ElementDesign(k=3, max_rows=28, max_columns=28)
    jobs = [job(design, side, side, 1, Random(side)) for side in sides]
    trace = play(jobs)
    check(jobs, trace)
    found = cycles(jobs, trace)
    assert found == [side * side + side + 1 + 1 + (3 + 4 * 4) + 2 for side in sides]
    page = (ROOT / "docs" / "papers" / "mazouz.md").read_text()
    assert f"| convolution element, measured | {' | '.join(map(str, found))} |" in page


@pytest.mark.parametrize(
    ("k", "pad"), [(4, 2), *(pytest.param(5, pad, marks=pytest.mark.full) for pad in range(5))]
)
def test_cycles_of_other_kernels(k: int, pad: int) -> None:
    design = small(k, 12)
    jobs = [job(design, 5, 6, pad, Random(k))]
    trace = play(jobs)
    check(jobs, trace)
    line = max(6, 6 + 2 * pad - k + 1)
    assert cycles(jobs, trace) == [(5 + pad - 1) * line + 6 + pad + design.latency]


@pytest.mark.parametrize(
    ("fmt", "rates"),
    [(BFLOAT16, (0.5, 0.4, 1.0)), (BINARY16, (1.0, 1.0, 0.3)), (BINARY32, (0.7, 0.7, 0.6))],
)
def test_bits_do_not_depend_on_who_waits(
    fmt: FloatFormat, rates: tuple[float, float, float]
) -> None:
    design, rng = small(3, fmt=fmt), Random(f"{fmt} {rates}")
    sizes = [(rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 2)) for _ in range(4)]
    jobs = [job(design, *size, rng) for size in sizes]
    check(jobs, play(jobs, rates, seed=1))


def test_an_output_that_waits_holds_as_many_sums_as_there_are_places() -> None:
    """The walk stops at once, and no sum is lost; a place more is the head's register."""
    design = small(3)
    jobs = [job(design, 7, 7, 1, Random(1))]
    trace = BlockBench(convolution_element, **arguments(design)).run(
        Player(jobs, (1.0, 1.0, 0.0), 0), 90
    )
    held = design.fifo_words + 1
    assert len(transfers(trace, "sink")) == jobs[0].run.lead + held < 7 * 7
    assert trace.column("source_valid")[-1]
    assert not transfers(trace, "source")


def test_positions_without_an_output_need_no_place() -> None:
    """The last place goes to the last output of a row; the next row begins nevertheless."""
    design = small(3, 24)
    columns = design.fifo_words + 1 + design.k - 1
    trace = BlockBench(convolution_element, **arguments(design)).run(
        Player([job(design, 5, columns, 0, Random(2))], (1.0, 1.0, 0.0), 0), 5 * columns + 60
    )
    assert len(transfers(trace, "sink")) == design.k * columns + design.k - 1


def test_a_tap_in_the_padding_is_zero_and_counts() -> None:
    """+0 times a kernel element: a zero with its sign, and NaN under an infinite one."""
    design, fmt = small(3), BFLOAT16
    one, negative = fmt.one, fmt.one | fmt.sign_bit
    shape = Shape(n=1, m=1, k=3, rows=2, columns=2, pad=1)
    minus_zero = [fmt.sign_bit] * 4

    def outputs(kernel: list[int], words: list[int]) -> list[int]:
        each = ElementJob(ElementRun(shape, design), words, kernel)
        trace = play([each])
        check([each], trace)
        return [data for _, data, _ in transfers(trace, "source")]

    # Only the padding decides whether the sum of zeros is +0: -0 times 1 and +0 times -1 are -0.
    mixed = [negative] * 3 + [negative, one, one] + [negative, one, one]
    assert outputs(mixed, minus_zero)[0] == fmt.sign_bit
    assert outputs([one] * 9, minus_zero) == [0] * 4
    infinite = [fmt.inf, *[one] * 8]
    assert outputs(infinite, [one] * 4) == [fmt.nan, fmt.nan, fmt.nan, fmt.inf]


def test_a_word_that_is_wrongly_last_is_told() -> None:
    design = small(2)
    shape = Shape(n=1, m=1, k=2, rows=2, columns=2, pad=1)
    good = ElementJob(ElementRun(shape, design), [0] * 4, [0] * 4)
    for bad in (replace(good, map=[0] * 5), replace(good, kernel=[0] * 5)):
        trace = play([bad, good])
        second = [t for t, start in enumerate(trace.column("start")) if start][1]
        assert trace.column("framing_error")[second]
        assert not trace.column("framing_error")[second + 1]
        assert trace.column("done")[-1]


def session(design: ElementDesign) -> Callable[[int], Player]:
    def begin(number: int) -> Player:
        rng = Random(number)
        jobs = [job(design, 3 + number, 4, 1 - number, rng), job(design, 3, 3, 1, rng)]
        return Player(jobs[: 1 + number], (0.9, 0.8, 0.6), number)

    return begin


def test_a_reset_leaves_nothing_behind() -> None:
    design = small(2)
    BlockBench(convolution_element, **arguments(design)).as_new_after_reset(
        session(design),
        range(5, 90, 20),
        50,
        payload={"source_valid": "source_data source_last"},
    )


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        ({"k": 2}, "k must be 3"), ({"stride": 2}, "stride must be 1"), ({"n": 2}, "n must be 1"),
        ({"m": 3}, "m must be 1"), ({"rows": 9}, "rows of the map and of its output must not"),
        ({"columns": 7, "pad": 2}, "columns of the map and of its output must not exceed 8, not 9"),
    ],
)  # fmt: skip
def test_what_does_not_run_on_an_element_is_refused(shape: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ElementRun(Shape(**{"n": 1, "m": 1, "k": 3, "rows": 4, "columns": 4} | shape), small(3))


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [("k", 1, "2 to 11"), ("mul_latency", 4, "1 to 3"), ("max_rows", 2.0, "1 to 4096")],
)
def test_what_cannot_be_built_is_refused(key: str, value: int, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"{key} must be a whole number from {allowed}, not"):
        ElementDesign(**({"k": 3, "max_rows": 4, "max_columns": 4} | {key: value}))


@pytest.mark.ghdl
def test_convolution_element_vhdl(replays: Replays) -> None:
    design, rng = small(3), Random(3)
    jobs = [job(design, 3, 4, 1, rng), job(design, 2, 2, 2, rng)]
    trace = play(jobs, (0.9, 0.8, 0.7))
    check(jobs, trace)
    replays(trace)
