"""The cycle model of the kernel update against the hardware's counters, to the cycle."""

from dataclasses import replace

import numpy as np
import pytest

from marks import few
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_run, kernel_update_top
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.update_flow import update_flow

RATES = [Rates(rate=0, momentum=mu, weight_decay=wd) for mu in (0, 1) for wd in (0, 1)]

DESIGN = EngineDesign(
    k=3, n_cu=2, r=1, d=2, kernel_words=12, groups=4, row_words=24, max_size=8, max_maps=4,
    max_images=3, max_stride=3, fifo_words=4, mul_latency=2, add_latency=3,
)  # fmt: skip
ONE_RING = replace(DESIGN, d=1, n_cu=3, add_latency=5, mul_latency=1)
BY_ROWS = replace(DESIGN, cu_kind="fused", ku_kind="row", ku_lanes=2)
BY_ROWS_ONE_RING = replace(ONE_RING, cu_kind="fused", ku_kind="row")
DESIGNS = {
    "two rings": DESIGN,
    "one ring": ONE_RING,
    "rows": BY_ROWS,
    "rows, one ring": BY_ROWS_ONE_RING,
    # Kernels end within beats; a kernel's last read has too few elements for one; one is a read.
    "two elements a beat": replace(DESIGN, kernel_port=2),
    "rows, four elements a beat": replace(BY_ROWS, kernel_port=4, accumulator_precision=26),
    "one ring, eight elements a beat": replace(ONE_RING, kernel_port=8),
    "two maps and deltas a beat": replace(DESIGN, map_port=2),
    "one ring, four maps a beat, three units": replace(ONE_RING, map_port=4),
    "rows, eight maps a beat": replace(BY_ROWS, map_port=8),
    "rows, one ring, four maps and deltas a beat": replace(BY_ROWS_ONE_RING, map_port=4, n_cu=4),
}

# What binds: the slots; the delta stream (n < n_cu); the revisit (n*G and m small); a single ring
# of rows with its stride; a partial group; a window larger than its maps.
SHAPES = [
    Shape(n=4, m=4, k=3, pad=1, rows=6, columns=6),
    Shape(n=1, m=8, k=3, pad=1, rows=6, columns=5),
    Shape(n=1, m=1, k=3, pad=1, rows=5, columns=6),
    Shape(n=3, m=5, k=3, pad=0, stride=2, rows=8, columns=7),
    Shape(n=2, m=3, k=3, pad=2, stride=3, rows=7, columns=8),
    Shape(n=4, m=2, k=3, pad=1, rows=1, columns=2),
]


SMALLER = [
    Shape(n=4, m=4, k=2, pad=(1, 0, 0, 1), rows=6, columns=6),
    Shape(n=3, m=5, k=1, rows=4, columns=5),
    Shape(n=2, m=3, k=2, pad=(0, 1, 1, 0), stride=3, rows=7, columns=8),
    Shape(n=3, m=4, k=3, pad=(0, 2, 1, 0), rows=5, columns=4),
]


def binding(design: EngineDesign, shapes: list[Shape], rates: Rates) -> set[str]:
    """Run the shapes, find the model's cycles in each, and return what stalled."""
    runs = []
    for shape in shapes:
        size = shape.m, shape.n, shape.k, shape.k
        rest = np.zeros(size, np.uint32), np.zeros(shape.m, np.uint32)
        runs.append(
            kernel_update_run(
                shape,
                design,
                np.zeros((2, shape.rows, shape.columns, shape.n), np.uint32),
                np.zeros((2, shape.out_rows, shape.out_columns, shape.m), np.uint32),
                rest,
                rates=rates,
                velocities=rest if rates.rule.momentum else None,
            )
        )
    records = run_job(Job(kernel_update_top(design, "behavioural", rates.rule), runs), "myhdl")
    binds = set()
    for shape, record in zip(shapes, records, strict=True):
        flow = update_flow(shape, 2, design, rates.rule)
        found = {
            name: record.outcome.status[f"status_{name}"]
            for name in ("fill", "issue", "stall_input", "stall_hazard", "drain", "total")
        }
        assert found == {name: getattr(flow, name) for name in found}, shape
        assert record.outcome.status["status_stall_output"] == 0
        binds |= {name for name in ("stall_input", "stall_hazard") if found[name]}
    return binds


@pytest.mark.sample(1)
@pytest.mark.parametrize("rates", few(RATES, RATES[2]))
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_cycles_without_pressure_equal_the_hardware(design: EngineDesign, rates: Rates) -> None:
    assert binding(design, SHAPES, rates) == {"stall_input", "stall_hazard"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("port", [1, 2, 8])
@pytest.mark.parametrize("design", [DESIGN, BY_ROWS], ids=["position", "row"])
def test_cycles_of_smaller_kernels_and_padding_of_each_side(
    design: EngineDesign, port: int
) -> None:
    binding(replace(design, widened=True, sided=True, kernel_port=port), SMALLER, RATES[-1])
