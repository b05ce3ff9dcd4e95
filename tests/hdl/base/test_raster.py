"""The walk over positions: every border, and a start in the middle."""

from __future__ import annotations

from random import Random

import pytest

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import bits, flag
from merp.testbenches.block.trace import Sample, run_block

SIZES = ("columns", "rows", "images")


@pytest.mark.parametrize("seed", range(4))
def test_borders_are_told(seed: int) -> None:
    args = {
        **{name: flag() for name in ("clk", "start", "advance")},
        **{name: bits(3) for name in SIZES},
        **{name: flag() for name in ("last_column", "last_row", "last_image")},
    }
    rng = Random(seed)
    left: list[tuple[int, int, int]] = []
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        wanted.append(dict(zip(("last_column", "last_row", "last_image"), left[0], strict=True))
                      if left else {})  # fmt: skip
        if not left or rng.random() < 0.03:
            columns, rows, images = (rng.randint(1, 4) for _ in SIZES)
            left[:] = [
                (int(column == columns - 1), int(row == rows - 1), int(image == images - 1))
                for image in range(images)
                for row in range(rows)
                for column in range(columns)
            ]
            return {"start": 1, "advance": 0, "columns": columns, "rows": rows, "images": images}
        advance = int(rng.random() < 0.7)
        del left[:advance]
        return {"start": 0, "advance": advance}

    trace = run_block(raster, args, ("start", "advance", *SIZES), drive, 500)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
