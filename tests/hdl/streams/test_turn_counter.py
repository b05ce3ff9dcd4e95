"""Turns of two on one stream: so many words each, whenever they come."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import bits
from merp.hdl.streams.turn_counter import turn_counter


def play(words: int, seed: int, cut: str | None = None, cycles: int = 160) -> Recorded:
    """Words now and then; in the middle of a turn a start, or a reset and a start."""
    bench = BlockBench(turn_counter, "clk rst start taken second turn_ends", words=bits(3))
    rng = Random(seed)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        again = cycle == 50 if cut == "start" else cut == "rst" and cycle == 52
        idle = cycle <= 1 or (cut == "rst" and 50 <= cycle <= 52)
        return {
            "rst": int(cycle == 0 or (cut == "rst" and cycle == 50)),
            "start": int(cycle == 1 or again),
            "words": words,
            "taken": int(not idle and rng.random() < 0.7),
        }

    return bench.run(drive, cycles)


@pytest.mark.parametrize("cut", [None, "start", "rst"])
@pytest.mark.parametrize("words", range(1, 8))
def test_each_has_as_many_words_in_turn(words: int, cut: str | None) -> None:
    trace = play(words, words, cut)
    passed = 0
    columns = (trace.column(name) for name in ("rst", "start", "taken", "second", "turn_ends"))
    running = False
    for rst, start, taken, second, ends in list(zip(*columns, strict=True))[1:]:
        assert second == passed // words % 2
        assert not running or ends == (passed % words == words - 1)
        passed = 0 if rst or start else passed + taken
        running = (running or start) and not rst
    assert passed > 2 * words


@pytest.mark.ghdl
def test_vhdl_does_the_same(replays: Replays) -> None:
    replays(play(3, 1, "start"))
