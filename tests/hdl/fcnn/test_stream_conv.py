"""Convolution of streams: bits of the golden sums after each map, cycles to the formula."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from framing_checks import check_told_until_start

from block_bench import BlockBench, Replays
from merp.hdl.fcnn.stream_conv import stream_conv
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_convolution, swapped
from merp.models.machines.fcnn.conv_cycles import cycles
from merp.models.machines.fcnn.conv_words import port_words
from merp.models.machines.fcnn.params.conv_registers import ConvDesign, StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.stream_order import sum_words
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.fcnn.conv_bench import (
    FULL,
    STREAMS,
    ConvJob,
    arguments,
    play,
    player,
    random_run,
)
from merp.testbenches.fcnn.stream_player import StreamPlayer

PAUSES = 6  # cycles from the last word of a run to the next start, at most


def small(
    k: int, lanes: int = 1, maps: int = 1, fmt: FloatFormat = BFLOAT16, stride: int = 1
) -> StreamDesign:
    """With adders of one cycle, so that small maps take few."""
    return StreamDesign(
        fmt=fmt, k=k, lanes=lanes, maps_at_once=maps, max_rows=12, max_columns=12, max_maps=5,
        max_step=2, max_stride=stride, mul_latency=1, add_latency=1,
    )  # fmt: skip


def full(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.full)


def drawn(run: StreamRun, seed: object) -> ConvJob:
    rng = Random(str(seed))
    return ConvJob.drawn(run, lambda count: elements(count, run.design.fmt, rng))


def random_jobs(
    design: StreamDesign, number: int, seed: object, most: int = 5, maps: int = 3
) -> list[ConvJob]:
    rng = Random(str(seed))
    return [drawn(random_run(design, rng, most, maps), rng.random()) for _ in range(number)]


def transfers(trace: Trace, name: str) -> list[tuple[int, int, int]]:
    """Cycle, data and last of each transfer on the stream of a port."""
    stream = STREAMS[name]
    each = zip(
        *(trace.column(f"{stream}_{field}") for field in ("valid", "ready", "data", "last")),
        strict=True,
    )
    return [(t, data, last) for t, (on, off, data, last) in enumerate(each) if on and off]


def unpacked(words: Sequence[int], design: StreamDesign) -> Bits:
    width, number = design.fmt.width, design.maps_at_once * design.lanes
    mask = (1 << width) - 1
    return np.array([[word >> i * width & mask for i in range(number)] for word in words])


def check(jobs: Sequence[ConvJob], trace: Trace) -> list[ConvJob]:
    """Every word of the jobs of a trace, and the order of partial sums; return the jobs."""
    starts = [t for t, on in enumerate(trace.column("start")) if on]
    assert len(starts) == len(jobs), "the trace is too short"
    moved = {name: transfers(trace, name) for name in STREAMS}
    assert not any(trace.column("framing_error"))
    for job, begin, end in zip(jobs, starts, [*starts[1:], len(trace.rows)], strict=True):
        words = {n: [w for w in found if begin <= w[0] < end] for n, found in moved.items()}
        assert {name: len(each) for name, each in words.items()} == port_words(job.run)
        sums = words["sum_out"]
        assert [last for *_, last in sums] == [0] * (len(sums) - 1) + [1]
        found = unpacked([data for _, data, _ in sums], job.run.design)
        assert np.array_equal(found, sum_words(job.sums, job.run.grid)), job.run
        returned(job, [t for t, *_ in sums], [t for t, *_ in words["partial_in"]])
    return list(jobs)


def returned(job: ConvJob, left: Sequence[int], taken: Sequence[int]) -> None:
    """Every partial sum is taken after the sum that it repeats has left."""
    grid = job.run.grid
    inner = grid.out_beats * (grid.shape.n - 1)
    at = 0
    for block in range(grid.blocks):
        at += grid.out_beats * job.run.begun
        first = block * grid.shape.n * grid.out_beats
        for i in range(inner):
            assert left[first + i] < taken[at + i]
        at += inner


def measured(jobs: Sequence[ConvJob], trace: Trace) -> list[int]:
    """Cycles of each job from the one after start to its last word, of any port."""
    starts = [t for t, on in enumerate(trace.column("start")) if on]
    ends = [t for name in STREAMS for t, *_ in transfers(trace, name)]
    return [
        max(t for t in ends if begin <= t < end) - begin
        for begin, end in zip(starts, [*starts[1:], len(trace.rows)], strict=True)
    ]


def full_rate(jobs: Sequence[ConvJob]) -> None:
    trace = play(jobs, cycles=sum(cycles(job.run) + PAUSES for job in jobs))
    check(jobs, trace)
    assert measured(jobs, trace) == [cycles(job.run) for job in jobs]


@pytest.mark.parametrize(
    ("k", "lanes", "maps", "fmt", "number"),
    [
        (1, 1, 1, BFLOAT16, 8), (1, 2, 3, BFLOAT16, 4), (2, 1, 2, BFLOAT16, 6),
        (3, 2, 1, BFLOAT16, 2), full(3, 4, 3, BFLOAT16, 12), full(2, 4, 2, BINARY32, 12),
        full(3, 1, 3, BINARY32, 12), full(4, 2, 2, BFLOAT16, 8), full(5, 1, 2, BFLOAT16, 8),
        full(5, 2, 1, BINARY32, 6),
    ],
)  # fmt: skip
def test_bits_and_cycles_of_random_runs(
    k: int, lanes: int, maps: int, fmt: FloatFormat, number: int
) -> None:
    """Forward and delta propagation, strides, padding on each side, sums of an earlier run."""
    design = small(k, lanes, maps, fmt, stride=3)
    full_rate(random_jobs(design, number, f"{k} {lanes} {maps} {fmt}"))


def test_pipelines_of_usual_length_make_short_passes_wait() -> None:
    """The first partial sum of a pass waits for its sum of the pass before."""
    design = replace(small(2, 1, 2), mul_latency=3, add_latency=4)
    shape = Shape(n=3, m=3, k=2, rows=3, columns=3, pad=1)
    job = drawn(StreamRun.forward(shape, 1, design), 1)
    grid, latency = job.run.grid, ConvDesign(design).latency
    assert grid.pass_beats < latency
    full_rate([job])
    # Two waits of each block; the next block follows without one.
    beats = 2 * (2 * (latency + 1)) + grid.pass_beats + grid.last_centre
    assert cycles(job.run) == max(1 + grid.lead, 2 * 4 + 1) + beats + latency


def test_cycles_of_a_layer_with_padding_are_the_closed_formula() -> None:
    """A pass is Rg Cg B/G beats; the lead comes once."""
    design = replace(small(3, 1, 1), mul_latency=3, add_latency=4)
    shape = Shape(n=2, m=2, k=3, rows=6, columns=5, pad=1)
    job = drawn(StreamRun.forward(shape, 2, design), 2)
    full_rate([job])
    step, latency = 2, 1 + (3 + 4 * 4) + 4 + 2
    assert cycles(job.run) == 2 * 2 * 6 * 5 * step + (1 * 5 + 1) * step + latency


ALL = dict.fromkeys(FULL, 0.7)


@pytest.mark.parametrize(
    "rates",
    [
        ALL, FULL | {"sum_out": 0.3}, FULL | {"partial_in": 0.4},
        full(FULL | {"map_in": 0.4}), full(FULL | {"kernel": 0.3}), full(FULL | {"bias": 0.1}),
        full(ALL | {"sum_out": 0.2}),
    ],
    ids=str,
)  # fmt: skip
def test_bits_do_not_depend_on_who_waits(rates: Mapping[str, float]) -> None:
    design = small(2, 1, 2, stride=2)
    jobs = random_jobs(design, 3, rates)
    length = sum(cycles(job.run) + sum(port_words(job.run).values()) + 20 for job in jobs)
    check(jobs, play(jobs, rates, seed=1, cycles=int(1.3 * length / min(rates.values()))))


@pytest.mark.parametrize(
    ("k", "stride", "pad", "rows"), [full(3, 1, 1, 4), full(3, 2, 1, 5), (2, 2, (0, 1, 1, 0), 5)]
)
def test_bits_equal_the_golden_convolution_and_delta(
    k: int, stride: int, pad: int, rows: int
) -> None:
    """The last sums of a run are those of CNN-MERP's golden models."""
    design = small(k, 1, 2, stride=3)
    layer = Shape(n=2, m=3, k=k, rows=rows, columns=4, stride=stride, pad=pad)
    forward = drawn(StreamRun.forward(layer, 2, design), k)
    back = drawn(StreamRun.deltas(layer, 2, design), k)
    full_rate([forward, back])
    y = convolution(forward.x, forward.kernels, forward.start, stride, pad, design.fmt)
    assert np.array_equal(forward.sums[-1], y)
    kernels = swapped(back.kernels)  # as the host has them; swapping twice changes nothing
    delta = delta_convolution(back.x, kernels, layer, design.fmt)
    assert np.array_equal(back.sums[-1], delta)


def test_a_map_at_a_time_gives_the_same_sums() -> None:
    design = small(2, 1, 2)
    shape = Shape(n=3, m=3, k=2, rows=3, columns=4, pad=1)
    whole = drawn(StreamRun.forward(shape, 2, design), 5)
    one = replace(shape, n=1)
    jobs = []
    for given in range(shape.n):
        run = StreamRun.forward(one, 2, design, begun=given > 0)
        start = whole.sums[given - 1] if given else whole.start
        jobs.append(ConvJob(run, whole.x[..., [given]], whole.kernels[:, [given]], start))
    full_rate(jobs)
    assert np.array_equal(np.concatenate([job.sums for job in jobs]), whole.sums)


def test_a_tap_in_the_padding_is_zero_and_counts() -> None:
    """+0 times a kernel element: a zero with its sign, and NaN under an infinite one."""
    design, fmt = small(3), BFLOAT16
    run = StreamRun.forward(Shape(n=1, m=1, k=3, rows=2, columns=2, pad=1), 1, design)
    minus_zero = np.full((1, 2, 2, 1), fmt.sign_bit, np.uint32)
    ones = np.full((1, 1, 3, 3), fmt.one, np.uint32)
    no_bias = np.array([fmt.sign_bit], np.uint32)
    infinite = ones.copy()
    infinite[0, 0, 0, 0] = fmt.inf
    negative = ones | np.uint32(fmt.sign_bit)
    negative[0, 0, 1:, 1:] = fmt.one
    jobs = [
        ConvJob(run, minus_zero, negative, no_bias),
        ConvJob(run, np.full_like(minus_zero, fmt.one), infinite, no_bias),
    ]
    full_rate(jobs)
    assert jobs[0].sums.ravel()[0] == fmt.sign_bit
    assert jobs[1].sums.ravel().tolist()[:3] == [fmt.nan] * 3
    assert jobs[1].sums.ravel()[3] == fmt.inf


def test_an_output_that_waits_holds_as_many_sums_as_there_are_places() -> None:
    """The walk stops at once, and no sum is lost; a place more is the head's register."""
    design = small(2)
    job = drawn(StreamRun.forward(Shape(n=1, m=1, k=2, rows=6, columns=6), 2, design), 1)
    trace = play([job], FULL | {"sum_out": 0.0}, cycles=90)
    held = ConvDesign(design).fifo_words + 1
    assert sum(trace.column("activity_useful")) == held
    assert trace.column("source_valid")[-1]
    assert trace.column("activity_stall_output")[-1]


def test_windows_that_do_not_count_need_no_place() -> None:
    """The last place goes to the last window of a row; the walk goes on to the next row."""
    design = small(2)
    columns = ConvDesign(design).fifo_words + 1 + 1
    run = StreamRun.forward(Shape(n=1, m=1, k=2, rows=4, columns=columns), 1, design)
    trace = play([drawn(run, 1)], FULL | {"sum_out": 0.0}, cycles=70)
    assert sum(trace.column("activity_issue")) == run.grid.lead + columns


@pytest.mark.parametrize("name", ["map_in", "kernel", "bias", "partial_in"])
@pytest.mark.parametrize("end", [False, True])
def test_a_word_that_is_wrongly_last_is_told(name: str, end: bool) -> None:
    design = small(2, 1, 2)
    run = StreamRun.forward(Shape(n=2, m=2, k=2, rows=2, columns=2, pad=1), 2, design)
    jobs = [drawn(run, 1), drawn(run, 2)]
    wrong = {name: port_words(run)[name] - 1 if end else 0}
    trace = play(jobs, cycles=2 * (cycles(run) + PAUSES), wrong=wrong)
    second = check_told_until_start(trace, "framing_error")
    assert not any(trace.column("framing_error")[second:])


def test_a_reset_leaves_nothing_behind() -> None:
    design = small(2, 1, 2, stride=2)

    def session(number: int) -> StreamPlayer:
        return player(random_jobs(design, 2, f"reset {number}", most=3, maps=2), ALL, number)

    BlockBench(stream_conv, **arguments(design)).as_new_after_reset(
        session, range(5, 100, 31), 130, payload={"source_valid": "source_data source_last"}
    )


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [("lanes", 0, "1 to 32"), ("k", 12, "1 to 11"), ("max_step", 4097, "1 to 4096")],
)
def test_what_cannot_be_built_is_refused(key: str, value: int, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"{key} must be a whole number from {allowed}, not"):
        replace(small(3), **{key: value})


@pytest.mark.ghdl
@pytest.mark.parametrize(
    "design", [small(2, 1, 2, stride=2), replace(small(1), max_step=1), full(small(3, 2, 1))]
)
def test_stream_conv_vhdl(replays: Replays, design: StreamDesign) -> None:
    """With several maps; without a line, and columns of one beat; with several lanes."""
    jobs = random_jobs(design, 2, "vhdl", most=3, maps=2)
    length = sum(cycles(job.run) + sum(port_words(job.run).values()) + 20 for job in jobs)
    trace = play(jobs, ALL, cycles=2 * length)
    check(jobs, trace)
    replays(trace, lint=True)
