"""The walk over positions: every border, and a start in the middle."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.raster import raster
from merp.hdl.base.signals import bits

SIZES = ("columns", "rows", "images")


@pytest.mark.parametrize("seed", range(4))
def test_borders_are_told(seed: int) -> None:
    bench = BlockBench(
        raster, "clk start advance last_column last_row last_image",
        **{name: bits(3) for name in SIZES},
    )  # fmt: skip
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

    trace = bench.run(drive, 500)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
