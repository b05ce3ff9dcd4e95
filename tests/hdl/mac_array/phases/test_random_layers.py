"""Random layers in every phase: words, slots, counts and cycles, at full rate and under stalls."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from trainer_cases import Case, check, design_of, fp, stalled

from audited_runs import assert_same
from merp.models.machines.mac_array.params.array_pass import NO_LIMIT
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.testbenches.mac_array.slot_watch import tagged
from merp.testbenches.mac_array.supply_bench import SuppliedPass, make_layer
from merp.testbenches.mac_array.trainer_bench import registers, trainer_top

KERNELS = (1, 2, 3, 4, 5, 6, 7, 11)
PHASES = ("fp", "dp", "ku")
"""As many as share no factor with the kernels: each kernel comes in each phase."""

ARRAYS = ((4, 4, 4), (8, 8, 4), (4, 8, 8), (8, 8, 16))
STEP = {"momentum": True, "stochastic": True, "relu6": True}
LONG = {
    "max_kernel": 11, "pool_window": 4, "kernel_words": 2048, "map_words": 4096,
    "mask_words": 4096, "index_words": 4096, **STEP,
}  # fmt: skip


def drawn(rng: np.random.Generator, *ends: int) -> int:
    """A number between the ends, or one of the ends."""
    return int(rng.choice([*ends, rng.integers(ends[0], ends[1] + 1)]))


def settings(rng: np.random.Generator, phase: str) -> dict[str, Any]:
    """What is not of a layer's shape."""
    found = {
        "relu": bool(rng.integers(2)), "shift": int(rng.choice([-15, 17, 30, *range(12, 20)])),
        "mask_base": int(rng.integers(5)), "index_base": int(rng.integers(5)),
    }  # fmt: skip
    if phase == "fp":
        limit = int(rng.choice([NO_LIMIT, 1, 6 << 9, 6 << 12, int(rng.integers(2, 1 << 15))]))
        return found | {"bias_shift": drawn(rng, 0, 15), "limit": limit}
    if phase == "dp":
        return found
    return found | {
        "first": bool(rng.integers(2)), "last": bool(rng.integers(2)),
        "has_momentum": bool(rng.integers(2)), "stochastic": bool(rng.integers(2)),
        "bias_shift": drawn(rng, -15, 15), "velocity_shift": drawn(rng, -15, 15),
        "update_shift": drawn(rng, 0, 47), "rate": drawn(rng, 32768, 65535),
        "momentum": drawn(rng, 0, 65535), "seed": int(rng.integers(1 << 30)),
    }  # fmt: skip


def extreme(layer: SuppliedPass) -> SuppliedPass:
    """The same pass with nothing but the least word."""
    least = {
        name: np.full_like(getattr(layer, name), -32768)
        for name in ("maps", "kernels", "biases", "deltas")
    }
    return replace(layer, **least)


def behind(layer: SuppliedPass) -> list[Case]:
    """A pass, and before it those of FP whose masks and places of maxima it reads."""
    work, cases = layer.work, []
    masks = places = None
    names = ("inputs", "outputs", "rows", "columns", "kernel", "stride", "pad", "pool")
    if work.phase == "dp" and work.relu:
        maps = {"outputs": work.inputs, "rows": work.rows, "columns": work.columns}
        limit = 6 << 9 if layer.seed % 2 else NO_LIMIT
        masks = fp(
            layer.seed, inputs=1, kernel=1, mask_base=work.mask_base, limit=limit, **maps
        )  # fmt: skip
        cases.append(Case(masks))
    if work.expands:
        beyond = 0 if masks is None else work.mask_base + masks.work.outputs * masks.work.rows * 9
        sizes = {name: getattr(work, name) for name in names}
        places = fp(layer.seed + 1, mask_base=beyond, index_base=work.index_base, **sizes)
        cases.append(Case(places))
    return [*cases, Case(layer, masks, places)]


def random_layer(
    rng: np.random.Generator, design: ArrayDesign, phase: str, kernel: int, most: tuple[int, int]
) -> list[Case]:
    """A pass that the design takes; ``most``: maps, and their rows and columns."""
    maps, size = most
    while True:
        sizes = {
            "inputs": int(rng.integers(1, maps + 1)), "kernel": kernel,
            "outputs": int(rng.integers(1, maps + 1)),
            "rows": int(rng.integers(1, size + 1)), "columns": int(rng.integers(1, size + 1)),
            "stride": int(rng.choice([1, 1, 2, 4])), "pad": int(rng.integers(kernel)),
            "pool": int(rng.choice([1, 1, 2, 4])),
        }  # fmt: skip
        seed = int(rng.integers(1 << 30))
        try:
            layer = make_layer(seed, phase=phase, **sizes, **settings(rng, phase))
            cases = behind(extreme(layer) if rng.integers(6) == 0 else tagged(layer))
            for case in cases:
                registers(case.layer.work, design)
        except ValueError:
            continue
        return cases


def random_layers(
    rng: np.random.Generator, design: ArrayDesign, layers: int, most: tuple[int, int]
) -> Iterator[Case]:
    """Layers one behind the other, each at full rate and with ports that wait; some are reset."""
    kernels = [each for each in KERNELS if each - 1 <= 2 * design.reach]
    streams = [pin.name for pin in trainer_top(design).ports.streams]
    for phase, kernel, _ in zip(cycle(PHASES), cycle(kernels), range(layers), strict=False):
        *before, case = random_layer(rng, design, phase, kernel, most)
        yield from before
        at = int(rng.integers(2, 60)) if rng.integers(4) == 0 else None
        yield case._replace(reset_at=at)
        yield case._replace(stalls=stalled(case.layer.seed, streams))


def test_random_layers() -> None:
    design = design_of(max_kernel=7, pool_window=4, **STEP)
    check(design, *random_layers(np.random.default_rng(1), design, 12, most=(5, 5)))


@pytest.mark.full
@pytest.mark.ghdl
def test_random_layers_in_ghdl() -> None:
    design = design_of(max_kernel=7, pool_window=4, **STEP)
    cases = random_layers(np.random.default_rng(2), design, 8, most=(5, 5))
    check(design, *cases, engine="ghdl", array="rtl")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("array", ARRAYS)
def test_long_random_layers(array: tuple[int, int, int]) -> None:
    """Every slot is watched in MyHDL; Verilator gives the same in every word, count and cycle."""
    design = design_of(*array, **LONG)
    rng = np.random.default_rng([3, *array])
    cases = list(random_layers(rng, design, 50, most=(design.pof + 3, 11)))
    watched = check(design, *cases)
    for kind in ("rtl", "behavioural"):
        built = check(design, *cases, engine="verilator", array=kind)
        assert_same(watched, built)
