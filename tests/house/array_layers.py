"""Random layers for the MAC array, of every array that tests elaborate."""

from dataclasses import replace

import numpy as np

from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array

ARRAYS = [Array(pox=x, poy=y, pof=p) for x, y, p in ((4, 4, 4), (8, 8, 4), (4, 8, 8), (8, 8, 16))]


def random_pass(seed: int) -> tuple[ArrayPass, Array]:
    """FP of a layer, and an array that runs it."""
    generator = np.random.default_rng([19, seed])
    array = ARRAYS[seed % len(ARRAYS)]
    array = replace(array, balance=bool(generator.integers(4)))
    kernel = int(generator.integers(1, 8))
    pad = int(generator.integers(0, kernel))
    low = max(1, kernel - 2 * pad)
    rows, columns = (int(generator.integers(low, low + 26)) for _ in range(2))
    stride = int(generator.choice([s for s in (1, 2, 4) if s <= kernel]))
    side = min(rows, columns) + 2 * pad
    sums = (side - kernel) // stride + 1
    pool = int(generator.choice([g for g in (1, 2, 4) if g <= sums]))
    return ArrayPass(
        phase="fp", inputs=int(generator.integers(1, 21)), outputs=int(generator.integers(1, 21)),
        rows=rows, columns=columns, kernel=kernel, pad=pad, stride=stride, pool=pool,
        fused=bool(generator.integers(2)),
    ), array  # fmt: skip


def seen(of: ArrayPass) -> Geometry:
    """A layer as the formulas see it."""
    return Geometry(
        groups=1, n=of.inputs, m=of.outputs, k=of.kernel, stride=of.stride, rows=of.rows,
        columns=of.columns, out_rows=of.out_rows, out_columns=of.out_columns,
        pooled_rows=of.pooled_rows, pooled_columns=of.pooled_columns, pooled=of.pool > 1,
        propagates=True, updates=True,
    )  # fmt: skip
