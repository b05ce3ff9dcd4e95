"""Runs whose sums leave raw between others whose results do: three streams, one at a time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from merp.models.arithmetic.relu import relu
from merp.models.base.formats import BFLOAT16
from merp.models.base.shape import Pool, Shape
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.super_layer_bench import SuperLayerRun, run_super_layer

POOLS = (Pool(window=2, stride=1), Pool(kind="average", window=2, stride=2), None)


def design_for(state: bool) -> EngineDesign:
    return EngineDesign(
        fmt=BFLOAT16, k=1, n_cu=3, r=2, kernel_words=1, groups=2, row_words=8, max_size=8,
        max_maps=1, max_images=2, fifo_words=4, pool_window=2, pool_overlap=2, pool_words=16,
        average=True, add_latency=1, mul_latency=1, state=state, partial=True,
    )  # fmt: skip


def runs_for(design: EngineDesign, slow: str) -> list[SuperLayerRun]:
    """Every kind raw and not, with a reader of one stream that stands still for a long time.

    Where the state is written, raw sums come without ReLU and pooling: there is no state of them.
    """
    rng = np.random.default_rng(1)
    runs = []
    for index, pool in enumerate(POOLS):
        shape = Shape(n=1, m=4 + index % 2, k=1, rows=3, columns=4, relu=index < 2, pool=pool)
        for raw in (True, False):
            size = (2, 3, 4, shape.m)
            sums = rng.normal(size=size).astype(np.float32).view(np.uint32) >> 16
            still = {slow: (*[0] * 60, *[1] * 20)} if slow else {}
            plain = replace(shape, relu=False, pool=None) if raw and design.state else shape
            runs.append(SuperLayerRun(plain, sums, raw=raw, **still))
    return runs


def golden(run: SuperLayerRun, design: EngineDesign) -> dict[str, list[int]]:
    """Words of each stream."""
    shape = run.shape
    if run.raw:
        return {"partial": run.sums.reshape(-1).tolist()}
    y = relu(run.sums, design.fmt) if shape.relu else run.sums
    words = {"maps": pool_maps(y, shape.pool, design.fmt).reshape(-1).tolist()}
    if design.state:
        state = packed(keep_state(y, shape, "pooled", design.fmt), shape, design.fmt)
        words["state"] = list(state)
    return words


def check(design: EngineDesign, runs: list[SuperLayerRun], trace: Trace) -> None:
    starts = [cycle for cycle, start in enumerate(trace.column("start")) if start]
    done = trace.column("done")
    assert len(starts) == len(runs)
    for (begin, end), run in zip(pairwise([*starts, len(done)]), runs, strict=True):
        wanted = golden(run, design)
        rises = begin + 1 + done[begin + 1 : end].index(1)
        for stream in ("maps", "partial", *["state"] * design.state):
            pins = (
                trace.column(f"out_{stream}_{pin}") for pin in ("valid", "ready", "data", "last")
            )
            rows = list(zip(*pins, strict=True))[begin:rises]
            sent = [(data, last) for valid, ready, data, last in rows if valid and ready]
            words = wanted.get(stream, [])
            assert sent == [(word, int(at == len(words) - 1)) for at, word in enumerate(words)]


@pytest.mark.parametrize(
    ("state", "slow"),
    [(True, ""), (True, "accept_state"), (True, "accept_partial"), (False, "")],
)
def test_raw_sums_leave_by_their_own_stream(state: bool, slow: str) -> None:
    design = design_for(state)
    runs = runs_for(design, slow)
    check(design, runs, run_super_layer(design, runs, 2500))
