"""Golden FP, DP and KU in fixed point against loops over exact integers."""

from dataclasses import replace
from itertools import product

import fixed_loops
import numpy as np
import pytest

from merp.models.arithmetic.fixed import Words
from merp.models.arithmetic.random_bits import random_bits
from merp.models.machines.mac_array.fixed_delta import delta, expanded
from merp.models.machines.mac_array.fixed_forward import forward
from merp.models.machines.mac_array.fixed_update import (
    accumulated,
    bits_of_update,
    increments,
    updated,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array

LAYERS = [
    {"inputs": 2, "outputs": 3, "rows": 6, "columns": 5, "kernel": 3, "pad": 1, "pool": 2},
    {"inputs": 3, "outputs": 2, "rows": 7, "columns": 9, "kernel": 3, "stride": 2, "pad": 0},
    {"inputs": 1, "outputs": 5, "rows": 9, "columns": 8, "kernel": 5, "stride": 4, "pad": 2},
    {"inputs": 4, "outputs": 3, "rows": 1, "columns": 1, "kernel": 1, "relu": False},
    {"inputs": 2, "outputs": 2, "rows": 4, "columns": 4, "kernel": 4, "relu": False},
    {"inputs": 2, "outputs": 2, "rows": 11, "columns": 10, "kernel": 2, "pad": 1, "pool": 4},
    {"inputs": 2, "outputs": 3, "rows": 6, "columns": 5, "kernel": 3, "pool": 2, "limit": 6 << 4},
    {"inputs": 3, "outputs": 3, "rows": 5, "columns": 4, "kernel": 2, "limit": 6 << 12},
]
SHIFTS = (-15, -1, 0, 7, 13, 16, 30)
EXTREME = -32768


def words(generator: np.random.Generator, *size: int) -> Words:
    """Mostly small ones, so that ties and both bounds are met; some extreme."""
    bits = generator.integers(0, 16, size)
    found = generator.integers(-32768, 32768, size) >> bits
    return np.where(generator.random(size) < 0.05, EXTREME, found).astype(np.int16)


def maps_of(images: Words, image: int) -> fixed_loops.Maps:
    return images[image].transpose(2, 0, 1).tolist()


CASES = [
    (
        ArrayPass(
            phase="fp",
            shift=SHIFTS[(i + j) % len(SHIFTS)],
            bias_shift=(5 * i + j) % 16,
            **layer,
        ),
        [i, j],
    )
    for i, layer in enumerate(LAYERS)
    for j in range(4)
]


@pytest.mark.parametrize(("of", "seed"), CASES)
def test_forward(of: ArrayPass, seed: list[int]) -> None:
    generator = np.random.default_rng(seed)
    maps = words(generator, 2, of.rows, of.columns, of.inputs)
    kernels = words(generator, of.outputs, of.inputs, of.kernel, of.kernel)
    biases = words(generator, of.outputs)
    found = forward(of, maps, kernels, biases)
    clipped = 0
    for image in range(2):
        raw = fixed_loops.sums(
            maps_of(maps, image), kernels.tolist(), [int(b) << of.bias_shift for b in biases],
            of.kernel, of.stride, of.pad, (of.out_rows, of.out_columns),
        )  # fmt: skip
        rounded = [[[fixed_loops.nearest(v, of.shift) for v in r] for r in m] for m in raw]
        clipped += sum(v != fixed_loops.clip(v) for m in rounded for r in m for v in r)
        least = 0 if of.relu else EXTREME
        most = of.limit if of.relu else -EXTREME
        y = [[[min(max(least, fixed_loops.clip(v)), most) for v in r] for r in m] for m in rounded]
        best, places = fixed_loops.pooled(y, of.pool)
        assert maps_of(found.sums, image) == y
        assert maps_of(found.maps, image) == best
        assert maps_of(found.places, image) == places
        mask = [[[0 < v < of.limit or not of.relu for v in r] for r in m] for m in best]
        assert maps_of(found.mask, image) == mask
    assert found.clipped == clipped


@pytest.mark.parametrize(("of", "seed"), CASES)
def test_delta(of: ArrayPass, seed: list[int]) -> None:
    generator = np.random.default_rng([9, *seed])
    of = replace(of, phase="dp")
    pooled = words(generator, 2, of.pooled_rows, of.pooled_columns, of.outputs)
    places = generator.integers(0, of.pool**2, pooled.shape).astype(np.uint8)
    kernels = words(generator, of.outputs, of.inputs, of.kernel, of.kernel)
    mask = generator.random((2, of.rows, of.columns, of.inputs)) < 0.5
    sums = expanded(of, pooled, places)
    wanted = np.zeros_like(sums)
    for image, y, x, f in np.ndindex(pooled.shape):
        down, across = divmod(int(places[image, y, x, f]), of.pool)
        wanted[image, y * of.pool + down, x * of.pool + across, f] = pooled[image, y, x, f]
    assert (sums == wanted).all()
    found = delta(of, sums, kernels, mask)
    clipped = 0
    for image in range(2):
        raw = fixed_loops.delta_sums(
            maps_of(sums, image), kernels.tolist(), of.kernel, of.stride, of.pad,
            (of.rows, of.columns),
        )  # fmt: skip
        rounded = [[[fixed_loops.nearest(v, of.shift) for v in r] for r in m] for m in raw]
        clipped += sum(v != fixed_loops.clip(v) for m in rounded for r in m for v in r)
        exact = np.vectorize(fixed_loops.clip)(np.array(rounded))
        assert (found.maps[image] == np.where(mask[image], exact.transpose(1, 2, 0), 0)).all()
    assert found.clipped == clipped


@pytest.mark.parametrize(("of", "seed"), CASES)
def test_gradients_are_added_image_by_image(of: ArrayPass, seed: list[int]) -> None:
    generator = np.random.default_rng([8, *seed])
    of = replace(of, phase="ku", bias_shift=of.bias_shift - 8)
    maps = words(generator, 3, of.rows, of.columns, of.inputs)
    deltas = words(generator, 3, of.out_rows, of.out_columns, of.outputs)
    each = increments(of, maps, deltas)
    kernels, biases = accumulated(each.kernels), accumulated(each.biases)
    clipped = 0
    for f, i, ky, kx in product(
        range(of.outputs), range(of.inputs), range(of.kernel), range(of.kernel)
    ):
        gradient = 0
        for image in range(3):
            total = fixed_loops.gradient_sum(
                maps_of(maps, image), maps_of(deltas, image), f, i, ky, kx, of.stride, of.pad
            )
            total = gradient + fixed_loops.nearest(total, of.shift)
            gradient = fixed_loops.clip(total)
            clipped += total != gradient
        assert kernels.words[f, i, ky, kx] == gradient
    assert kernels.clipped == clipped
    for f in range(of.outputs):
        gradient = 0
        for image in range(3):
            total = fixed_loops.nearest(
                int(deltas[image, ..., f].sum(dtype=np.int64)), of.bias_shift
            )
            gradient = fixed_loops.clip(gradient + total)
        assert biases.words[f] == gradient
    first = accumulated(each.kernels[:1])
    again = accumulated(each.kernels[1:], first)
    assert (again.words == kernels.words).all()
    assert again.clipped == kernels.clipped


def update_pass(**changes: object) -> ArrayPass:
    usual = {
        "phase": "ku", "inputs": 1, "outputs": 1, "rows": 1, "columns": 1, "kernel": 1,
        "rate": 40000, "momentum": 58982, "velocity_shift": 2, "update_shift": 20,
    }  # fmt: skip
    return ArrayPass(**(usual | changes))


@pytest.mark.parametrize("velocity_shift", [-15, 0, 2, 15])
@pytest.mark.parametrize("update_shift", [0, 1, 12, 16, 17, 30, 47])
@pytest.mark.parametrize("momentum", [0, 1, 58982, 65535])
def test_update(momentum: int, update_shift: int, velocity_shift: int) -> None:
    generator = np.random.default_rng([momentum, update_shift, velocity_shift + 15])
    of = update_pass(
        momentum=momentum, update_shift=update_shift, velocity_shift=velocity_shift, rate=65535
    )
    w, v, g = (words(generator, 60) for _ in range(3))
    bits = generator.integers(0, 1 << 16, 60)
    for some in (None, bits):
        found = updated(of, w, v, g, some)
        for index, (old, moving, gradient) in enumerate(
            zip(w.tolist(), v.tolist(), g.tolist(), strict=True)
        ):
            wanted = fixed_loops.update(
                old, moving, gradient, momentum=momentum, rate=65535,
                velocity_shift=velocity_shift, update_shift=update_shift,
                bits=None if some is None else int(some[index]),
            )  # fmt: skip
            assert (found.kernels[index], found.velocities[index]) == wanted


def test_a_velocity_without_gradients_comes_to_rest() -> None:
    """Rounded to nearest it would stay at 4 for ever, and the weight would drift."""
    of = update_pass(momentum=round(0.9 * 65536), rate=32768, update_shift=15)
    w, v, g = (np.array([value], np.int16) for value in (0, 5, 0))
    course = []
    for _ in range(8):
        found = updated(of, w, v, g)
        w, v = found.kernels, found.velocities
        course.append((int(w[0]), int(v[0])))
    assert course == [(-4, 4), (-7, 3), (-9, 2), (-10, 1), *[(-10, 0)] * 4]


@pytest.mark.parametrize("update_shift", [0, 3, 8, 12, 16, 20, 25, 31, 40, 47])
def test_stochastic_rounding_has_no_drift(update_shift: int) -> None:
    """The mean error of 10^6 updates is below 3 sigma of bits that are even."""
    array = Array(pof=16)
    of = update_pass(
        inputs=7000, outputs=16, kernel=3, rows=3, columns=3, seed=1234 + update_shift,
        rate=54321, momentum=0, velocity_shift=0, update_shift=update_shift,
    )  # fmt: skip
    bits, _ = bits_of_update(of, array)
    assert bits.size > 1_000_000
    of = replace(of, rate=7001 if update_shift == 0 else of.rate)
    g = np.full(bits.shape, 3 if update_shift < 16 else 29_999, np.int16)
    found = updated(of, np.zeros_like(g), np.zeros_like(g), g, bits)
    assert found.kernels_clipped == found.velocities_clipped == 0
    exact = -of.rate * int(g.flat[0]) / 2.0**update_shift
    fraction = exact - np.floor(exact)
    sigma = np.sqrt(max(fraction * (1 - fraction), 2.0**-16) / bits.size)  # of 16 random bits
    assert abs(found.kernels.mean(dtype=np.float64) - exact) < 3 * sigma


def test_random_bits_go_with_the_words_of_a_beat() -> None:
    """Word b of a beat of input map i is that of lane (b - i) modulo the lanes."""
    array = Array(pof=4)
    of = update_pass(inputs=3, outputs=6, kernel=2, rows=2, columns=2, seed=99)
    kernels, biases = bits_of_update(of, array)
    raw = random_bits(99, 2 * 13, 4)
    for f, i, tap in product(range(6), range(3), range(4)):
        beat = (f // 4) * 13 + i * 4 + tap
        assert kernels[f, i, tap // 2, tap % 2] == raw[beat, (i + f) % 4]
    assert biases.tolist() == [*raw[12], *raw[25][:2]]
