"""Delta propagation whose sums leave raw, and start at what left so: a run after the other."""

from dataclasses import replace

import numpy as np
import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16
from merp.models.base.input_part import part_of
from merp.models.base.shape import Pool, Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.state import keep_state, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.top.run import Run

ENGINE = EngineDesign(
    fmt=BFLOAT16, k=2, n_cu=2, r=1, d=2, kernel_words=8, groups=2, row_words=16, max_size=8,
    max_maps=4, max_images=2, max_stride=2, fifo_words=6, add_latency=1, mul_latency=1,
    partial=True,
)  # fmt: skip
UNPOOL = UnpoolDesign(
    fmt=BFLOAT16, window=2, overlap=1, words=32, max_size=8, max_maps=4, max_images=2,
    average=False, add_latency=1, mul_latency=1,
)  # fmt: skip
SHAPE = Shape(n=3, m=2, k=2, rows=3, columns=3, stride=2, pad=1)
EARLIER = Shape(n=1, m=3, k=1, rows=6, columns=6, pool=Pool(window=2, stride=2))
IMAGES = 2


def numbers(rng: np.random.Generator, *size: int) -> Bits:
    return rng.normal(size=size).astype(np.float32).view(np.uint32) >> np.uint32(16)


def parts() -> tuple[list[Run], list[Bits], DeltaDesign]:
    """Runs of the two halves of a layer's maps, and the words that leave of each."""
    rng = np.random.default_rng(5)
    design = DeltaDesign(ENGINE, UNPOOL, before=False)
    activation = numbers(rng, IMAGES, EARLIER.out_rows, EARLIER.out_columns, EARLIER.m)
    state = keep_state(activation, EARLIER, "pooled", BFLOAT16)
    runs, golden = [], list[Bits]()
    start: Bits | None = None
    for index in range(2):
        deltas = numbers(rng, IMAGES, SHAPE.out_rows, SHAPE.out_columns, SHAPE.m)
        kernels = numbers(rng, SHAPE.m, SHAPE.n, SHAPE.k, SHAPE.k)
        kept = packed(state, EARLIER, BFLOAT16) if index else b""
        runs.append(
            delta_run(
                SHAPE, EARLIER, design, deltas, kernels, kept, part=part_of(index, 2), start=start
            )
        )  # fmt: skip
        start = delta_convolution(
            deltas, kernels, SHAPE, BFLOAT16, ENGINE.summation, start
        )  # fmt: skip
        golden.append(unpool(start, state, EARLIER, BFLOAT16) if index else start)
    return runs, golden, design


def test_either_part_gives_its_words_and_counts_its_cycles() -> None:
    """In turns, so that neither leaves anything behind for the other."""
    runs, golden, design = parts()
    records = run_job(Job(delta_top(design, "behavioural"), [*runs, *runs], limit=3000), "myhdl")
    for record, words, leaves in zip(records, golden * 2, ("partial", "delta") * 2, strict=True):
        outcome = record.outcome
        for stream in ("partial", "delta"):
            sent = record.words(f"m_axis_{stream}").tolist()
            assert sent == (words.reshape(-1).tolist() if stream == leaves else [])
        first, last = outcome.first["s_axis_delta"], outcome.last[f"m_axis_{leaves}"]
        assert outcome.status["status_total"] == last - first + 1
        assert outcome.status["status_framing_error"] == 0


@pytest.mark.parametrize(
    ("part", "stream"),
    [(0, "s_axis_delta"), (1, "s_axis_delta"), (1, "s_axis_state"), (1, "s_axis_partial")],
)
def test_a_misplaced_last_is_told_and_forgotten(part: int, stream: str) -> None:
    runs, golden, design = parts()
    words = runs[part].words[stream]
    spoilt = replace(
        runs[part], words={**runs[part].words, stream: np.append(words, words[:1])}
    )  # fmt: skip
    job = Job(delta_top(design, "behavioural"), [spoilt, *runs], limit=3000)
    records = run_job(job, "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [1, 0, 0]
    assert records[2].words("m_axis_delta").tolist() == golden[1].reshape(-1).tolist()
