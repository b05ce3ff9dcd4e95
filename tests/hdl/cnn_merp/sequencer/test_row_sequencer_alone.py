"""The sequencer of sweeps in every cycle: slots, reads, verdicts and rests, of even rows or not."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.maps import Floor, FoldRowConfig, RowMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot, Verdict
from merp.hdl.cnn_merp.ports.windows import Issued, KeptRows, MapPlace, PositionHead, WindowFetch
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.row_sequencer import row_sequencer
from merp.models.machines.cnn_merp.params.design import EngineDesign

INPUTS = (
    "rst", "start", "config_inputs", "config_groups", "config_last_cus", "config_rest", "head_word",
    "head_valid", "kept_written_row", "filled",
)  # fmt: skip
READ = ("rows_on", "columns_on", "rows_next", "columns_next")
BASES = ("row_base_0", "row_base_1", "column_base_0", "column_base_1")
SHIFTS = ("row_shift", "column_shift")


def design_for(k: int, **changes: Any) -> EngineDesign:
    return EngineDesign(
        k=k, n_cu=3, r=1, d=2, kernel_words=6, groups=2, row_words=8, max_size=4, max_maps=3,
        fifo_words=2, cu_kind="fused", ku_kind="row", **changes,
    )  # fmt: skip


@dataclass
class Rows:
    """A run from the block's docstring: rows of positions, each as often as it is swept.

    rest: idle cycles after each sweep of a row; of the first one.
    single: each row has one column, of one map and one group, so that its first slot ends it; maps
        and deltas come fast, so that the next row waits for the rest alone.
    """

    design: EngineDesign
    rng: Random
    uneven: bool
    single: bool
    inputs: int = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng
        self.inputs, self.groups = rng.randint(1, 3), rng.randint(1, 2)
        self.last_cus, self.rest = rng.randint(1, 3), (rng.randint(0, 3), rng.randint(0, 3))
        self.rest = self.rest if self.uneven else self.rest[:1] * 2
        columns = rng.randint(1, 4)
        if self.single:
            self.inputs = self.groups = columns = 1
        sizes = [rng.randint(1, columns) if self.uneven else columns, columns, columns]
        # Of a slot its row, channel, group and column, and its position.
        self.left = [
            (row, channel, group, column, position)
            for row, size in enumerate(sizes)
            for channel in range(self.inputs)
            for group in range(self.groups)
            for column, position in enumerate(self._sweep(row, size))
        ]
        for at, (row, *places, position) in enumerate(self.left):
            final = at == len(self.left) - 1
            self.left[at] = (row, *places, position | {"final": int(final)})
        self.idle, self.deltas, self.written, self.offered = 0, 0, 0, False

    def _sweep(self, row: int, size: int) -> list[dict[str, int]]:
        layout, rng = PositionWord(self.design), self.rng
        found = []
        for column in range(size):
            drawn = {
                name: rng.getrandbits(getattr(layout, f"{name}_top") - getattr(layout, name))
                for name in ("row_limit", "next_row_limit", *READ)
            }
            drawn |= {name: rng.randrange(self.design.row_words) for name in BASES}
            drawn |= {name: rng.randrange(self.design.k) for name in SHIFTS}
            found.append(drawn | {"need_row": row, "alone": int(column == size - 1)})
        return found

    def word(self, position: dict[str, int]) -> int:
        layout = PositionWord(self.design)
        return sum(value << getattr(layout, name) for name, value in position.items())

    def config(self) -> dict[str, int]:
        fold = {"config_first_rest": self.rest[0]} if self.uneven else {}
        return fold | {
            "config_inputs": self.inputs, "config_groups": self.groups,
            "config_last_cus": self.last_cus, "config_rest": self.rest[1],
        }  # fmt: skip

    def cycle(self) -> tuple[dict[str, int], list[dict[str, int]]]:
        """What a cycle has on the pins, and what comes of it in this one and the next two."""
        rng = self.rng
        chance = rng.random
        slot = self.left[0] if self.left else None
        row, channel, group, column, at = slot or (0, 0, 0, 0, {})
        midway, opens = column > 0, column == channel == group == 0
        # Within a sweep the next position is always there.
        self.offered = slot is not None and (midway or self.offered or chance() < 0.6)
        there = self.offered and (not opens or (self.written > row and self.deltas > 0))
        fires = slot is not None and (midway or (there and not self.idle))
        final = fires and len(self.left) == 1
        now = {
            "head_take": int(fires), "issued_verdict_issue": int(fires),
            "issued_verdict_stall_input": int(slot is not None and not midway and not there),
            "issued_verdict_stall_hazard": int(bool(not midway and there and self.idle)),
            "issued_verdict_stall_output": 0, "issued_verdict_final_issue": int(final),
            "issued_verdict_idle": int(slot is None and not self.deltas), "kept_floor_column": 0,
            "kept_floor_valid": int(self.offered), "kept_floor_open": int(slot is None),
        }  # fmt: skip
        if fires:
            last_group = group == self.groups - 1
            now["issued_verdict_useful"] = self.last_cus if last_group else self.design.n_cu
        if self.offered:
            now |= {f"kept_floor_{name}": at[name] for name in ("row_limit", "next_row_limit")}
        then, later = {"fetch_read_enable": int(fires)}, {"issued_slot_valid": int(fires)}
        if fires:
            then |= self._read(at, channel)
            later |= {f"fetch_{name}": at[name] for name in SHIFTS}
            kernel = channel * self.groups + group
            last = at["alone"]
            slot_word = {
                "column": column, "first": int(column == 0), "last": last, "kernel_addr": kernel,
                "delta_word": column * self.groups + group,
                "row_last": int(last and kernel == self.inputs * self.groups - 1),
            }  # fmt: skip
            later |= {f"issued_slot_{name}": value for name, value in slot_word.items()}
        filled = self.deltas < 2 and chance() < (0.8 if self.single else 0.2)
        pins = {
            "head_valid": int(self.offered), "kept_written_row": self.written,
            "filled": int(filled), "head_word": self.word(at) if self.offered else 0,
        }  # fmt: skip
        self.deltas += filled - (fires and opens)
        self.idle = max(0, self.idle - 1)
        if fires:
            del self.left[0]
            self.offered = False
            if at["alone"]:
                self.idle = self.rest[row > 0]
        self.written += chance() < (0.9 if self.single else 0.1)
        return pins, [now, then, later]

    def _read(self, at: dict[str, int], channel: int) -> dict[str, int]:
        word, lane = divmod(channel, self.design.map_port)
        found = {f"fetch_read_{name}": at[name] for name in READ}
        for y, x in ((0, 0), (0, 1), (1, 0), (1, 1)):
            found[f"fetch_read_addr_{y}{x}"] = at[f"row_base_{y}"] + at[f"column_base_{x}"] + word
        return found | ({"fetch_read_lane": lane} if self.design.map_port > 1 else {})


def bench_for(design: EngineDesign, uneven: bool) -> BlockBench:
    word = PositionWord(design)
    config = RowMapConfig(design)
    if uneven:
        config = config.but(first_rest=FoldRowConfig(design).first_rest)
    written = MapPlace(bits(word.row_width), None, None)
    return BlockBench(
        row_sequencer, "clk rst start filled", config=config, head=PositionHead(word.width),
        kept=KeptRows(written, Floor(word.row_width, word.column_width)),
        fetch=WindowFetch(design, word.shift_width),
        issued=Issued(RowSlot(design), Verdict(design)), design=design,
    )  # fmt: skip


CASES = {
    "even": (design_for(2), False, False),
    "several to a beat": (design_for(1, map_port=2), False, False),
    "images as columns": (design_for(3, folded=True), True, False),
    "one image as a column": (design_for(3, folded=True), True, True),
}


@pytest.mark.parametrize(("design", "uneven", "single"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("seed", range(2))
def test_every_output_in_every_cycle(
    design: EngineDesign, uneven: bool, single: bool, seed: int
) -> None:
    """Runs of 260 cycles, some of them broken off by the next start, one by a reset."""
    rng = Random(seed)
    inputs = (*INPUTS, *(("config_first_rest",) if uneven else ()))
    rows: Rows | None = None
    wanted: dict[int, dict[str, int]] = {}
    ended = 0

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal rows, ended
        if cycle % 260 == 1:
            ended += rows is not None and not rows.left
            rows = Rows(design, rng, uneven, single)
            return {**dict.fromkeys(inputs, 0), **rows.config(), "start": 1}
        if cycle in (0, 570) or rows is None:
            rows = None
            if cycle:
                quiet = {
                    "issued_verdict_issue": 0,
                    "issued_slot_valid": 0,
                    "issued_verdict_idle": 1,
                }
                wanted[cycle + 1] = quiet
                wanted.pop(cycle + 2, None)
            return {"rst": int(cycle in (0, 570)), "head_valid": 1, "filled": 0}
        pins, told = rows.cycle()
        for after, each in enumerate(told):
            wanted.setdefault(cycle + after, {}).update(each)
        return {**pins, "rst": 0, "start": 0}

    trace = bench_for(design, uneven).run(drive, 1300)
    assert ended
    for cycle in range(1300):
        told = wanted.get(cycle, {})
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
