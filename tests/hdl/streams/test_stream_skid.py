"""A ready from a register: words in order, at once, none lost, none twice, none left by a clear."""

from random import Random

import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.streams.stream_skid import stream_skid

INPUTS = ("clear", "sink_data", "sink_valid", "sink_last", "source_ready")
CYCLES = 300


BENCH = BlockBench(stream_skid, "clk clear", sink=Stream(8), source=Stream(8))


def traffic(seed: int, given: float, taken: float) -> Drive:
    """Words of a source that holds what it offers, and a sink, each at a rate; first a clear."""
    rng = Random(seed)
    offered: dict[str, int] = {}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal offered
        if cycle < 2 or not offered["sink_valid"] or seen["sink_ready"]:
            offered = {
                "sink_valid": int(cycle > 0 and rng.random() < given),
                "sink_data": rng.getrandbits(8), "sink_last": rng.getrandbits(1),
            }  # fmt: skip
        return {**offered, "clear": int(cycle == 0), "source_ready": int(rng.random() < taken)}

    return drive


def play(given: float, taken: float) -> Recorded:
    seed = int(100 * given + taken * 10)
    return BENCH.run(traffic(seed, given, taken), CYCLES)


def rows(trace: Recorded, stream: str) -> list[tuple[int, int, int, int]]:
    """Valid, ready, word and last of each cycle behind the clear."""
    return trace.stream(stream)[1:]


@pytest.mark.parametrize("given", [0.3, 0.8, 1.1])
@pytest.mark.parametrize("taken", [0.3, 0.8, 1.1])
def test_words_pass_in_order_and_at_once(given: float, taken: float) -> None:
    trace = play(given, taken)
    came: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []  # taken, and not yet handed on
    for sink, source in zip(rows(trace, "sink"), rows(trace, "source"), strict=True):
        assert sink[1] == (not waiting)
        if sink[0] and sink[1]:
            came.append(sink[2:])
            waiting.append(sink[2:])
        assert source[0] == bool(waiting)
        if waiting:
            assert source[2:] == waiting[0]
            if source[1]:
                waiting.pop(0)
    assert len(came) > CYCLES * min(given, taken, 1) / 2
    if min(given, taken) > 1:
        assert len(came) == CYCLES - 1  # a word per cycle


def test_a_clear_drops_the_kept_word() -> None:
    script = [(1, 0, 0, 0, 0), (0, 1, 1, 0, 0), (0, 2, 1, 1, 0), (1, 2, 1, 1, 0), (0, 3, 0, 0, 1)]
    trace = BENCH.run(lambda t, _: dict(zip(INPUTS, script[t], strict=True)), len(script))
    assert trace.column("sink_ready")[1:] == [1, 0, 0, 1]
    assert trace.column("source_valid") == [0, 1, 1, 1, 0]
    assert trace.column("source_data")[1:4] == [1, 1, 1]


def test_after_a_clear_it_is_as_new() -> None:
    def session(number: int) -> Drive:
        return traffic(number, 0.9, (0.3, 0.6)[number])

    payload = {"source_valid": "source_data source_last"}
    BENCH.as_new_after_reset(session, range(1, 30), 40, "clear", payload=payload)


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(play(0.8, 0.5)) == CYCLES
