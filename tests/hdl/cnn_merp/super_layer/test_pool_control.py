"""What the pooling memories are told of every beat, and positions in windows, by their definition.

A window of pooled row y and column x is in memory (y mod overlap, x mod overlap), its beat b at
address (x div overlap) * beats + b.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.pool_code import pool_code
from merp.hdl.cnn_merp.super_layer.pool_control import pool_control
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, Closing, PoolUpdate
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.super_layer_bench import output_config
from super_layer_runs import spans

FLAGS = ("ends_position", "last_column", "last_row", "last_image")
EDGES = ("edge_column", "edge_row", "late")


@dataclass(frozen=True)
class Job:
    """A run: its pooling, the size of its maps, its images and the beats of a position."""

    pool: Pool
    rows: int
    columns: int
    images: int
    beats: int

    def config(self, design: EngineDesign) -> dict[str, int]:
        shape = Shape(n=1, m=1, k=1, rows=self.rows, columns=self.columns, pool=self.pool)
        return output_config(shape, self.images, design)

    @property
    def walked(self) -> tuple[int, int]:
        """Rows and columns, with those behind the map that complete windows."""
        late = self.pool.late(self.rows, self.columns)
        return self.rows + late[0], self.columns + late[1]

    def flags(self, image: int, row: int, column: int, ends: bool, far: bool) -> dict[str, int]:
        """What is said of a position."""
        rows, columns = self.walked
        found = {
            "step_ends_position": ends,
            "step_last_column": column == columns - 1,
            "step_last_row": row == rows - 1,
            "step_last_image": image == self.images - 1,
        }
        if far:
            found |= {
                "step_edge_column": column >= self.columns - 1,
                "step_edge_row": row >= self.rows - 1,
                "step_late": column >= self.columns or row >= self.rows,
            }
        return {name: int(value) for name, value in found.items()}

    def windows(self, row: int, column: int) -> Iterator[tuple[int, int, list[int], list[int]]]:
        """Those open at a position: pooled row and column, first and last index of each."""
        pool = self.pool
        high, wide = pool.rows(self.rows), pool.columns(self.columns)
        rows = spans(self.rows, pool.top, pool, high)
        columns = spans(self.columns, pool.left, pool, wide)
        for y, x in product(range(high), range(wide)):
            (top, bottom), (left, right) = rows[y], columns[x]
            if top <= row <= bottom and left <= column <= right:
                yield y, x, [top, bottom], [left, right]


@dataclass(frozen=True)
class Issue:
    """A beat of a job, and the cycle in which it is issued."""

    cycle: int
    job: Job
    image: int
    row: int
    column: int
    beat: int


def design_for(
    overlap: int, average: bool = False, hanging: bool = False, far: bool = False
) -> EngineDesign:
    return EngineDesign(
        k=1, n_cu=2, r=1, kernel_words=1, groups=2, row_words=8, max_size=8, max_maps=1,
        max_images=2, max_stride=5, fifo_words=2, pool_window=4, pool_overlap=overlap,
        pool_words=24, average=average, add_latency=2, hanging=hanging, far=far, state=True,
    )  # fmt: skip


def stimulus(
    design: EngineDesign, jobs: list[Job], seed: int
) -> tuple[list[dict[str, int]], list[Issue]]:
    """Inputs of every cycle: positions one after the other, often as close as they may be."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, int]] = []
    issues: list[Issue] = []
    for job in jobs:
        still = job.config(design) | {"start": 0, "step_issue": 0}
        positions = list(product(range(job.images), *map(range, job.walked)))
        names = FLAGS + EDGES if design.far else FLAGS
        flags = dict.fromkeys((f"step_{name}" for name in names), 0)
        rows.append(still | flags | {"start": 1})
        for image, row, column in positions:
            began = len(rows)
            for beat in range(job.beats):
                flags = job.flags(image, row, column, beat == job.beats - 1, design.far)
                rows += [still | flags] * int(rng.choice(4, p=(0.7, 0.1, 0.1, 0.1)))
                issues.append(Issue(len(rows), job, image, row, column, beat))
                rows.append(still | flags | {"step_issue": 1})
            # The place of the next position is there while it waits.
            if job.pool.window > 1 and positions[-1] != (image, row, column):
                following = positions[positions.index((image, row, column)) + 1]
                flags = job.flags(*following, job.beats == 1, design.far)
                rows += [still | flags] * max(0, began + design.pool_latency - len(rows))
        rows += [still | flags] * (design.pool_latency + 3)
    return rows, issues


def drive(
    design: EngineDesign, jobs: list[Job], seed: int
) -> tuple[Recorded, Recorded, list[Issue]]:
    """The traces of ``pool_control`` and ``pool_code``, and what they saw."""
    rows, issues = stimulus(design, jobs, seed)
    shared = {
        "clk": flag(),
        "start": flag(),
        "config": OutputConfig(design),
        "step": BeatStep(design),
    }

    codes = bits(design.pool_overlap**2 * position_bits(design.pool_window))
    of_codes = shared | {"codes": codes, "design": design}
    control: dict[str, Any] = {
        "closing": Closing(), "update": PoolUpdate(design), "design": design,
    }  # fmt: skip
    return (
        BlockBench(pool_control, **shared | control).run(rows),
        BlockBench(pool_code, **of_codes).run(rows),
        issues,
    )


def part(value: int, index: int, width: int) -> int:
    return value >> index * width & (1 << width) - 1


def check(design: EngineDesign, control: Recorded, coder: Recorded, issues: list[Issue]) -> None:
    overlap, late = design.pool_overlap, design.pool_latency
    span = PoolUpdate(design).address_width
    code_width = position_bits(design.pool_window)
    names = ("read", "address", "bypass", "fresh", "store", "store_address", "deliver")
    seen = {name: control.column(f"update_{name}") for name in names}
    closes, closes_last = control.column("closing_window"), control.column("closing_last")
    codes = coder.column("codes")
    stores, delivers = {}, {}
    for issue in issues:
        job, cycle = issue.job, issue.cycle
        reads = opens = ends = final = 0
        for y, x, rows, columns in job.windows(issue.row, issue.column):
            memory = y % overlap * overlap + x % overlap
            reads |= 1 << memory
            opens |= (issue.row == rows[0] and issue.column == columns[0]) << memory
            end = issue.row == rows[-1] and issue.column == columns[-1]
            ends |= end << memory
            pool = job.pool
            last = (pool.rows(job.rows) - 1, pool.columns(job.columns) - 1)
            final |= end and (y, x) == last and issue.image == job.images - 1
            code = (issue.row + pool.top - y * pool.stride) * pool.window
            code += issue.column + pool.left - x * pool.stride
            if issue.row < job.rows and issue.column < job.columns:
                assert part(codes[cycle + 2], memory, code_width) == code, issue
            address = x // overlap * job.beats + issue.beat
            if pool.window > 1:  # one of one element needs none
                assert part(seen["address"][cycle], x % overlap, span) == address, issue
                assert part(seen["store_address"][cycle + late], x % overlap, span) == address
            now = part(seen["store_address"][cycle], x % overlap, span)
            met = seen["store"][cycle] >> memory & 1 and now == address
            if pool.window > 1:
                assert seen["bypass"][cycle + 1] >> memory & 1 == int(met), issue
        assert seen["read"][cycle] == reads, issue
        assert seen["fresh"][cycle + 2] == opens, issue
        assert closes[cycle] == (ends != 0), issue
        assert closes_last[cycle] == final, issue
        stores[cycle + late], delivers[cycle + late] = reads, ends
    for cycle in range(late, len(control.rows)):
        assert seen["store"][cycle] == stores.get(cycle, 0), cycle
        assert seen["deliver"][cycle] == delivers.get(cycle, 0), cycle


def jobs_for(overlap: int, hanging: bool, rng: np.random.Generator, far: bool) -> list[Job]:
    """A job of every window and stride, each with maps of some size and of some padding."""
    jobs = []
    for window, stride in product(range(1, 5), range(1, 6)):
        most = window if far else min(window, stride)
        if -(-window // stride) > overlap:
            continue
        pad = tuple(int(each) for each in rng.integers(0, most, 4)) if hanging else 0
        rows, columns = (int(each) for each in rng.integers(1 if far else max(window, 3), 7, 2))
        beats, images = (int(each) for each in rng.integers(1, 3, 2))
        pool = Pool(window=window, stride=stride, pad=pad)
        if pool.rows(rows) and pool.columns(columns):
            jobs.append(Job(pool, rows, columns, images, beats))
    return jobs


@pytest.mark.parametrize(
    ("overlap", "average", "hanging", "far"),
    [
        (1, False, False, False), (2, True, False, False), (3, False, False, False),
        (2, False, True, False), (3, True, True, False),
        (2, False, True, True), (3, True, True, True), (4, False, True, True),
    ],
)  # fmt: skip
def test_every_beat_goes_where_its_windows_are(
    overlap: int, average: bool, hanging: bool, far: bool
) -> None:
    design = design_for(overlap, average, hanging, far)
    jobs = jobs_for(overlap, hanging, np.random.default_rng(overlap), far)
    jobs = jobs if far else jobs[:: 1 + (len(jobs) > 10)]
    assert any(job.walked != (job.rows, job.columns) for job in jobs) == far
    check(design, *drive(design, jobs, overlap))
