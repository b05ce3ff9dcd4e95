"""Fields out of bytes: bits, rate, and a start that drops what is left."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import bits, count
from merp.hdl.streams.bit_unpacker import bit_unpacker


def play(widest: int, runs: list[int], offer: tuple[int, ...], wish: tuple[int, ...]) -> Recorded:
    """Runs with fields of so many bits, 150 cycles each; fields are checked as they are taken."""
    bench = BlockBench(
        bit_unpacker, "clk start data_valid data_ready field_valid take", data=bits(8),
        field_bits=count(widest), field=bits(widest),
    )  # fmt: skip
    rng = np.random.default_rng(widest)
    streams = [rng.integers(0, 256, 200, np.uint8) for _ in runs]
    sent = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal sent
        run, since = divmod(cycle, 150)
        if since == 0:
            sent = 0
            return {"start": 1, "field_bits": runs[run], "data_valid": 0, "take": 0}
        sent += seen["data_valid"] and seen["data_ready"]
        if seen["data_valid"] and not seen["data_ready"]:
            valid = 1
        else:
            valid = offer[cycle % len(offer)]
        # field_valid is only known once the cycle has begun: what is there surely is taken.
        held = 8 * sent - taken[run] * runs[run]
        take = int(wish[cycle % len(wish)] and held >= runs[run])
        if take:
            bit = taken[run] * runs[run]
            text = np.unpackbits(streams[run], bitorder="little")[bit : bit + runs[run]]
            wanted.append((cycle, int(sum(int(b) << i for i, b in enumerate(text)))))
            taken[run] += 1
        return {"start": 0, "data_valid": valid, "data": int(streams[run][sent]), "take": take}

    taken = [0] * len(runs)
    wanted: list[tuple[int, int]] = []
    trace = bench.run(drive, 150 * len(runs))
    fields, valid = trace.column("field"), trace.column("field_valid")
    assert all(valid[cycle] for cycle, _ in wanted)
    assert [fields[cycle] for cycle, _ in wanted] == [field for _, field in wanted]
    assert all(taken)
    return trace


@pytest.mark.parametrize("widest", [2, 3, 5, 9])
@pytest.mark.parametrize("seed", range(2))
def test_fields_are_the_bits_in_order(widest: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    offer, wish = ((*(int(b) for b in rng.random(19) < share), 1) for share in (0.4, 0.7))
    play(widest, list(range(1, widest + 1)), offer, wish)


@pytest.mark.parametrize("widest", [2, 5, 8, 9])
def test_a_field_per_cycle(widest: int) -> None:
    """Fields of up to 8 bits follow each other without a gap; wider ones take a byte per cycle."""
    trace = play(widest, list(range(1, widest + 1)), (1,), (1,))
    for run in range(widest):
        took = trace.column("take")[150 * run : 150 * (run + 1)]
        assert sum(took) == (148 if run < 8 else 148 * 8 // 9)


def test_a_field_of_no_bits_is_always_there() -> None:
    trace = play(3, [2, 0, 3], (1, 0), (1, 1, 0))
    assert all(trace.column("field_valid")[151:300])
    assert not any(trace.column("field")[151:300])


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("widest", [2, 9])
def test_vhdl_replays(widest: int, replays: Replays) -> None:
    replays(play(widest, [0, 1, widest], (1, 1, 0), (1, 1, 1, 0)), lint=True)
