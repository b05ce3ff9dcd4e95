"""Activation and pooling of F-CNN: parameters, golden models by hand, words and cycles."""

from random import Random
from typing import Any

import numpy as np
import pytest

from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.tanh import tanh, tanh_slope
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.golden.pooling import max_pool
from merp.models.machines.fcnn.activated_pool import activated_pool, activated_unpool, pool_of
from merp.models.machines.fcnn.params.pool_design import PoolDesign, PoolRun
from merp.models.machines.fcnn.params.pool_registers import POOL, UNPOOL
from merp.models.machines.fcnn.pool_cycles import last_window_beat, pool_cycles, unpool_cycles
from merp.models.machines.fcnn.pool_words import (
    pool_words,
    unpool_words,
    useful_beats,
    walked_pool_words,
    walked_unpool_words,
    walked_useful_beats,
)
from pool_cases import random_design, random_job, small

NAN, MINUS_ZERO = BINARY32.nan, BINARY32.sign_bit


def column(*numbers: float) -> Bits:
    """A map of one row: (1, 1, columns, 1) words."""
    return to_bits(list(numbers), BINARY32).reshape(1, 1, -1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "average"}, "kind of pooling must be max, not average"),
        ({"activation": "relu6"}, "activation must be one of none, relu, tanh, not relu6"),
        ({"window": 3}, "stride must be at least the window of 3, not 2"),
        ({"window": 1}, r"stride must be 1 without pooling \(window 1\), not 2"),
        ({"window": 12, "stride": 12}, "window must be a whole number from 1 to 11, not 12"),
        ({"lanes": 0}, "lanes must be a whole number from 1 to 32, not 0"),
        ({"max_rows": 1}, "max_rows must be at least the window of 2, not 1"),
        ({"fmt": BFLOAT16, "activation": "tanh"}, "format bfloat16 is not allowed; allowed is bin"),
    ],
)  # fmt: skip
def test_designs_that_cannot_be_built_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": 3}, "images must be a multiple of the 2 lanes, not 3"),
        ({"images": 8}, "images must be a whole number from 1 to 6, not 8"),
        ({"rows": 1}, "rows must be a whole number from 2 to 6, not 1"),
        ({"columns": 7}, "columns must be a whole number from 2 to 6, not 7"),
        ({"maps": 4}, "maps must be a whole number from 1 to 3, not 4"),
    ],
)
def test_runs_that_do_not_fit_are_refused(changes: dict[str, int], message: str) -> None:
    sizes = {"maps": 1, "rows": 4, "columns": 4, "images": 2} | changes
    with pytest.raises(ValueError, match=message):
        PoolRun(design=small(), **sizes)


def test_a_count_beyond_the_registers_is_refused() -> None:
    design = PoolDesign(
        lanes=1, window=1, stride=1, activation="relu", max_rows=4096, max_columns=4096,
        max_maps=4096, max_step=4096,
    )  # fmt: skip
    with pytest.raises(ValueError, match="beats after pooling must be at most 2147483647, not"):
        PoolRun(design=design, maps=128, rows=4096, columns=4096, images=1)


def test_maxima_masks_and_positions_by_hand() -> None:
    design = small(lanes=1)
    upper, lower = column(1, 1, -2, -0.0, 0, 9), column(0.5, 1, -3, 0.0, -1, 9)
    x = np.concatenate([upper, lower], axis=1)
    x[0, 1, 5, 0] = NAN
    y, state = activated_pool(x, design)
    assert y[0, 0, :, 0].tolist() == [BINARY32.one, 0, NAN]
    assert state[0, 0, :, 0].tolist() == [0 << 1 | 1, 1 << 1 | 0, 3 << 1 | 0]
    delta = column(5, 6, -7)
    back = activated_unpool(delta, state, y, 2, 6, design)
    wanted = np.zeros((2, 6), np.uint32)
    wanted[0, 0] = to_bits([5.0], BINARY32)[0]
    assert (back[0, :, :, 0] == wanted).all()


def test_without_relu_the_mask_is_set() -> None:
    for activation in ("none", "tanh"):
        _, state = activated_pool(column(-1, -2), small(window=1, stride=1, activation=activation))
        assert state.reshape(-1).tolist() == [1, 1]


def test_tanh_of_the_maximum_is_the_maximum_of_tanh() -> None:
    rng = Random(0)
    design = small(activation="tanh", lanes=1)
    job = random_job(design, rng, images=3, rows=6, columns=6)
    pool = pool_of(design)
    assert pool is not None
    y, _ = activated_pool(job.x, design)
    assert (y == max_pool(tanh(job.x, BINARY32), pool, BINARY32)).all()


def test_a_delta_is_multiplied_by_the_slope_at_its_maximum() -> None:
    design = small(activation="tanh", lanes=1)
    x = np.concatenate([column(0.25, -1), column(-3, 0.5)], axis=1)
    y, state = activated_pool(x, design)
    delta = column(-2)
    back = activated_unpool(delta, state, y, 2, 2, design)
    wanted = fp_mul(delta, tanh_slope(y, BINARY32), BINARY32).reshape(-1)[0]
    assert back.reshape(-1).tolist() == [0, 0, 0, wanted]


@pytest.mark.parametrize(("window", "wanted"), [(1, MINUS_ZERO), (2, 0)])
def test_a_delta_of_minus_zero_becomes_zero_by_pooling(window: int, wanted: int) -> None:
    design = small(window=window, stride=window, activation="none", lanes=1)
    rows = np.concatenate([column(*[1] * window)] * window, axis=1)
    y, state = activated_pool(rows, design)
    delta = np.full(y.shape, MINUS_ZERO, np.uint32)
    assert activated_unpool(delta, state, y, window, window, design)[0, 0, 0, 0] == wanted


@pytest.mark.parametrize("seed", range(30))
def test_words_by_formula_and_by_a_walk(seed: int) -> None:
    rng = Random(seed)
    run = random_job(random_design(rng), rng).run
    assert pool_words(run) == walked_pool_words(run)
    assert unpool_words(run) == walked_unpool_words(run)
    assert useful_beats(run) == walked_useful_beats(run)


def test_words_and_cycles_by_hand() -> None:
    design = small(lanes=2)
    run = PoolRun(design=design, maps=3, rows=5, columns=4, images=4)
    assert pool_words(run) == {"map_in": 120, "map_out": 24, "state_out": 24}
    assert unpool_words(run) == {"delta_in": 24, "state_in": 24, "map_in": 0, "delta_out": 120}
    assert last_window_beat(run) == 2 * 40 + 3 * 8 + 8
    assert pool_cycles(run) == 120  # the last row is longer than the latency
    assert unpool_cycles(run) == 120 + 5
    even = PoolRun(design=design, maps=3, rows=4, columns=4, images=4)
    assert pool_cycles(even) == 96 + 2 + 2


def test_registers_of_a_run() -> None:
    run = PoolRun(design=small(stride=3), maps=3, rows=5, columns=6, images=4)
    wanted = {
        "config_maps": 3, "config_rows": 5, "config_columns": 6, "config_pooled_rows": 2,
        "config_pooled_columns": 2, "config_step": 2,
    }  # fmt: skip
    assert POOL.values(run) == wanted
    assert UNPOOL.values(run) == wanted | {"config_words": 24}
    for table in (POOL, UNPOOL):
        settings, values = table.settings(run.design), table.values(run)
        assert settings.keys() == values.keys()
        assert all(each.least <= values[name] <= each.most for name, each in settings.items())
