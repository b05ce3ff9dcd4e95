"""A datapath with several streams in: which of them the sums start at, and whose last is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16
from merp.models.base.input_part import ADDING, WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.golden.convolution import convolution, from_maps, partial_sums
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.run import Run

LAST = InputPart(first=False)
DESIGN = EngineDesign(
    fmt=BFLOAT16, k=2, n_cu=2, r=1, kernel_words=4, groups=2, row_words=8, max_size=4, max_maps=2,
    max_images=2, fifo_words=4, add_latency=1, mul_latency=1, partial=True, added=True,
)  # fmt: skip
SHAPE = Shape(n=2, m=3, k=2, rows=3, columns=3, relu=False)
SIZE = (2, SHAPE.out_rows, SHAPE.out_columns, SHAPE.m)


def numbers(rng: np.random.Generator, *size: int) -> Bits:
    return rng.normal(size=size).astype(np.float32).view(np.uint32) >> np.uint32(16)


def run_of(part: InputPart, seed: int) -> tuple[Run, list[int]]:
    """A run whose sums start where the part says, and the words that leave."""
    rng = np.random.default_rng(seed)
    x, kernels = numbers(rng, 2, 3, 3, SHAPE.n), numbers(rng, SHAPE.m, SHAPE.n, 2, 2)
    bias, maps = numbers(rng, SHAPE.m), numbers(rng, *SIZE)
    layer = x, kernels
    if part == WHOLE:
        golden = convolution(*layer, bias, 1, 0, BFLOAT16, DESIGN.summation)
        run = forward_run(SHAPE, DESIGN, *layer, bias, part=part)
    elif part.added:
        starts = from_maps(maps, BFLOAT16, DESIGN.summation, bias)
        golden = partial_sums(*layer, starts, 1, 0, BFLOAT16, DESIGN.summation)
        run = forward_run(SHAPE, DESIGN, *layer, bias, part=part, add=maps)
    else:
        golden = partial_sums(*layer, maps, 1, 0, BFLOAT16, DESIGN.summation)
        run = forward_run(SHAPE, DESIGN, *layer, maps, part=part)
    return run, golden.reshape(-1).tolist()


def test_sums_start_at_biases_at_maps_or_at_partial_sums() -> None:
    runs = [run_of(part, seed) for seed, part in enumerate((LAST, WHOLE, ADDING, LAST, ADDING))]
    job = Job(forward_top(DESIGN, "behavioural"), [run for run, _ in runs], limit=2000)
    for record, (_, words) in zip(run_job(job, "myhdl"), runs, strict=True):
        assert record.words("m_axis_map").tolist() == words
        assert record.outcome.status["status_framing_error"] == 0


@pytest.mark.parametrize(
    ("part", "stream"),
    [(WHOLE, "s_axis_map"), (LAST, "s_axis_map"), (LAST, "s_axis_partial"), (ADDING, "s_axis_add")],
    ids=str,
)
def test_a_misplaced_last_of_any_stream_is_told(part: InputPart, stream: str) -> None:
    run, words = run_of(part, 7)
    given = run.words[stream]
    spoilt = replace(run, words={**run.words, stream: np.append(given, given[:1])})
    job = Job(forward_top(DESIGN, "behavioural"), [spoilt, run], limit=2000)
    records = run_job(job, "myhdl")
    assert [record.outcome.status["status_framing_error"] for record in records] == [1, 0]
    assert records[1].words("m_axis_map").tolist() == words
