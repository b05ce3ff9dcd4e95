"""The update path: every beat of gradients, kernels and velocities, in KU order, by the golden."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Replays, at_random
from merp.models.arithmetic.fixed import nearest_even
from merp.models.machines.mac_array.fixed_update import (
    ArrayGradient,
    accumulated,
    bits_of_update,
    updated,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.update_bench import (
    ImageSums,
    UpdateRunResult,
    registers,
    run_update,
    sweeps,
    update_args,
)
from merp.testbenches.mac_array.update_bench import update_path as block
from merp.testbenches.mac_array.words import number

BIAS = -1
"""In the place of a beat's input map: it has the biases."""

WHOLE = small_design(momentum=True, stochastic=True)
PLAIN = small_design()
WIDE = small_design(8, 8, 4, momentum=True)


def layer(inputs: int, outputs: int, kernel: int, **choices: object) -> ArrayPass:
    numbers = {
        "shift": 9, "bias_shift": 3, "velocity_shift": 2, "update_shift": 18, "rate": 0xD123,
        "momentum": 58982, "seed": 12345,
    }  # fmt: skip
    return ArrayPass(
        phase="ku", inputs=inputs, outputs=outputs, rows=9, columns=9, kernel=kernel,
        **numbers | choices,  # type: ignore[arg-type]
    )  # fmt: skip


def update_parameters(work: ArrayPass, d: ArrayDesign) -> Iterator[tuple[int, int, int]]:
    """Tile of output maps, input map and tap of each beat, in KU order."""
    side, regions, k = d.region_side(work.kernel), d.regions(work.kernel), work.kernel
    order = sweeps(work, d)
    for at, (tile, group, down, across) in enumerate(order):
        for i in range(group * regions, min(work.inputs, (group + 1) * regions)):
            for ky in range(down * side, min(k, (down + 1) * side)):
                for kx in range(across * side, min(k, (across + 1) * side)):
                    yield tile, i, ky * k + kx
        if at + 1 == len(order) or order[at + 1][0] != tile:
            yield tile, BIAS, 0


def words_of(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random words, one in five an extreme one."""
    extremes = rng.choice([-32768, 32767, -1, 0, 1], shape)
    return np.where(rng.random(shape) < 0.2, extremes, rng.integers(-32768, 32768, shape))


def beats(
    work: ArrayPass, d: ArrayDesign, kernels: np.ndarray, biases: np.ndarray, noise: Random
) -> list[int]:
    """Parameter beats: word (i + c) % P is lane c's; lanes without a map have noise."""
    found = []
    for tile, i, tap in update_parameters(work, d):
        word = 0
        for c in range(d.pof):
            f = tile * d.pof + c
            value = noise.getrandbits(16)
            if f < work.outputs:
                value = int(biases[f] if i == BIAS else kernels[f, i, tap])
            place = c if i == BIAS else (i + c) % d.pof
            word |= (value & 0xFFFF) << 16 * place
        found.append(word)
    return found


def compare(
    run: UpdateRunResult,
    kind: str,
    work: ArrayPass,
    d: ArrayDesign,
    kernels: np.ndarray,
    biases: np.ndarray,
) -> None:
    order = list(update_parameters(work, d))
    assert [last for _, last in run.left[kind]] == [0] * (len(order) - 1) + [1]
    for (tile, i, tap), (word, _) in zip(order, run.left[kind], strict=True):
        for c in range(d.pof):
            f = tile * d.pof + c
            if f < work.outputs:
                place = c if i == BIAS else (i + c) % d.pof
                value = number(word >> 16 * place & 0xFFFF)
                assert value == (biases[f] if i == BIAS else kernels[f, i, tap]), (kind, f, i, tap)


def check(
    work: ArrayPass, d: ArrayDesign, seed: int, rate: float = 1.0, hurry: bool = True
) -> UpdateRunResult:
    """Run an image with old words of all kinds; compare beats and counts with the golden model."""
    rng, noise = np.random.default_rng(seed), Random(seed)
    m, n, taps = work.outputs, work.inputs, work.taps
    sums = rng.integers(-(1 << 27), 1 << 27, (m, n, taps)) >> rng.integers(0, 16, (m, n, taps))
    bias_sums = rng.integers(-(1 << 20), 1 << 20, m)
    old = {
        kind: (words_of(rng, m, n, taps), words_of(rng, m))
        for kind in ("gradient", "kernel", "velocity")
    }
    comes = {
        "gradient": not work.first,
        "kernel": work.last,
        "velocity": work.last and work.has_momentum,
    }
    # Streams offer their words whether or not they are wanted: memory always holds some.
    given = {kind: beats(work, d, *old[kind], noise) for kind in old}
    run = run_update(
        work, d, ImageSums(sums.tolist(), bias_sums.tolist()), given, noise, rate, hurry
    )
    draws = bits_of_update(work, d) if work.stochastic else (None, None)
    results = []
    for at, (total, shift) in enumerate(((sums, work.shift), (bias_sums, work.bias_shift))):
        before = None if work.first else ArrayGradient(old["gradient"][at].astype(np.int16), 0)
        gradient = accumulated([nearest_even(total, shift)], before)
        velocities = old["velocity"][at] if work.has_momentum else np.zeros_like(total)
        draw = draws[at] if draws[at] is None else draws[at].reshape(total.shape)
        results.append(
            (gradient, updated(work, old["kernel"][at], velocities, gradient.words, draw))
        )
    (kernel_gradient, kernel), (bias_gradient, bias) = results
    clipped = {
        "gradient": kernel_gradient.clipped + bias_gradient.clipped,
        "velocity": 0,
        "kernel": 0,
    }
    if work.last:
        compare(run, "kernel", work, d, kernel.kernels, bias.kernels)
        clipped["kernel"] = kernel.kernels_clipped + bias.kernels_clipped
        clipped["velocity"] = kernel.velocities_clipped + bias.velocities_clipped
        if work.has_momentum:
            compare(run, "velocity", work, d, kernel.velocities, bias.velocities)
    else:
        compare(run, "gradient", work, d, kernel_gradient.words, bias_gradient.words)
    leaves = {
        "gradient": not work.last,
        "kernel": work.last,
        "velocity": work.last and work.has_momentum,
    }
    assert {kind for kind, found in run.left.items() if found} == {
        kind for kind, there in leaves.items() if there
    }
    assert run.taken == {kind: comes[kind] * len(given[kind]) for kind in run.taken}
    assert run.saturated == clipped
    return run


IMAGES = [(True, False), (False, False), (False, True), (True, True)]
SHAPES = [(3, 5, 3), (3, 9, 2), (17, 2, 1), (2, 3, 5)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("shape", "first", "last"),
    [
        *((SHAPES[0], *image) for image in IMAGES),
        *((shape, False, i % 2 == 0) for i, shape in enumerate(SHAPES)),
    ],
)
def test_every_image_of_a_batch(shape: tuple[int, int, int], first: bool, last: bool) -> None:
    """Regions of one map to sixteen, tiles of taps, lanes that are no multiple."""
    work = layer(*shape, first=first, last=last, has_momentum=last, stochastic=last)
    check(work, WHOLE, sum(shape))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("rate", "hurry"), [(0.6, True), (0.35, False)])
def test_streams_that_wait(rate: float, hurry: bool) -> None:
    for first, last in ((False, False), (False, True)):
        check(layer(3, 5, 2, first=first, last=last, has_momentum=True), WHOLE, 3, rate, hurry)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("design", "choices"), [
    (PLAIN, {"has_momentum": False}),
    (WHOLE, {"has_momentum": False, "stochastic": True}),
    (WIDE, {"has_momentum": True}),
    (small_design(balance=False, momentum=True), {"has_momentum": True}),
])  # fmt: skip
def test_other_designs(design: ArrayDesign, choices: dict[str, bool]) -> None:
    check(layer(5, 6, 3, first=False, last=True, **choices), design, 11)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("shift", "update_shift"), [(-15, 0), (30, 47), (0, 16), (4, 40)])
def test_shifts_at_both_ends(shift: int, update_shift: int) -> None:
    work = layer(
        3, 4, 2, first=False, last=True, shift=shift, bias_shift=min(15, shift),
        velocity_shift=min(15, shift), update_shift=update_shift, has_momentum=True,
    )  # fmt: skip
    check(work, WHOLE, shift & 63)


def test_latency_and_throughput() -> None:
    """A beat is read each cycle, from that of copied on; what it gives comes so much later."""
    for last, kind, latency in (
        (False, "gradient", 9),
        (True, "velocity", 13),
        (True, "kernel", 19),
    ):
        run = check(layer(1, 1, 3, first=False, last=last, has_momentum=True), WHOLE, 0)
        copied = run.trace.column("readout_copied").index(1)
        drained = run.trace.column("readout_drained").index(1)
        assert drained == copied + 9  # nine taps and the biases
        valid = run.trace.column(f"sources_{kind}_valid")
        assert valid.index(1) == copied + latency
        assert valid[copied + latency :][:10] == [1] * 10


def test_a_reset_leaves_nothing() -> None:
    work = layer(5, 5, 3, first=False, last=True, has_momentum=True, stochastic=True)
    fixed = registers(work, WHOLE)
    flags = {"readout_copied": 0.05}
    words = {"sums_rounded": 18 * WHOLE.pof}
    payload = {}
    for kind in ("gradient", "kernel", "velocity"):
        flags |= {f"sinks_{kind}_valid": 0.8, f"sources_{kind}_ready": 0.7}
        words[f"sinks_{kind}_data"] = WHOLE.parameter_bits
        fixed[f"sinks_{kind}_last"] = 0
        payload[f"sources_{kind}_valid"] = f"sources_{kind}_data sources_{kind}_last"
    session = at_random(flags, words, fixed, begin=12)
    BlockBench(block, **update_args(WHOLE)).as_new_after_reset(
        session, (47, 80), 100, payload=payload, late={"sums_shift": 3}
    )


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    work = layer(5, 3, 3, first=False, last=True, has_momentum=True, stochastic=True)
    replays(check(work, WHOLE, 2, 0.8).trace)
