"""A stream in registers: words in order, none lost, none twice, and none left by a clear."""

from random import Random

import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from merp.hdl.base.signals import bits
from merp.hdl.streams.stream_slice import stream_slice

INPUTS = ("clear", "data", "valid", "held_ready")
CYCLES = 300


BENCH = BlockBench(
    stream_slice, "clk clear valid ready held_valid held_ready", data=bits(8), held=bits(8)
)


def traffic(seed: int, given: float, taken: float) -> Drive:
    """Words of a source that holds what it offers, and a sink, each at a rate; first a clear."""
    rng = Random(seed)
    offered = {"valid": 0, "data": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if cycle < 2 or not offered["valid"] or seen["ready"]:
            offered.update(valid=int(rng.random() < given), data=rng.getrandbits(8))
        return {**offered, "clear": int(cycle == 0), "held_ready": int(rng.random() < taken)}

    return drive


def moved(trace: Recorded, data: str, valid: str, ready: str) -> list[int]:
    """Words that passed, after the clear."""
    rows = trace.columns(data, valid, ready)
    return [word for word, is_valid, is_ready in list(rows)[1:] if is_valid and is_ready]


def play(given: float, taken: float) -> Recorded:
    seed = int(100 * given + taken * 10)
    return BENCH.run(traffic(seed, given, taken), CYCLES)


@pytest.mark.parametrize("given", [0.3, 0.8, 1.1])
@pytest.mark.parametrize("taken", [0.3, 0.8, 1.1])
def test_words_pass_in_order(given: float, taken: float) -> None:
    trace = play(given, taken)
    came = moved(trace, "data", "valid", "ready")
    went = moved(trace, "held", "held_valid", "held_ready")
    assert came[: len(went)] == went
    assert len(came) - len(went) in (0, 1, 2)
    if min(given, taken) > 1:
        assert len(came) == CYCLES - 1  # a word per cycle
    held, valid, ready = (trace.column(name) for name in ("held", "held_valid", "held_ready"))
    for t in range(1, CYCLES - 1):
        assert not valid[t] or ready[t] or (valid[t + 1], held[t + 1]) == (1, held[t])


def test_a_clear_drops_both_words() -> None:
    """The sink stalls until both places are full, then comes a clear."""
    script = [(1, 0, 0, 0), (0, 1, 1, 0), (0, 2, 1, 0), (0, 3, 1, 0), (1, 3, 0, 0)]
    script += [(0, 0, 0, 1)] * 3 + [(0, 7, 1, 1)] + [(0, 0, 0, 1)] * 2
    trace = BENCH.run(lambda t, _: dict(zip(INPUTS, script[t], strict=True)), len(script))
    assert trace.column("ready")[2:6] == [1, 0, 0, 1]
    assert trace.column("held_valid") == [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0]
    assert trace.column("held")[9] == 7


def test_after_a_clear_it_is_as_new() -> None:
    def session(number: int) -> Drive:
        return traffic(number, 0.9, (0.3, 0.6)[number])

    BENCH.as_new_after_reset(session, range(1, 30), 40, "clear", payload={"held_valid": "held"})


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(play(0.8, 0.3)) == CYCLES
