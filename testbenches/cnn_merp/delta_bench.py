"""Test runs of the delta buffers: a source of words, and a reader that models a sequencer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.delta_buffer.delta_ports import Arriving, SlotDeltas
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.cnn_merp.cu_bench import joined

BYTE_BITS = 8


class Use(NamedTuple):
    """A slot: one cycle in which the reader uses a word of a position.

    Attributes:
        position, word: the position, and the word of it.
        opening: whether the gradients of the slot start from zero.
        ports: values of the slot's other ports.
        credits: number of pulses of ``filled`` that must precede the slot.
        waits: whether a gap is allowed between the previous slot and this one.
    """

    position: int
    word: int
    opening: bool
    ports: dict[str, int]
    credits: int
    waits: bool


@dataclass
class DeltaRun:
    """A run: m words at each position of ``size`` (images, rows, columns), each used n times.

    Attributes:
        offer: probability per cycle that a new word is offered.
        use: probability per cycle that a waiting slot is issued.
        delta_rest: value of the register ``config_delta_rest``.
        last: position of the word with ``last``; no word if it is out of range.
        reset_at: number of cycles from start to a reset.
    """

    design: EngineDesign
    m: int
    size: tuple[int, int, int]
    n: int
    seed: int
    offer: float = 1.0
    use: float = 1.0
    delta_rest: int = 0
    last: int | None = -1
    reset_at: int | None = None
    rng: Random = field(init=False)

    def __post_init__(self) -> None:
        """Draw the words."""
        self.rng = Random(self.seed)
        self.groups = -(-self.m // self.design.n_cu)
        images, rows, columns = self.size
        self.positions = images * rows * columns
        self.words = [self.rng.getrandbits(BYTE_BITS) for _ in range(self.positions * self.m)]
        if self.last is not None:
            found = self.last < len(self.words)
            self.last = self.last % len(self.words) if found else None

    def config(self) -> dict[str, int]:
        """Return the values of the registers that the buffers read."""
        images, rows, columns = self.size
        return {
            "config_images": images, "config_out_rows": rows, "config_out_columns": columns,
            "config_groups": self.groups,
            "config_last_cus": self.m - (self.groups - 1) * self.design.n_cu,
            "config_delta_rest": self.delta_rest,
        }  # fmt: skip

    def word(self, position: int, group: int) -> list[int]:
        """Return the valid elements of one word."""
        low = position * self.m + group * self.design.n_cu
        return self.words[low : min(low + self.design.n_cu, (position + 1) * self.m)]


Uses = Callable[[DeltaRun], Sequence[Use]]


class Driver:
    """Plays runs back to back, and records the expected outputs."""

    def __init__(self, runs: Sequence[DeltaRun], uses: Uses, idle: Sequence[str]) -> None:
        self.queue = list(runs)
        self.uses = uses
        self.rng = Random(len(runs))
        self.idle = idle  # ports of a slot that have no meaning while it is not valid
        self.run: DeltaRun | None = None
        self.expected: list[tuple[int, list[int], int]] = []  # cycle, word, opening
        self.transfers: list[tuple[int, int, int, int]] = []  # cycle, data, index, opening
        self.ends: list[int] = []
        self.slots: list[Use] = []
        self.credits: list[int] = []
        self.sent = self.since = self.tail = 0
        self.held = False

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle, from the outputs of the previous cycle."""
        if cycle < 2:
            return {"rst": int(cycle == 0)}
        noise = {name: self.rng.getrandbits(1) for name in self.idle}
        values = {"start": 0, "rst": 0, "slot_valid": 0} | noise
        run = self.run
        if run is not None:
            if seen["sink_valid"] and seen["sink_ready"]:
                index = self.sent % run.m
                opening = int(self.sent < run.m)
                self.transfers.append((cycle - 1, run.words[self.sent], index, opening))
                self.sent += 1
                self.held = False
            if seen["arriving_filled"]:
                self.credits.append(cycle - 1 + DELTA_ARRIVAL)
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
            self.credits = []
            self.slots = list(self.uses(run))
            return values | run.config() | {"start": 1, "sink_valid": 0}
        assert run is not None
        if not self.held and self.sent < len(run.words) and run.rng.random() < run.offer:
            self.held = True
            values |= {"sink_data": run.words[self.sent], "sink_last": int(self.sent == run.last)}
        values["sink_valid"] = int(self.held)
        if self.slots:
            use = self.slots[0]
            there = sum(at <= cycle for at in self.credits) >= use.credits
            if there and (not use.waits or run.rng.random() < run.use):
                self.slots.pop(0)
                word = run.word(use.position, use.word)
                self.expected.append((cycle + 1, word, int(use.opening)))
                return values | {"slot_valid": 1, **use.ports}
        return values


def arguments(slot: Any, design: EngineDesign) -> dict[str, Any]:
    """Create the arguments of a buffer that is read through ``slot``."""
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "config": GradientMapConfig(design),
        "sink": Stream(BYTE_BITS), "slot": slot,
        "operand": SlotDeltas(bits(BYTE_BITS * design.n_cu), flag()),
        "arriving": Arriving(flag(), DeltaElement(design), flag()), "design": design,
    }  # fmt: skip


def inputs_of(args: dict[str, Any]) -> tuple[str, ...]:
    """Return the ports of a buffer that ``Driver.drive`` sets."""
    config = tuple(f"config_{name}" for name in vars(args["config"]))
    ports = tuple(f"slot_{name}" for name in vars(args["slot"]))
    return ("rst", "start", *config, "sink_data", "sink_valid", "sink_last", *ports)


def play(
    block: Any,
    slot: Any,
    design: EngineDesign,
    runs: Sequence[DeltaRun],
    uses: Uses,
    idle: Sequence[str],
    cycles: int,
) -> tuple[Driver, Trace]:
    """Play runs back to back on a buffer; ``cycles`` must suffice for all of them."""
    driver = Driver(runs, uses, idle)
    args = arguments(slot, design)
    return driver, run_block(block, args, inputs_of(args), driver.drive, cycles, quick=True)


def check(driver: Driver, trace: Trace, begin: int = 0) -> None:
    """Check that all runs have ended, and that all reads and elements are correct.

    Each read must return its word in its cycle. Each accepted element must appear at
    ``arriving_element``. The check ignores events before cycle ``begin``.
    """
    assert driver.run is None, "the runs did not end"
    assert not driver.queue
    deltas, opening = trace.column("operand_deltas"), trace.column("operand_opening")
    expected = [item for item in driver.expected if item[0] > begin]
    assert expected
    for cycle, word, first in expected:
        assert deltas[cycle] & (1 << BYTE_BITS * len(word)) - 1 == joined(word, BYTE_BITS), cycle
        assert opening[cycle - 1] == first, cycle
    names = ("valid", "data", "index", "opening")
    columns = [trace.column(f"arriving_element_{name}") for name in names]
    told = [(t - 1, *row[1:]) for t, row in enumerate(zip(*columns, strict=True)) if row[0]]
    assert [item for item in told if item[0] >= begin] == [
        item for item in driver.transfers if item[0] >= begin
    ]
