"""Random bits against a register that is shifted bit by bit; seeds, pauses, lanes."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded
from merp.hdl.base.signals import bits
from merp.hdl.mac_array.update.random_bits import random_bits
from merp.models.machines.mac_array.params.words import RANDOM_BITS, SEED_BITS, lane_constant

LANES = 4


class BitSerial:
    """x^31 + x^3 + 1, a bit at a time: the new bit is that of 31 steps ago and of 28 ago."""

    def __init__(self, state: int) -> None:
        self.history = [state >> 30 - i & 1 for i in range(31)]  # the oldest bit first

    def draw(self) -> int:
        for _ in range(RANDOM_BITS):
            self.history.append(self.history[-31] ^ self.history[-28])
        return int("".join(map(str, self.history[-RANDOM_BITS:])), 2)


def run(seed: int, cycles: int, rng: Random) -> Recorded:
    bench = BlockBench(
        random_bits, "clk start advance", seed=bits(SEED_BITS), drawn=bits(LANES * RANDOM_BITS)
    )
    return bench.run(
        lambda t, _: {
            "start": int(t == 1),
            "advance": int(t > 2 and rng.random() < 0.7),
            "seed": seed,
        },
        cycles,
    )


@pytest.mark.parametrize("seed", [0, 1, (1 << SEED_BITS) - 1, 0x155A3])
def test_every_lane_is_a_register_of_its_own(seed: int) -> None:
    trace = run(seed, 120, Random(seed))
    registers = [BitSerial(lane_constant(b) ^ seed) for b in range(LANES)]
    drawn = [each.draw() for each in registers]
    for t in range(3, 120):
        words = [trace.column("drawn")[t] >> RANDOM_BITS * b & 0xFFFF for b in range(LANES)]
        assert words == drawn, t
        if trace.column("advance")[t]:
            drawn = [each.draw() for each in registers]


def test_seeds_tell_passes_apart_and_no_register_is_zero() -> None:
    seen = [run(seed, 40, Random(1)).column("drawn") for seed in (3, 3, 4)]
    assert seen[0] == seen[1] != seen[2]
    assert all(lane_constant(b) >> SEED_BITS == 1 for b in range(64))
