"""The rule of positions that start at partial sums: when they are there, and where, every cycle."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import count
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.windows import OriginChoice, WindowSlots
from merp.hdl.cnn_merp.sequencer.origin_issue import origin_issue
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.models.machines.cnn_merp.params.design import EngineDesign

PINS = (
    "rst", "start", "config_groups", "partial_wanted", "partial_filled", "window_arrived",
    "window_first_map", "slots_opens", "slots_leaves", "cu_group",
)  # fmt: skip


def design_for(p: int) -> EngineDesign:
    return EngineDesign(
        k=1, n_cu=1, r=1, p=p, groups=3, kernel_words=6, row_words=4, max_size=4, max_maps=2,
        fifo_words=3, partial=True,
    )  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        origin_issue, "clk rst start", slots=WindowSlots(), config=MapConfig(design),
        partial=PartialSums(), window=NextWindow(design), cu_group=count(design.groups),
        choice=OriginChoice(design), design=design,
    )  # fmt: skip


class Rule:
    """The same, from the block's page, and windows that are issued when they have arrived."""

    def __init__(self, design: EngineDesign, groups: int, wanted: bool, rng: Random) -> None:
        self.design, self.groups, self.wanted, self.rng = design, groups, wanted, rng
        self.there = 0  # words that no position has taken
        self.positions = 0  # whose first window is over
        self.slot = 0  # of the window that is under way
        self.first = False

    def cycle(self) -> tuple[dict[str, int], dict[str, int]]:
        """What a cycle has on the pins, and what comes of it."""
        chance = self.rng.random
        midway = self.slot != 0
        self.first = self.first if midway else chance() < 0.5
        known = chance() < 0.8
        enough = self.there >= self.groups
        arrived = known and (enough or not self.wanted or not self.first)
        fires = midway or (arrived and chance() < 0.7)
        # A place is the position's, or that of biases.
        base = self.positions * self.design.groups % self.design.origins if self.wanted else 0
        filled = self.wanted and self.there < self.design.origins - 1 and chance() < 0.5
        opens, leaves = fires and not midway, fires and self.slot == self.groups - 1
        pins = {
            "config_groups": self.groups, "partial_wanted": self.wanted, "partial_filled": filled,
            "window_arrived": known, "window_first_map": self.first, "slots_opens": opens,
            "slots_leaves": leaves, "cu_group": self.slot,
        }  # fmt: skip
        told = {"choice_arrived": int(arrived), "choice_origin": base + self.slot}
        self.there += filled - self.groups * (opens and self.first and self.wanted)
        self.positions += leaves and self.first
        self.slot = 0 if leaves else self.slot + fires
        return {name: int(value) for name, value in pins.items()}, told


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_position_starts_when_its_sums_are_there(p: int, seed: int) -> None:
    """Runs of 70 cycles, each broken off by the next: credits and places are left over."""
    design, rng = design_for(p), Random(seed)
    rule = Rule(design, 1, False, rng)
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal rule
        if cycle % 70 == 0:
            rule = Rule(design, rng.randint(1, 3), cycle % 210 != 140, rng)
            wanted.append({})
            quiet = dict.fromkeys(PINS, 0)
            return quiet | {
                "start": int(cycle > 0), "rst": int(cycle == 0), "config_groups": rule.groups,
                "partial_wanted": int(rule.wanted),
            }  # fmt: skip
        if cycle < 70:
            wanted.append({})
            return {"rst": 0, "partial_filled": int(cycle < 3)}
        pins, told = rule.cycle()
        wanted.append(told)
        return {**pins, "start": 0}

    trace = bench_for(design).run(drive, 700)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"


def test_a_reset_forgets_partial_sums() -> None:
    """They may be there before the first start."""
    always = {"config_groups": 1, "partial_wanted": 1, "window_arrived": 1, "window_first_map": 1}

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return {**always, "rst": int(cycle == 5), "partial_filled": int(cycle == 1)}

    arrived = bench_for(design_for(1)).run(drive, 10).column("choice_arrived")
    assert arrived[3:6] == [1] * 3
    assert arrived[7:] == [0] * 3
