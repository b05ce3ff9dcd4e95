"""Positions and what their windows need, each field against where the rows and columns lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from myhdl import always_comb, block

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.maps import FoldRowConfig, MapConfig, RowMapConfig
from merp.hdl.cnn_merp.ports.windows import PositionHead
from merp.hdl.cnn_merp.sequencer.position_generator import position_generator
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.machines.cnn_merp.params.registers import registers

LATENCY = 3  # cycles from start to the first position
FIELDS = (
    "need_column", "need_row", "row_limit", "next_row_limit", "first_column", "row_base_0",
    "row_base_1", "column_base_0", "column_base_1", "rows_on", "columns_on", "rows_next",
    "columns_next", "row_shift", "column_shift", "alone", "final",
)  # fmt: skip


def design_for(k: int, d: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, d=d, n_cu=2, r=1, p=2, kernel_words=8, groups=2, row_words=12, max_size=8, max_maps=3,
        max_images=3, max_stride=5, fifo_words=2,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


@block
def used_positions(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    fold: FoldRowConfig | None,
    wanted: Bit,
    valid: Bit,
    head: Word,
    design: EngineDesign,
    sweeps: bool,
) -> Any:
    """The generator, a position used in the very cycle in which it is there and wanted."""
    place = PositionHead(len(head))
    place.word, place.valid = head, valid
    take = place.take

    @always_comb
    def use() -> None:
        take.next = valid and wanted

    return use, position_generator(
        clk, rst, start, config=config, head=place, design=design,
        sweeps=sweeps, fold=fold,
    )  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A shape and its images; the positions of an image 0's row, if it has fewer than others'.

    ``cut``: the next run begins when so many positions have been used.
    """

    shape: Shape
    images: int
    first: int | None = None
    cut: int | None = None


@dataclass(frozen=True)
class Case:
    """A design, and whether rows are swept, whose images may be columns."""

    design: EngineDesign
    sweeps: bool = False
    fold: bool = False

    def bench(self) -> BlockBench:
        design = self.design
        return BlockBench(
            used_positions, "clk rst start wanted valid",
            config=(RowMapConfig if self.sweeps else MapConfig)(design),
            fold=FoldRowConfig(design) if self.fold else None,
            head=bits(PositionWord(design).width), design=design, sweeps=self.sweeps,
        )  # fmt: skip

    def config(self, run: Run) -> dict[str, int]:
        """Registers of a run, by name of the pin."""
        shape, design = run.shape, self.design
        if self.sweeps:
            values = kernel_update_registers(shape, run.images, design, Rates(rate=0))
        else:
            values = registers(shape, run.images, design)
        values = {name.removeprefix("map_"): value for name, value in values.items()}
        values["fold_first_images"] = run.first or shape.out_columns
        return {name: value for name, value in values.items() if name in self.bench().ports}

    def positions(self, run: Run) -> Iterator[dict[str, int]]:
        """Every field of every position, from where rows and columns of its window lie.

        Rows are counted over all images. Bank (x mod k) has row x, in place (x div k) mod d of a
        ring; so it is with columns, but for the ring.
        """
        shape, design = run.shape, self.design
        k, kept, words = shape.k, shape.k * design.d, design.row_words
        config = self.config(run)
        sweeps = config["config_sweeps"] if self.sweeps else 1
        for image in range(run.images):
            columns = (run.first if image == 0 else None) or shape.out_columns
            for r in range(shape.out_rows):
                for sweep in range(sweeps):
                    for c in range(columns):
                        top, left = r * shape.stride - shape.top, c * shape.stride - shape.left
                        above, below = image * shape.rows, (image + 1) * shape.rows
                        following = above + max(0, top + shape.stride)
                        row, column = above + top, left
                        rows_on = [0 <= top + tap < shape.rows for tap in range(k)]
                        columns_on = [0 <= left + tap < shape.columns for tap in range(k)]
                        end = c == columns - 1
                        final = (
                            end and sweep == sweeps - 1
                            and (image, r) == (run.images - 1, shape.out_rows - 1)
                        )  # fmt: skip
                        yield {
                            "need_row": min(row + k, below) - 1,
                            "need_column": min(column + k, shape.columns) - 1,
                            "row_limit": above + max(0, top) + kept,
                            "next_row_limit": kept
                            + (below if r == shape.out_rows - 1 else following),
                            "first_column": max(0, left),
                            "row_base_0": row // k % design.d * words,
                            "row_base_1": (row // k + 1) % design.d * words,
                            # In the padding it is not read.
                            "column_base_0": max(0, column // k) * shape.n,
                            "column_base_1": (column // k + 1) * shape.n,
                            "rows_on": _in_banks(rows_on, row),
                            "columns_on": _in_banks(columns_on, column),
                            "rows_next": (1 << row % k) - 1,
                            "columns_next": (1 << column % k) - 1,
                            "row_shift": row % k,
                            "column_shift": column % k,
                            "alone": int(final or (end and not config["config_pair_rows"])),
                            "final": int(final),
                        }


def _in_banks(taps: list[bool], first: int) -> int:
    """A bit per bank, from one per tap of a window that begins at ``first``."""
    return sum(there << (first + tap) % len(taps) for tap, there in enumerate(taps))


class Feeder:
    """Runs back to back as a drive."""

    def __init__(self, case: Case, runs: list[Run], density: float) -> None:
        self.case, self.density, self.rng = case, density, Random(case.design.k)
        self.found: list[list[dict[str, int]]] = []
        self.cycles: list[list[int]] = []  # of start, and of every position that is used
        self._play = self._plan(runs)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self.cycle, self.seen = cycle, seen
        return next(self._play)

    def _plan(self, runs: list[Run]) -> Iterator[dict[str, int]]:
        word = PositionWord(self.case.design)
        yield {"rst": 1}
        # Registers settle a cycle before start.
        for run in runs:
            yield {**self.case.config(run), "rst": 0, "start": 0, "wanted": 0}
            yield {"start": 1}
            found: list[dict[str, int]] = []
            self.found.append(found)
            self.cycles.append([self.cycle - 1])
            quiet = 0
            while quiet < 8 and (run.cut is None or len(found) < run.cut):
                yield {"start": 0, "wanted": int(self.rng.random() < self.density)}
                quiet = 0 if self.seen["valid"] else quiet + 1
                if self.seen["valid"] and self.seen["wanted"]:
                    head = self.seen["head"]
                    found.append(
                        {
                            name: head >> getattr(word, name)
                            & (1 << getattr(word, f"{name}_top") - getattr(word, name)) - 1
                            for name in FIELDS
                        }
                    )
                    self.cycles[-1].append(self.cycle - 1)
        while True:
            yield {"start": 0, "wanted": 1}


def runs_for(case: Case) -> list[Run]:
    """Strides around k, and paddings; borders that no window reaches; maps below k."""
    k = case.design.k
    rng = Random(k)
    runs = []
    for stride in (1, 2, k + 2):
        pads: list[Any] = [*range(k)]
        if case.design.sided:
            pads = [tuple(rng.randrange(k) for _ in range(4)) for _ in range(4)]
        for pad in pads:
            for _ in range(20):
                try:
                    shape = Shape(
                        n=rng.randint(1, 3), m=rng.randint(1, 2), k=k, rows=rng.randint(1, 7),
                        columns=rng.randint(1, 7), stride=stride, pad=pad,
                    )  # fmt: skip
                except ValueError:
                    continue
                first = rng.randint(1, shape.out_columns) if case.fold else None
                runs.append(Run(shape, rng.choice((1, 2, 2, 3)), first))
                break
    broken_off = [Run(run.shape, run.images, run.first, cut=1 + at) for at, run in enumerate(runs)]
    return [broken_off[2], *runs, broken_off[1], runs[0]]


ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row", "p": 1}
CASES = {
    "k3": Case(design_for(3, 1)),
    "k2 two rings": Case(design_for(2, 2)),
    "k1 three rings": Case(design_for(1, 3)),
    "sided": Case(design_for(3, 2, sided=True)),
    "sweeps": Case(design_for(2, 1, **ROW), sweeps=True),
    "images as columns": Case(design_for(3, 2, **ROW, folded=True), sweeps=True, fold=True),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.mark.sample(4)
@every_case
@pytest.mark.parametrize("density", [1.0, 0.6])
def test_every_position_tells_what_its_windows_need(case: Case, density: float) -> None:
    """One in every cycle."""
    runs = runs_for(case)[:: 1 if density == 1 else 2]
    wanted = [[*case.positions(run)][: run.cut] for run in runs]
    feeder = Feeder(case, runs, density)
    cycles = sum(len(each) for each in wanted) / density + 20 * len(runs) + 40
    case.bench().run(feeder.drive, int(cycles))
    assert [len(each) for each in feeder.found] == [len(each) for each in wanted]
    for run, found, positions in zip(runs, feeder.found, wanted, strict=True):
        for at, (one, other) in enumerate(zip(found, positions, strict=True)):
            assert one == other, f"position {at} of {run}"
    for start, *used in feeder.cycles:
        due = [start + LATENCY + at for at in range(len(used))]
        assert used == due or (density < 1 and all(u >= d for u, d in zip(used, due, strict=True)))


@pytest.mark.sample(2)
@every_case
def test_after_a_reset_it_is_as_new(case: Case) -> None:
    """In the middle of a row, of an image, of a sweep, and at the end; before a start as well."""
    shape = Shape(n=2, m=2, k=case.design.k, rows=3, columns=4, pad=case.design.k - 1)
    config = case.config(Run(shape, 2, 2 if case.fold else None))
    session = at_random({"wanted": 0.8}, fixed=config, pulses={"rst": 0, "start": (1, 7)})
    case.bench().as_new_after_reset(session, range(1, 80, 13), 30, payload={"valid": "head"})
