"""Random bits of stochastic rounding: against a register of single bits, and on average."""

from itertools import product

import fixed_loops
import numpy as np
import pytest

from merp.models.arithmetic.random_bits import pass_seed, random_bits


@pytest.mark.parametrize("seed", [0, 1, (1 << 30) - 1, 0x2545F491 & 0x3FFFFFFF])
def test_sixteen_steps_at_once_are_sixteen_steps(seed: int) -> None:
    found = random_bits(seed, 300, 64)
    for lane in range(64):
        state = seed ^ ((lane + 1) * 0x2545F491 % 2**31 | 1 << 30)
        for beat in range(300):
            assert state != 0
            state, bits = fixed_loops.serial_bits(state)
            assert found[beat, lane] == bits


def test_lanes_and_seeds_differ_and_equal_seeds_are_equal() -> None:
    first = random_bits(7, 100, 16)
    assert (first == random_bits(7, 100, 16)).all()
    assert (first != random_bits(8, 100, 16)).any(axis=0).all()
    assert len({tuple(lane) for lane in first.T.tolist()}) == 16


def test_a_seed_register_is_of_run_step_and_layer() -> None:
    places = product((0, 1), (0, 1), ("a", "b"))
    seeds = {pass_seed(run, step, layer) for run, step, layer in places}
    assert len(seeds) == 8
    assert all(0 <= seed < 1 << 30 for seed in seeds)
    assert pass_seed(1, 2, "conv1") == pass_seed(1, 2, "conv1")
    with pytest.raises(ValueError, match="seed must be 0 to 1073741823, not 1073741824"):
        random_bits(1 << 30, 1, 4)


def test_bits_are_even() -> None:
    bits = random_bits(3, 20_000, 16).reshape(-1).astype(np.int64)
    deviation = 65536 / np.sqrt(12 * bits.size)
    assert abs(bits.mean() - 65535 / 2) < 4 * deviation
