"""The rule of slots whose sums accumulate over input maps: every verdict, in every cycle."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.windows import SlotWalk
from merp.hdl.cnn_merp.sequencer.accumulator_issue import accumulator_issue
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.models.machines.cnn_merp.params.design import EngineDesign

FLAGS = {
    "walk_busy": 0.9, "walk_midway": 0.2, "credit": 0.6, "window_arrived": 0.8,
    "window_first_map": 0.3, "window_last_map": 0.5,
}  # fmt: skip
CAUSES = ("fire", "verdict_stall_input", "verdict_stall_output", "verdict_stall_hazard")


def design_for(p: int) -> EngineDesign:
    return EngineDesign(
        k=1, n_cu=1, r=1, p=p, groups=2, kernel_words=6, row_words=4, max_size=4, max_maps=2,
        fifo_words=5, mul_latency=1, add_latency=2,
    )  # fmt: skip


class Rule:
    """The same, from the block's page; ``since`` are cycles since the last window of each lane."""

    def __init__(self, design: EngineDesign, groups: int, since: list[int]) -> None:
        self.design, self.groups, self.since = design, groups, since
        self.credits = design.fifo_words

    def decide(self, values: dict[str, int]) -> dict[str, int]:
        lane = values["window_lane"]
        cause = ""
        if values["walk_busy"]:
            if values["walk_midway"]:
                cause = "fire"
            elif not values["window_arrived"]:
                cause = "verdict_stall_input"
            elif values["window_last_map"] and self.credits < self.groups:
                cause = "verdict_stall_output"
            elif (
                not values["window_first_map"] and self.since[lane] < self.design.accumulate_latency
            ):
                cause = "verdict_stall_hazard"
            else:
                cause = "fire"
        told = {name: int(name == cause) for name in CAUSES}
        free = self.credits == self.design.fifo_words
        told["verdict_idle"] = int(not values["walk_busy"] and free)
        self.credits += values["credit"]
        opens = cause == "fire" and not values["walk_midway"]
        if opens and values["window_last_map"]:
            self.credits -= self.groups
        self.since[:] = [cycles + 1 for cycles in self.since]
        if opens:
            self.since[lane] = 1
        return told


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        accumulator_issue, "clk rst start credit fire", walk=SlotWalk(False),
        config=MapConfig(design), window=NextWindow(design), verdict=Verdict(design),
        design=design,
    )  # fmt: skip


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_every_verdict(p: int, seed: int) -> None:
    """Runs of 60 cycles; the last one's sums may still be on their way when the next begins."""
    design = design_for(p)
    rng = Random(seed)
    since = [100] * p
    rule = Rule(design, 1, since)
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal rule
        values = {name: int(rng.random() < rate) for name, rate in FLAGS.items()}
        values["window_lane"] = rng.randrange(p)
        begins = cycle % 60 == 10  # before it, as at power-up, no window was issued
        if cycle < 10:
            values |= {"walk_busy": 0}
        if begins:
            rule = Rule(design, rng.randint(1, 2), since)
            values |= {"config_groups": rule.groups}
        values["credit"] &= rule.credits < design.fifo_words
        told = {} if cycle < 10 else rule.decide(values)
        if begins:
            rule.credits = design.fifo_words
        wanted.append({} if begins else told)
        return {
            "rst": int(cycle == 0),
            "start": int(begins),
            **values,
            "walk_busy": values["walk_busy"],
        }

    trace = bench_for(design).run(drive, 600)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"


def test_after_a_reset_every_place_is_free() -> None:
    trace = bench_for(design_for(1)).run(lambda cycle, _: {"rst": int(cycle == 2)}, 5)
    assert trace.column("verdict_idle") == [0, 0, 0, 1, 1]
