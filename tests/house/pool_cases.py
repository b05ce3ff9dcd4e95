"""Random designs and runs of activation and pooling, for the tests of both directions."""

from random import Random
from typing import Any

from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.machines.fcnn.params.pool_design import PoolDesign, PoolRun
from merp.testbenches.fcnn.pool_bench import PoolJob

RATES = (0.3, 0.7, 1.0)


def small(**changes: Any) -> PoolDesign:
    """A small design: windows of 2 x 2 and ReLU, two lanes."""
    usual = {
        "lanes": 2, "window": 2, "stride": 2, "activation": "relu", "max_rows": 6,
        "max_columns": 6, "max_maps": 3, "max_step": 3,
    }  # fmt: skip
    return PoolDesign(**(usual | changes))


def random_design(rng: Random) -> PoolDesign:
    """A design of any activation; tanh of binary32."""
    window = rng.choice([1, 2, 2, 3])
    activation = rng.choice(["none", "relu", "tanh"])
    fmt = BINARY32 if activation == "tanh" else rng.choice([BINARY32, BFLOAT16, BINARY16])
    return small(
        lanes=rng.randint(1, 3), window=window, activation=activation, fmt=fmt,
        stride=1 if window == 1 else window + rng.choice([0, 0, 1, 2]),
        max_rows=rng.randint(window, 8), max_columns=rng.randint(window, 8),
        mul_latency=rng.randint(1, 3), add_latency=rng.randint(1, 5),
    )  # fmt: skip


def random_job(design: PoolDesign, rng: Random, **sizes: int) -> PoolJob:
    """A run with random words; sizes that are not given are random."""
    drawn = {
        "maps": rng.randint(1, design.max_maps),
        "rows": rng.randint(design.window, design.max_rows),
        "columns": rng.randint(design.window, design.max_columns),
        "images": design.lanes * rng.randint(1, design.max_step),
    }
    return PoolJob.random(PoolRun(design=design, **(drawn | sizes)), rng)


def random_rates(names: list[str], rng: Random) -> dict[str, float]:
    """How often each stream moves."""
    return {name: rng.choice(RATES) for name in names}
