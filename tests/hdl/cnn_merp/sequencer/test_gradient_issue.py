"""The rule of slots whose gradients accumulate over positions: every verdict, in every cycle."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.windows import SlotWalk
from merp.hdl.cnn_merp.sequencer.gradient_issue import gradient_issue
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.models.machines.cnn_merp.params.design import EngineDesign

DESIGN = EngineDesign(
    k=1, n_cu=1, r=1, groups=3, kernel_words=6, row_words=4, max_size=4, max_maps=2, fifo_words=3,
    mul_latency=1, add_latency=2,
)  # fmt: skip
FLAGS = {
    "walk_busy": 0.8, "walk_midway": 0.3, "walk_ends_window": 0.6, "filled": 0.5,
    "window_arrived": 0.8, "window_first_map": 0.6, "window_last_map": 0.6,
}  # fmt: skip
CAUSES = ("fire", "verdict_stall_input", "verdict_stall_hazard", "verdict_stall_output")


class Rule:
    """The same, from the block's page."""

    def __init__(self, groups: int, rest: int) -> None:
        self.groups, self.rest = groups, rest
        self.credits = self.waits = 0

    def decide(self, values: dict[str, int]) -> dict[str, int]:
        first = values["window_first_map"]
        cause = ""
        if values["walk_busy"]:
            if values["walk_midway"]:
                cause = "fire"
            elif not values["window_arrived"] or (first and self.credits < self.groups):
                cause = "verdict_stall_input"
            else:
                cause = "verdict_stall_hazard" if first and self.waits else "fire"
        told = {name: int(name == cause) for name in CAUSES}
        told["verdict_idle"] = int(not values["walk_busy"] and self.credits == 0)
        self.credits += values["filled"]
        if cause == "fire" and first and not values["walk_midway"]:
            self.credits -= self.groups
        self.waits = max(0, self.waits - 1)
        if cause == "fire" and values["walk_ends_window"] and values["window_last_map"]:
            self.waits = self.rest
        return told


@pytest.mark.parametrize("seed", range(4))
def test_every_verdict(seed: int) -> None:
    """Runs of 60 cycles; each begins with credits and a rest left over from the one before."""
    bench = BlockBench(
        gradient_issue, "clk rst start filled fire", walk=SlotWalk(True),
        config=GradientMapConfig(DESIGN), window=NextWindow(DESIGN), verdict=Verdict(DESIGN),
        design=DESIGN,
    )  # fmt: skip
    rng = Random(seed)
    rule = Rule(1, 0)
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal rule
        values = {name: int(rng.random() < rate) for name, rate in FLAGS.items()}
        begins = cycle % 60 == 0
        if begins:
            rule = Rule(rng.randint(1, 3), rng.randint(0, 4))
            values |= {"walk_busy": 0, "config_groups": rule.groups, "config_rest": rule.rest}
        values["filled"] &= rule.credits < 2 * rule.groups
        wanted.append({} if begins else rule.decide(values))
        return {"rst": 0, "start": int(begins), **values}

    trace = bench.run(drive, 600)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"


def test_a_reset_forgets_deltas() -> None:
    """They are counted while no run is under way, as a reset may come behind the last start."""
    bench = BlockBench(
        gradient_issue, "clk rst start filled fire", walk=SlotWalk(True),
        config=GradientMapConfig(DESIGN), window=NextWindow(DESIGN), verdict=Verdict(DESIGN),
        design=DESIGN,
    )  # fmt: skip
    script = [(0, 0), (0, 1), (0, 0), (1, 0), (0, 0)]
    trace = bench.run(
        lambda cycle, _: dict(zip(("rst", "filled"), script[cycle], strict=True)), len(script)
    )
    assert trace.column("verdict_idle") == [1, 1, 0, 0, 1]
