"""Slots of forward propagation in their order, with the place that their sums start at."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Sample
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.maps import Floor, MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot, Verdict
from merp.hdl.cnn_merp.ports.windows import (
    Issued,
    KeptRows,
    MapPlace,
    PositionHead,
    SumsRoom,
    WindowFetch,
)
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.sequencer import sequencer
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT

INPUTS = (
    "rst", "start", "config_inputs", "config_groups", "config_last_cus", "head_word", "head_valid",
    "kept_written_row", "room_credit",
)  # fmt: skip
FIELDS = ("kernel_addr", "acc_addr", "group", "first", "last")
CAUSES = ("issue", "stall_input", "stall_output", "stall_hazard")


def design_for(p: int, **changes: Any) -> EngineDesign:
    return EngineDesign(
        k=2, n_cu=3, r=1, p=p, groups=3, kernel_words=9, row_words=6, max_size=4, max_maps=3,
        fifo_words=4, mul_latency=1, add_latency=1, **changes,
    )  # fmt: skip


class Run:
    """Positions one after the other; what of their words the slots depend on."""

    def __init__(self, design: EngineDesign, positions: int, rng: Random) -> None:
        self.design, word = design, PositionWord(design)
        self.inputs, self.groups = rng.randint(1, 3), rng.randint(1, 3)
        self.last_cus, self.wanted = rng.randint(1, 3), bool(rng.getrandbits(1))
        pairs = []
        self.heads = []
        while len(self.heads) < positions:
            size = min(rng.randint(1, design.p), positions - len(self.heads))
            pairs.append(range(len(self.heads), len(self.heads) + size))
            for at in pairs[-1]:
                ends, final = at == pairs[-1][-1], at == positions - 1
                alone = ends and (final or at == pairs[-1][0])
                self.heads.append(alone << word.alone | final << word.final)
        self.slots = [
            (
                *(i * self.groups + group, lane * design.groups + group, group),
                *(int(i == 0), int(i == self.inputs - 1)),
                # Only a first slot's is looked at.
                0 if i else at * design.groups * self.wanted % design.origins + group,
            )
            for pair in pairs
            for i in range(self.inputs)
            for lane, at in enumerate(pair)
            for group in range(self.groups)
        ]

    def config(self) -> dict[str, int]:
        """Pins at start; every map word is there."""
        wanted = {"room_partial_wanted": int(self.wanted)} if self.design.partial else {}
        return wanted | {
            "config_inputs": self.inputs, "config_groups": self.groups, "kept_written_row": 1,
            "config_last_cus": self.last_cus, "start": 1,
        }  # fmt: skip

    def useful(self, slot: tuple[int, ...]) -> int:
        return self.last_cus if slot[2] == self.groups - 1 else self.design.n_cu


def bench_for(design: EngineDesign) -> BlockBench:
    word = PositionWord(design)
    written = MapPlace(bits(word.row_width), bits(word.column_width), count(design.max_maps))
    slot = (OriginSlot if design.partial else Slot)(design)
    return BlockBench(
        sequencer, "clk rst start", config=MapConfig(design), head=PositionHead(word.width),
        fetch=WindowFetch(design, word.shift_width),
        kept=KeptRows(written, Floor(word.row_width, word.column_width)),
        room=SumsRoom(flag(), PartialSums() if design.partial else None),
        issued=Issued(slot, Verdict(design)), design=design,
    )  # fmt: skip


class Driver:
    """Runs back to back: positions, places for sums and partial sums come at random."""

    def __init__(self, design: EngineDesign, inputs: tuple[str, ...], reset_at: int | None) -> None:
        self.design, self.inputs, self.reset_at = design, inputs, reset_at
        self.rng = Random(design.p)
        self.left = 7
        self.runs: list[Run] = []

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        quiet = dict.fromkeys(self.inputs, 0)
        if cycle in (0, self.reset_at):
            return {**quiet, "rst": 1}
        if self.reset_at is not None and cycle > self.reset_at:
            return {**quiet, "head_valid": 1, "kept_written_row": 1}
        if not self.runs or (seen["issued_verdict_idle"] and self.at == len(self.runs[-1].heads)):
            if not self.left:
                return quiet
            self.left -= 1
            self.at = self.held = self.out = self.filled = 0
            self.runs.append(Run(self.design, self.rng.randint(5, 8), self.rng))
            return quiet | self.runs[-1].config()
        return {"start": 0, **self._offer(seen, self.runs[-1])}

    def _offer(self, seen: Sample, run: Run) -> dict[str, int]:
        chance = self.rng.random
        if seen["head_valid"] and seen["head_take"]:
            self.at, self.held = self.at + 1, 0
        self.out += seen["issued_slot_valid"] and seen["issued_slot_last"]
        more = self.at < len(run.heads)
        self.held = int(more and (self.held or chance() < 0.8))
        credit = int(self.out > 0 and chance() < 0.6)
        self.out -= credit
        head = run.heads[self.at] if more else 0
        values = {"head_valid": self.held, "room_credit": credit, "head_word": head}
        if self.design.partial:
            room = self.filled < (self.at + 1) * run.groups
            values["room_partial_filled"] = int(run.wanted and room and chance() < 0.7)
            self.filled += values["room_partial_filled"]
        return values


def play(design: EngineDesign, cycles: int, reset_at: int | None = None) -> tuple[Run, Driver]:
    inputs = (*INPUTS, *(("room_partial_wanted", "room_partial_filled") if design.partial else ()))
    driver = Driver(design, inputs, reset_at)
    return bench_for(design).run(driver.drive, cycles), driver


def cycles_of(trace: Recorded, name: str) -> list[int]:
    return [cycle for cycle, on in enumerate(trace.column(name)) if on]


every_design = pytest.mark.parametrize(
    "design",
    [design_for(1), design_for(2), design_for(1, partial=True), design_for(2, partial=True)],
    ids=lambda each: f"p{each.p}{'-partial' * each.partial}",
)


@every_design
def test_every_slot_two_cycles_after_its_issue(design: EngineDesign) -> None:
    trace, driver = play(design, 900)
    issued, valid = cycles_of(trace, "issued_verdict_issue"), cycles_of(trace, "issued_slot_valid")
    assert valid == [cycle + SLOT for cycle in issued]
    columns = [trace.column(f"issued_slot_{name}") for name in FIELDS]
    if design.partial:
        first, origin = trace.column("issued_slot_first"), trace.column("issued_slot_origin")
        columns.append(
            [place if starts else 0 for starts, place in zip(first, origin, strict=True)]
        )
    wanted = [(run, slot) for run in driver.runs for slot in run.slots]
    found = [tuple(column[cycle] for column in columns) for cycle in valid]
    assert found == [slot[: len(columns)] for _, slot in wanted]
    useful = trace.column("issued_verdict_useful")
    assert [useful[cycle] for cycle in issued] == [run.useful(slot) for run, slot in wanted]
    ends = [slot is run.slots[-1] for run, slot in wanted]
    finals = [cycle for cycle, end in zip(issued, ends, strict=True) if end]
    assert cycles_of(trace, "issued_verdict_final_issue") == finals
    assert len(finals) == 7
    causes = trace.columns(*(f"issued_verdict_{cause}" for cause in CAUSES))
    opened = trace.column("kept_floor_open")
    assert [sum(each) for each in causes] == [1 - none_left for none_left in opened]


@every_design
def test_nothing_comes_after_a_reset(design: EngineDesign) -> None:
    for reset_at in (22, 23, 24):
        trace, _ = play(design, 40, reset_at)
        for name in ("issued_verdict_issue", "issued_slot_valid"):
            cycles = cycles_of(trace, name)
            assert cycles
            assert max(cycles) <= reset_at
