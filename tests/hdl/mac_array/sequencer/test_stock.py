"""What slots need of runs of pieces: every size that fits, up to the end of a pass."""

from itertools import product
from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import count, flag
from merp.hdl.mac_array.sequencer.sequencer_ports import RunMoves, RunPieces
from merp.hdl.mac_array.sequencer.stock import stock

MOST = 12
SIZES = [
    (run, first, stride)
    for run, first, stride in product((1, 2, 4, 12), (1, 2, 3, 12), (1, 3, 4, 12))
    if max(first, stride) <= run
]
MOVES = ("step", "rewind", "advance")
FLAGS = ("rst", "start", "arrived", *(f"moves_{name}" for name in MOVES))


@pytest.mark.sample(10)
@pytest.mark.parametrize(("run", "first", "stride"), SIZES)
def test_a_slot_has_what_it_needs_when_it_has_come(run: int, first: int, stride: int) -> None:
    rng = Random(f"{run} {first} {stride}")
    sizes = {"run_pieces": run, "run_first": first, "run_stride": stride}
    come, base, needed, fresh, expected = 0, 0, first, True, []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal come, base, needed, fresh
        flags = dict.fromkeys(FLAGS, 0)
        if cycle:
            expected.append(int(needed <= come))
        if cycle % 200 < 2:  # a pass is broken off, and another begins
            flags["rst" if cycle % 200 == 0 else "start"] = 1
            come, base, needed, fresh = 0, 0, first, True
            return flags | sizes
        flags["arrived"] = int(come < MOST and rng.random() < 0.3)
        move = rng.choice((*MOVES, None))
        come += flags["arrived"]
        over = base + run > MOST  # as after the last slot of a pass
        if over or (move == "advance" and (fresh or needed > come)):
            move = None
        fresh = move == "advance"
        if move is not None:
            flags[f"moves_{move}"] = 1
        if move == "advance":
            base += run
        needed = min(needed + stride, base + run) if move == "step" else (
            needed if move is None else base + first
        )  # fmt: skip
        return flags | sizes

    bench = BlockBench(
        stock, "clk rst start arrived there", runs=MOST // run, longest=run,
        run=RunPieces(pieces=count(MOST), first=count(MOST), stride=count(MOST)),
        moves=RunMoves(**{name: flag() for name in MOVES}),
    )  # fmt: skip
    trace = bench.run(drive, 1000)
    there = trace.column("there")
    told = [t for t in range(2, 999) if t % 200 > 1]
    assert [there[t] for t in told] == [expected[t - 1] for t in told]
    assert {there[t] for t in told} == {0, 1}
