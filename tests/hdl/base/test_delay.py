"""The delay line: every word, the same type, exactly as late as declared."""

from random import Random
from typing import Any

import pytest
from myhdl import Signal, intbv

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag


def signed(width: int) -> Any:
    return Signal(intbv(0, min=-(1 << width - 1), max=1 << width - 1))


KINDS = {
    "flag": flag,
    "1": lambda: bits(1),
    "7": lambda: bits(7),
    "32": lambda: bits(32),
    "80": lambda: bits(80),
    "signed": lambda: signed(6),
}


def check(kind: str, cycles: int) -> Recorded:
    d, q = KINDS[kind](), KINDS[kind]()
    width = len(d) or 1
    rng = Random(f"{kind} {cycles}")
    words = [rng.getrandbits(width) for _ in range(20 + cycles)]
    trace = BlockBench(delay, "clk", d=d, q=q, cycles=cycles).feed(d=words)
    assert trace.column("q") == [0] * cycles + words[:-cycles]
    return trace


@pytest.mark.parametrize("cycles", [1, 2, 3, 4, 23])
@pytest.mark.parametrize("kind", KINDS)
def test_delay(kind: str, cycles: int) -> None:
    check(kind, cycles)


def test_delay_rejects_no_cycles() -> None:
    with pytest.raises(ValueError, match="cycles must be 1 or more, not 0"):
        delay(Signal(bool(0)), flag(), flag(), 0)


@pytest.mark.sample(3)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("kind", "cycles"),
    [("flag", 1), ("flag", 2), ("flag", 9), ("1", 3), ("32", 1), ("32", 2), ("80", 5),
     ("signed", 4)],
)  # fmt: skip
def test_delay_vhdl(kind: str, cycles: int, replays: Replays) -> None:
    replays(check(kind, cycles))
