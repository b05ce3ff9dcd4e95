"""The order of windows: each with its position, when it has arrived, what is still needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.ports.maps import Floor, MapConfig
from merp.hdl.cnn_merp.ports.windows import KeptRows, MapPlace, PositionHead, WindowSlots
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow, window_order
from merp.models.machines.cnn_merp.params.design import EngineDesign

INPUTS = (
    "rst", "start", "config_inputs", "config_groups", "head_word", "head_valid", "kept_written_row",
    "kept_written_column", "kept_written_channel", "slots_opens", "slots_leaves",
)  # fmt: skip
FLOOR = {"row_limit": "row_limit", "next_row_limit": "next_row_limit", "column": "first_column"}


def design_for(p: int) -> EngineDesign:
    return EngineDesign(
        k=2, n_cu=1, r=1, p=p, groups=2, kernel_words=6, row_words=6, max_size=4, max_maps=3,
        max_images=2, fifo_words=2,
    )  # fmt: skip


@dataclass(frozen=True)
class Position:
    """A word of random fields, but for the element that its windows need last."""

    word: int
    need: tuple[int, int]  # row, column
    alone: bool
    floor: dict[str, int]


def position(design: EngineDesign, at: int, final: bool, rng: Random) -> Position:
    layout = PositionWord(design)
    need, alone = divmod(at, 4), final or rng.random() < 0.3
    word, values = 0, {"need_row": need[0], "need_column": need[1], "alone": int(alone)}
    for name in ("need_column", "need_row", *FLOOR.values(), "rows_on", "row_shift", "alone"):
        low, top = getattr(layout, name), getattr(layout, f"{name}_top")
        values.setdefault(name, rng.getrandbits(top - low))
        word |= values[name] << low
    return Position(word, need, alone, {port: values[name] for port, name in FLOOR.items()})


@dataclass(frozen=True)
class Window:
    """Its position and the first one of that one's pair; what is told of it."""

    at: Position
    oldest: Position
    fields: dict[str, int]

    @property
    def takes(self) -> bool:
        return bool(self.fields["first_map"])

    @property
    def need(self) -> tuple[int, int, int]:
        return (*self.at.need, self.fields["channel"])


class Order:
    """A run from the block's docstring; it plays what is before and behind the block, too."""

    def __init__(self, design: EngineDesign, rng: Random) -> None:
        self.rng, self.inputs, self.groups = rng, rng.randint(1, 3), rng.randint(1, 2)
        self.left = [position(design, at, at == 7, rng) for at in range(8)]
        self.coming = [*self._windows(design)]
        self.offered, self.written = False, (0, 0, 0)
        self.window: Window | None = None
        self.arrived, self.slot = False, 0
        self.held: Position | None = None  # of a pair with a window that is not read yet

    def _windows(self, design: EngineDesign) -> Iterator[Window]:
        left = self.left[:]
        while left:
            pair = [left.pop(0)]
            if design.p == 2 and not pair[0].alone:
                pair.append(left.pop(0))
            for channel in range(self.inputs):
                for lane, at in enumerate(pair):
                    fields = {
                        "channel": channel, "lane": lane, "kernel_base": channel * self.groups,
                        "first_map": int(channel == 0),
                        "last_map": int(channel == self.inputs - 1),
                        "ends_pair": int(lane == len(pair) - 1),
                    }  # fmt: skip
                    yield Window(at, pair[0], fields)

    def cycle(self) -> tuple[dict[str, int], dict[str, int]]:
        """What a cycle has on the pins, and what comes of it."""
        rng, window = self.rng, self.window
        head = self.left[0] if self.left else None
        self.offered = head is not None and (self.offered or rng.random() < 0.7)
        fires = window is not None and (self.slot > 0 or (self.arrived and rng.random() < 0.8))
        opens, leaves = fires and self.slot == 0, fires and self.slot == self.groups - 1
        free = window is None or leaves
        following = self.coming[0] if self.coming else None
        takes = following is not None and following.takes and self.offered
        loads = free and following is not None and (takes or not following.takes)
        told = {
            "window_valid": int(window is not None), "window_arrived": int(self.arrived),
            "kept_floor_valid": int(self.held is not None or self.offered),
            "head_take": int(free and takes),
        }  # fmt: skip
        if window is not None:
            told |= {f"window_{name}": value for name, value in window.fields.items()}
            told["position"] = window.at.word
        needed = self.held or (head if self.offered else None)
        if needed is not None:
            told |= {f"kept_floor_{port}": value for port, value in needed.floor.items()}
        pins = {
            "config_inputs": self.inputs, "config_groups": self.groups, "slots_opens": int(opens),
            "slots_leaves": int(leaves), "head_valid": int(self.offered),
            "head_word": head.word if head is not None and self.offered else rng.getrandbits(20),
            **dict(zip(INPUTS[6:9], self.written, strict=True)),
        }  # fmt: skip
        if window is not None and opens and all(map(window.fields.get, ("last_map", "ends_pair"))):
            self.held = None
        self.slot = 0 if leaves else self.slot + fires
        if leaves:
            self.window, self.arrived = None, False
        if loads:
            self._load(self.coming.pop(0))
        elif self.window is not None:
            self.arrived = self.arrived or self.written > self.window.need
        if rng.random() < 0.8:
            self._write()
        return pins, told

    def _load(self, window: Window) -> None:
        self.window, self.arrived = window, self.written > window.need
        if window.takes:
            del self.left[0]
            self.offered = False
            if not window.fields["lane"]:
                self.held = window.oldest

    def _write(self) -> None:
        row, column, channel = self.written
        last = channel + 1 == self.inputs
        column, channel = (column + 1, 0) if last else (column, channel + 1)
        self.written = (row + 1, 0, 0) if column == 4 else (row, column, channel)


def bench_for(design: EngineDesign) -> BlockBench:
    word = PositionWord(design)
    written = MapPlace(bits(word.row_width), bits(word.column_width), count(design.max_maps))
    return BlockBench(
        window_order, "clk rst start", config=MapConfig(design), head=PositionHead(word.width),
        window=NextWindow(design), slots=WindowSlots(),
        kept=KeptRows(written, Floor(word.row_width, word.column_width)), position=bits(word.width),
        design=design,
    )  # fmt: skip


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_every_window_in_its_turn(p: int, seed: int) -> None:
    """Runs of up to 90 cycles, broken off by the next start or by a reset that lasts until then."""
    design, rng = design_for(p), Random(seed)
    order: Order | None = None
    wanted: list[dict[str, int]] = []
    lengths = []
    left = 0  # cycles until the run at hand is over

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal order, left
        left -= 1
        if cycle == 0 or (left == 0 and order is not None and rng.random() < 0.3):
            order, left = None, rng.randint(1, 4)
            wanted.append({})
            return {"rst": 1, "head_valid": 0}
        if left == 0:
            order, left = Order(design, rng), rng.choice((9, 20, 90))
            wanted.append({})
            config = {"config_inputs": order.inputs, "config_groups": order.groups}
            return {**dict.fromkeys(INPUTS, 0), **config, "start": 1}
        if order is None:
            quiet = ("window_valid", "window_arrived", "kept_floor_valid")
            wanted.append(dict.fromkeys(quiet, 0))
            return {"head_valid": 0, "slots_opens": 0, "slots_leaves": 0}
        pins, told = order.cycle()
        wanted.append(told)
        lengths.append(len(order.coming))
        return {**pins, "rst": 0, "start": 0}

    trace = bench_for(design).run(drive, 720)
    assert min(lengths) == 0
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
