"""Turns of reads and writes: their lengths, who gives way, resets and the VHDL."""

from collections.abc import Mapping
from itertools import groupby
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.memory.direction_turns import direction_turns
from merp.hdl.memory.requests import NumberedRequests
from merp.models.memory.params.memory_port import MemoryPort

PORT = MemoryPort(data_bits=64, burst_beats=16, turn_beats=40)
BENCH = BlockBench(
    direction_turns,
    "clk rst read_room write_room read_granted write_granted",
    reads=NumberedRequests(PORT),
    writes=NumberedRequests(PORT),
    port=PORT,
)


def play(reads: float, writes: float, room: float = 1.0, cycles: int = 600) -> Recorded:
    """Requests of random lengths that stay until they are granted, at these rates."""
    rng = Random(f"{reads} {writes} {room}")
    rates = {"read": reads, "write": writes}
    inputs = {f"{each}s_valid": 0 for each in rates} | {f"{each}s_length": 0 for each in rates}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        for name, rate in rates.items():
            if cycle and seen[f"{name}_granted"]:
                inputs[f"{name}s_valid"] = 0
            if not inputs[f"{name}s_valid"] and rng.random() < rate:
                inputs[f"{name}s_valid"] = 1
                inputs[f"{name}s_length"] = rng.randrange(PORT.burst_beats)
        rooms = {f"{name}_room": int(rng.random() < room) for name in rates}
        return {**inputs, **rooms, "rst": int(not cycle)}

    return BENCH.run(drive, cycles)


def turns(trace: Recorded) -> list[tuple[str, list[int]]]:
    """Direction of each turn, and the beats of its bursts."""
    granted = []
    for row in trace.columns("read_granted", "reads_length", "write_granted", "writes_length"):
        assert not (row[0] and row[2])
        granted += [("read", row[1] + 1)] * row[0] + [("write", row[3] + 1)] * row[2]
    return [
        (name, [beats for _, beats in each]) for name, each in groupby(granted, lambda it: it[0])
    ]


@pytest.mark.parametrize("room", [1.0, 0.6])
def test_a_turn_ends_once_it_has_its_beats(room: float) -> None:
    found = turns(play(1.0, 1.0, room))
    assert len(found) > 20
    for _, beats in found[:-1]:
        assert sum(beats) >= PORT.turn_beats > sum(beats[:-1])


@pytest.mark.parametrize("alone", [(1.0, 0.0), (0.0, 1.0)])
def test_a_direction_alone_keeps_its_turn(alone: tuple[float, float]) -> None:
    found = turns(play(*alone))
    assert len(found) == 1
    assert len(found[0][1]) >= 598


@pytest.mark.parametrize("rates", [(0.05, 1.0), (1.0, 0.05)])
def test_a_direction_without_requests_gives_way(rates: tuple[float, float]) -> None:
    trace = play(*rates)
    assert {name for name, _ in turns(trace)} == {"read", "write"}
    idle = [not any(row) for row in trace.columns("read_granted", "write_granted")]
    longest = max(len(list(each)) for high, each in groupby(idle) if high)
    assert longest <= 2, "at most the two cycles of a change and back"


def test_a_request_waits_at_most_a_turn() -> None:
    trace = play(0.3, 1.0)
    waits = [
        len(list(each))
        for held, each in groupby(
            trace.columns("reads_valid", "read_granted"), lambda row: row[0] and not row[1]
        )
        if held
    ]
    assert max(waits) <= PORT.turn_beats + 2


@pytest.mark.parametrize("room", ["read_room", "write_room"])
def test_nothing_is_granted_without_room(room: str) -> None:
    trace = play(1.0, 1.0, 0.4)
    granted = trace.columns(room, room.replace("room", "granted"))
    assert (0, 1) not in granted
    assert (1, 1) in granted


def test_a_reset_leaves_nothing_behind() -> None:
    flags = {"reads_valid": 1.0, "writes_valid": 1.0, "read_room": 0.8, "write_room": 0.8}
    session = at_random(flags, {"reads_length": 4, "writes_length": 4}, pulses={"rst": 0})
    BENCH.as_new_after_reset(session, range(3, 40, 3), 60)


@pytest.mark.ghdl
def test_direction_turns_vhdl(replays: Replays) -> None:
    replays(play(0.6, 0.7, 0.8), lint=True)
