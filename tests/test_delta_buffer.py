"""The delta buffer: words in place, credits, capacity, and what the bias gradients see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.replay import lint_verilog, replay
from merp.hdl.bundles import Slot, Stream, bits, flag
from merp.hdl.delta_buffer import delta_buffer
from merp.hdl.gradient_bundles import DeltaElement, GradientMapConfig
from merp.models.params.design import Design
from merp.models.params.formats import FloatFormat
from merp.testbenches.cu_bench import joined
from merp.testbenches.trace import Sample, Trace, run_block

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do
CREDIT_CYCLES = 2  # from filled to the slot, at least


def design_for(n_cu: int, groups: int) -> Design:
    return Design(
        fmt=BYTE, k=1, n_cu=n_cu, r=1, groups=groups, kernel_words=2 * groups, row_words=4,
        max_size=4, max_maps=4, max_images=2, fifo_words=groups,
    )  # fmt: skip


class Run:
    """A run's words, and a reader that uses each position n times, as a sequencer does."""

    def __init__(
        self, design: Design, m: int, size: tuple[int, int, int], n: int, seed: int,
        offer: float = 1.0, use: float = 1.0, delta_rest: int = 0, last: int = -1,
        reset_at: int | None = None,
    ) -> None:  # fmt: skip
        self.design, self.m, self.n, self.rng = design, m, n, Random(seed)
        self.images, self.rows, self.columns = size
        self.groups = -(-m // design.n_cu)
        self.positions = self.images * self.rows * self.columns
        self.words = [self.rng.getrandbits(8) for _ in range(self.positions * m)]
        self.last = last % len(self.words) if last < len(self.words) else None
        self.offer, self.use, self.delta_rest, self.reset_at = offer, use, delta_rest, reset_at

    def config(self) -> dict[str, int]:
        return {
            "config_images": self.images, "config_out_rows": self.rows,
            "config_out_columns": self.columns, "config_groups": self.groups,
            "config_last_cus": self.m - (self.groups - 1) * self.design.n_cu,
            "config_delta_rest": self.delta_rest,
        }  # fmt: skip

    def slots(self) -> list[tuple[int, int, int, int]]:
        """Position, group, whether the slot is its group's last one."""
        return [
            (p, g, int(i == self.n - 1), i)
            for p in range(self.positions)
            for i in range(self.n)
            for g in range(self.groups)
        ]

    def word(self, position: int, group: int) -> list[int]:
        low = position * self.m + group * self.design.n_cu
        return self.words[low : min(low + self.design.n_cu, (position + 1) * self.m)]


class Driver:
    """Plays runs back to back and keeps what has to come out."""

    def __init__(self, design: Design, runs: Sequence[Run]) -> None:
        self.queue = list(runs)
        self.run: Run | None = None
        self.expected: list[tuple[int, list[int], int]] = []  # cycle, word, opening
        self.transfers: list[tuple[int, int, int, int]] = []  # cycle, data, index, opening
        self.ends: list[int] = []

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle < 2:
            return {"rst": int(cycle == 0), "slot_last": 0, "slot_group": 0}
        values = {"start": 0, "rst": 0, "slot_valid": 0}
        run = self.run
        if run is not None:
            if seen["sink_valid"] and seen["sink_ready"]:
                index = self.sent % run.m
                self.transfers.append(
                    (cycle - 1, run.words[self.sent], index, int(self.sent < run.m))
                )
                self.sent += 1
                self.held = False
            if seen["filled"]:
                self.credits.append(cycle - 1 + CREDIT_CYCLES)
            self.since += 1
            if self.since == run.reset_at:
                self.run, run.reset_at = None, None
                return values | {"rst": 1, "sink_valid": 0}
            if not self.slots and self.sent == len(run.words):
                self.tail += 1
                if self.tail == 4:
                    self.ends.append(cycle)
                    self.run = None
        if self.run is None:
            if not self.queue:
                return values | {"sink_valid": 0}
            self.run = run = self.queue.pop(0)
            self.sent, self.held, self.since, self.tail = 0, False, 0, 0
            self.credits: list[int] = []
            self.slots = run.slots()
            return values | run.config() | {"start": 1, "sink_valid": 0}
        assert run is not None
        if not self.held and self.sent < len(run.words) and run.rng.random() < run.offer:
            self.held = True
            values |= {"sink_data": run.words[self.sent], "sink_last": int(self.sent == run.last)}
        values["sink_valid"] = int(self.held)
        if self.slots:
            position, group, last, channel = self.slots[0]
            needed = (position + 1) * run.groups  # words that have to be there
            there = sum(at <= cycle for at in self.credits)
            go = there >= needed if group == channel == 0 else True
            if go and (group or run.rng.random() < run.use):
                self.slots.pop(0)
                self.expected.append((cycle + 1, run.word(position, group), int(position == 0)))
                return values | {"slot_valid": 1, "slot_group": group, "slot_last": last}
        return values | {"slot_last": run.rng.getrandbits(1), "slot_group": 0}


def play(design: Design, runs: Sequence[Run], cycles: int = 600) -> tuple[Driver, Trace]:
    driver = Driver(design, runs)
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "config": GradientMapConfig(design),
        "sink": Stream(8), "slot": Slot(design), "filled": flag(),
        "deltas": bits(8 * design.n_cu), "opening": flag(), "element": DeltaElement(design),
        "framing_error": flag(), "design": design,
    }  # fmt: skip
    config = tuple(f"config_{name}" for name in vars(args["config"]))
    slot = tuple(f"slot_{name}" for name in vars(args["slot"]))
    inputs = ("rst", "start", *config, "sink_data", "sink_valid", "sink_last", *slot)
    return driver, run_block(delta_buffer, args, inputs, driver.drive, cycles)


def check(design: Design, driver: Driver, trace: Trace) -> None:
    assert driver.run is None, "the runs did not end"
    assert not driver.queue
    deltas, opening = trace.column("deltas"), trace.column("opening")
    for cycle, word, first in driver.expected:
        assert deltas[cycle] & (1 << 8 * len(word)) - 1 == joined(word, 8), cycle
        assert opening[cycle - 1] == first, cycle
    names = ("valid", "data", "index", "opening")
    columns = [trace.column(f"element_{name}") for name in names]
    seen = [(t - 1, *row[1:]) for t, row in enumerate(zip(*columns, strict=True)) if row[0]]
    assert seen == driver.transfers


@pytest.mark.parametrize(("n_cu", "groups"), [(1, 1), (1, 4), (3, 2), (4, 4)])
def test_words_in_place_under_pressure(n_cu: int, groups: int) -> None:
    design = design_for(n_cu, groups)
    rng = Random(f"{n_cu} {groups}")
    runs = [
        Run(design, m, (rng.randrange(1, 3), 2, rng.randrange(1, 4)), rng.randrange(1, 3), m,
            rng.choice((0.4, 1.0)), rng.choice((0.4, 1.0)), rng.randrange(3))
        for m in sorted({1, n_cu, n_cu * groups, rng.randrange(1, n_cu * groups + 1)})
    ]  # fmt: skip
    driver, trace = play(design, runs, 1500)
    check(design, driver, trace)
    assert not any(trace.column("framing_error"))


def test_a_word_per_cycle_and_no_more_than_two_positions() -> None:
    """Without a reader the buffer takes 2*G words and all but one element of the next."""
    design = design_for(3, 2)
    driver, trace = play(design, [Run(design, 5, (1, 2, 2), 1, 0, use=0.0)], 60)
    cycles = [cycle for cycle, *_ in driver.transfers]
    assert cycles == list(range(cycles[0], cycles[0] + 2 * 5 + 2))
    assert trace.column("sink_ready")[-1] == 0


def test_rest_between_positions() -> None:
    design = design_for(2, 2)
    driver, _ = play(design, [Run(design, 2, (1, 2, 2), 1, 0, delta_rest=3)], 100)
    cycles = [cycle for cycle, *_ in driver.transfers]
    gaps = [after - before for before, after in pairwise(cycles)]
    assert gaps == [1, 4, 1, 4, 1, 4, 1]


@pytest.mark.parametrize(("last", "error"), [(-1, 0), (-2, 1), (99, 1)])
def test_framing_error_of_a_misplaced_last(last: int, error: int) -> None:
    design = design_for(2, 2)
    runs = [Run(design, 3, (1, 2, 2), 1, seed, last=last if seed == 0 else -1) for seed in (0, 1)]
    driver, trace = play(design, runs, 120)
    check(design, driver, trace)
    errors = trace.column("framing_error")
    assert (errors[driver.ends[0] - 1], errors[-1]) == (error, 0)


def test_reset_in_mid_stream() -> None:
    design = design_for(2, 2)
    for reset_at in range(2, 16, 2):
        runs = [
            Run(design, 3, (1, 2, 2), 2, reset_at, reset_at=reset_at),
            Run(design, 4, (1, 2, 1), 1, 1),
        ]
        driver, trace = play(design, runs, 120)
        begin = trace.column("start").index(1, trace.column("start").index(1) + 1)
        driver.expected = [item for item in driver.expected if item[0] > begin]
        late = [t for t, on in enumerate(trace.column("element_valid")) if on and t > begin]
        assert len(late) == 2 * 4
        driver.transfers = [item for item in driver.transfers if item[0] > begin]
        columns = [trace.column(f"element_{name}") for name in ("data", "index", "opening")]
        assert [(t - 1, *(c[t] for c in columns)) for t in late] == driver.transfers
        deltas = trace.column("deltas")
        assert driver.expected
        for cycle, word, _ in driver.expected:
            assert deltas[cycle] & (1 << 8 * len(word)) - 1 == joined(word, 8)


@pytest.mark.ghdl
@pytest.mark.parametrize(("n_cu", "groups"), [(1, 4), (3, 2), (2, 4)])
def test_delta_buffer_vhdl(n_cu: int, groups: int, tmp_path: Path) -> None:
    design = design_for(n_cu, groups)
    settings: list[dict[str, Any]] = [{"offer": 0.7}, {"use": 0.5}]
    runs = [
        Run(design, n_cu * groups - i, (1, 2, 2), 2, i, **setting)
        for i, setting in enumerate(settings)
    ]
    driver, trace = play(design, runs, 300)
    check(design, driver, trace)
    assert replay(trace, tmp_path) == 300
    lint_verilog(delta_buffer, trace.args, tmp_path / "verilog")
