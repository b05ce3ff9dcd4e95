"""The kernel update with un-pooling in front: deltas come at pooled resolution, with state."""

from dataclasses import replace

import numpy as np
import pytest
from layer_kinds import MANY, POOL_KINDS, pooled

from marks import rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_run, kernel_update_top
from merp.models.arithmetic.words import to_bits
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient
from merp.models.golden.state import keep_state, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.testbenches.cnn_merp.random_layers import random_hang
from merp.testbenches.top.run import Run

SHAPE = Shape(n=2, m=3, k=2, rows=6, columns=5, pool=Pool(window=2, stride=2))
HANGING = replace(SHAPE, columns=6, pool=Pool(window=3, stride=2, pad=(1, 0, 0, 1)))
DESIGN = size_design([SHAPE], n_cu=2, r=1, mul_latency=1, add_latency=2)
FMT = DESIGN.fmt
IMAGES = 2


def run_of(
    rng: np.random.Generator,
    shape: Shape = SHAPE,
    design: EngineDesign = DESIGN,
    undone: UnpoolDesign | None = None,
) -> tuple[Run, list[list[int]]]:
    """A run that returns gradients, and the golden ones of kernels and biases.

    undone: un-pooling of the top; None for that of the shape alone.
    """

    def words(*size: int) -> np.ndarray:
        return to_bits(rng.uniform(-1, 1, size), FMT)

    x = words(IMAGES, shape.rows, shape.columns, shape.n)
    delta = words(IMAGES, shape.pooled_rows, shape.pooled_columns, shape.m)
    activation = words(IMAGES, shape.out_rows, shape.out_columns, shape.m)
    state = keep_state(activation, shape, "pooled", FMT)
    run = kernel_update_run(
        shape,
        design,
        x,
        delta,
        None,
        undone=undone or size_unpool([shape], fmt=FMT),
        state=packed(state, shape, FMT),
    )
    expanded = unpool(delta, state, shape, FMT)
    gradients = (
        kernel_gradient(x, expanded, shape, FMT, design.summation),
        bias_gradient(expanded, FMT),
    )
    return run, [each.reshape(-1).tolist() for each in gradients]


def gradients_of(record: RunRecord) -> list[list[int]]:
    return [record.words(f"m_axis_{name}").tolist() for name in ("kernel", "bias")]


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", [SHAPE, replace(SHAPE, pool=None)])
@pytest.mark.parametrize("port", [1, 4])
@pytest.mark.parametrize("spoilt", [None, "s_axis_delta", "s_axis_state"])
def test_a_misplaced_last_is_told_and_forgotten(
    spoilt: str | None, port: int, shape: Shape
) -> None:
    """A beat too many at the source of a stream; the run behind it is right, and without error."""
    rng = np.random.default_rng(11)
    design = replace(DESIGN, map_port=port)
    (first, golden), (second, after) = (run_of(rng, shape, design) for _ in range(2))
    if spoilt is not None:
        more = np.zeros(port if spoilt == "s_axis_delta" else 1, np.uint32)
        first = replace(first, words={**first.words, spoilt: np.append(first.words[spoilt], more)})
    top = kernel_update_top(design, "behavioural", undone=size_unpool([SHAPE], fmt=FMT))
    records = run_job(Job(top, [first, second], limit=2000), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [int(spoilt is not None), 0]
    for record in records:
        assert record.outcome.status["status_delta_in"] == len(second.words["s_axis_delta"])
    assert gradients_of(records[0]) == golden
    assert gradients_of(records[1]) == after


def test_windows_that_hang_over_the_edges() -> None:
    rng = np.random.default_rng(12)
    runs = [run_of(rng, HANGING) for _ in range(2)]
    stalls = {"s_axis_delta": (1, 0, 0), "s_axis_state": (1, 0, 0, 0), "m_axis_kernel": (1, 0)}
    stalled = replace(runs[1][0], stalls=stalls)
    top = kernel_update_top(DESIGN, "behavioural", undone=size_unpool([HANGING], fmt=FMT))
    records = run_job(Job(top, [runs[0][0], stalled], limit=2000), "myhdl")
    assert [gradients_of(record) for record in records] == [golden for _, golden in runs]


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(
    ("window", "stride", "pad"), [(3, 2, (0, 2, 2, 1)), *rows_in_full((3, 1, 1), (3, 1, 2))]
)
def test_several_windows_that_hang_over_the_edges(
    kind: str, window: int, stride: int, pad: Padding
) -> None:
    rng = np.random.default_rng(window)
    shape = replace(SHAPE, columns=6, pool=Pool(kind=kind, window=window, stride=stride, pad=pad))
    undone = size_unpool([shape], fmt=FMT)
    assert undone.far
    runs = [run_of(rng, shape, undone=undone) for _ in range(2)]
    stalls = {"s_axis_delta": (1, 0, 0), "s_axis_state": (1, 0, 0, 0), "m_axis_kernel": (1, 0)}
    top = kernel_update_top(DESIGN, "behavioural", undone=undone)
    records = run_job(
        Job(top, [runs[0][0], replace(runs[1][0], stalls=stalls)], limit=2000), "myhdl"
    )
    assert [gradients_of(record) for record in records] == [golden for _, golden in runs]


def random_shape(rng: np.random.Generator, hanging: bool) -> Shape:
    while True:
        pool = Pool(
            kind=rng.choice(["max", "average"]),
            window=int(rng.integers(1, 5)),
            stride=int(rng.integers(1, 5)),
        )
        k = int(rng.integers(1, 4))
        try:
            return Shape(
                n=int(rng.integers(1, 4)),
                m=int(rng.integers(1, 6)),
                k=k,
                rows=int(rng.integers(1, 9)),
                columns=int(rng.integers(1, 9)),
                stride=int(rng.integers(1, 3)),
                pad=int(rng.integers(0, k)),
                relu=bool(rng.random() < 0.7),
                pool=random_hang(rng, pool, far=True) if hanging else pool,
            )
        except ValueError:
            continue


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("port", [1, 4])
@pytest.mark.parametrize("name", POOL_KINDS)
def test_many_layers_with_each_kind_of_pooling_undone(name: str, port: int) -> None:
    rng = np.random.default_rng([port, len(name)])
    kind = POOL_KINDS[name]
    for k in (1, 2, 3):
        shapes: list[Shape] = []
        while len(shapes) < -(-MANY // 3):
            shape = random_shape(rng, "hang over" in name)
            shapes += [shape] if shape.k == k and pooled(kind, shape) else []
        design = size_design(
            shapes, n_cu=2, r=1, mul_latency=1, add_latency=2, map_port=port, max_images=IMAGES
        )
        undone = size_unpool(shapes, fmt=FMT, max_images=IMAGES)
        runs = [run_of(rng, shape, design, undone) for shape in shapes]
        streams = ("s_axis_map", "s_axis_delta", "s_axis_state", "m_axis_kernel", "m_axis_bias")
        stalled = [
            replace(
                run,
                stalls={
                    stream: (*(int(bit) for bit in rng.random(17) < 0.5), 1)
                    for stream in streams
                    if rng.random() < 0.5
                },
            )
            for run, _ in runs
        ]
        top = kernel_update_top(design, "behavioural", undone=undone)
        records = run_job(Job(top, stalled, limit=3000), "verilator")
        for shape, record, (_, golden) in zip(shapes, records, runs, strict=True):
            assert gradients_of(record) == golden, shape
