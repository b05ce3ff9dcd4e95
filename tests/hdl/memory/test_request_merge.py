"""Requests of two sides: each is handed on once, in turn, unchanged; resets and the VHDL."""

from collections.abc import Mapping
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.memory.request_merge import request_merge
from merp.hdl.memory.requests import NumberedRequests
from merp.models.memory.params.memory_port import MemoryPort

PORT = MemoryPort(data_bits=64)
SIDES = ("one", "other")
FIELDS = ("stream", "address", "length")
BENCH = BlockBench(
    request_merge, "clk rst", **{name: NumberedRequests(PORT) for name in (*SIDES, "merged")}
)


def play(one: float, other: float, taken: float = 1.0, cycles: int = 200) -> Recorded:
    """Random requests that stay until they are taken, at these rates."""
    rng = Random(f"{one} {other} {taken}")
    rates = {"one": one, "other": other}
    inputs = {f"{name}_{field}": 0 for name in SIDES for field in (*FIELDS, "valid")}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        for name, rate in rates.items():
            if cycle and seen[f"{name}_valid"] and seen[f"{name}_ready"]:
                inputs[f"{name}_valid"] = 0
            if cycle and not inputs[f"{name}_valid"] and rng.random() < rate:
                drawn = (rng.getrandbits(4), rng.getrandbits(29), rng.getrandbits(6))
                inputs.update(zip((f"{name}_{field}" for field in FIELDS), drawn, strict=True))
                inputs[f"{name}_valid"] = 1
        return {**inputs, "merged_ready": int(rng.random() < taken), "rst": int(not cycle)}

    return BENCH.run(drive, cycles)


def transfers(trace: Recorded, name: str) -> list[tuple[int, tuple[int, ...]]]:
    names = [f"{name}_{field}" for field in ("valid", "ready", *FIELDS)]
    return [
        (cycle, row[2:])
        for cycle, row in enumerate(trace.columns(*names))
        if cycle and row[0] and row[1]
    ]


@pytest.mark.parametrize("rates", [(0.5, 0.5, 1.0), (1.0, 0.2, 0.6), (0.1, 1.0, 0.8)])
def test_each_request_is_handed_on_once(rates: tuple[float, float, float]) -> None:
    trace = play(*rates)
    sides = sorted(transfers(trace, "one") + transfers(trace, "other"))
    assert transfers(trace, "merged") == sides
    assert len(sides) > 60


def test_two_sides_take_turns() -> None:
    trace = play(1.0, 1.0)
    assert trace.column("one_ready")[2:40] == [0, 1] * 19 or (
        trace.column("one_ready")[2:40] == [1, 0] * 19
    )
    assert len(transfers(trace, "merged")) == 199


@pytest.mark.parametrize(("name", "rates"), [("one", (1.0, 0.0)), ("other", (0.0, 1.0))])
def test_a_side_alone_never_waits(name: str, rates: tuple[float, float]) -> None:
    assert len(transfers(play(*rates), name)) == 199


def test_a_reset_gives_the_turn_to_one() -> None:
    flags = {"one_valid": 0.8, "other_valid": 0.8, "merged_ready": 0.7}
    session = at_random(flags, {"one_address": 20, "other_address": 20}, pulses={"rst": 0})
    BENCH.as_new_after_reset(session, range(3, 20), 30)


@pytest.mark.ghdl
def test_request_merge_vhdl(replays: Replays) -> None:
    replays(play(0.6, 0.7, 0.8), lint=True)
