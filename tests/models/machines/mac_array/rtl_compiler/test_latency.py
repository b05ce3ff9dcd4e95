from dataclasses import replace

import pytest

from merp.models.machines.mac_array.comparison.paper import DESIGNS, PaperDesign
from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.rtl_compiler.latency import (
    KERNEL_RATE,
    MAP_RATE,
    BoardArray,
    update_seconds,
)
from merp.models.machines.mac_array.rtl_compiler.resources import dsp_blocks, memory_bits

LAYER = Geometry(
    groups=1, n=4, m=8, k=3, stride=1, rows=8, columns=8, out_rows=8, out_columns=8,
    pooled_rows=4, pooled_columns=4, pooled=True, propagates=True, updates=True,
)  # fmt: skip
X, Y, YP, W = 4 * 64, 8 * 64, 8 * 16, 8 * 4 * 9


@pytest.mark.parametrize(
    ("design", "microseconds"),
    list(zip(DESIGNS, (43.1, 161.3, 622.6), strict=True)),
    ids=["1X", "2X", "4X"],
)
def test_what_the_last_image_takes_more(design: PaperDesign, microseconds: float) -> None:
    assert update_seconds(design.machine, design.layers()) * 1e6 == pytest.approx(
        microseconds, abs=0.05
    )


def test_seconds_where_memory_binds() -> None:
    slow = BoardArray(8, 1e18, 1.0)
    kernels, maps = 2 / KERNEL_RATE, 2 / MAP_RATE
    pooling = (Y + YP) * maps
    assert slow.image(LAYER, "fp") == pytest.approx(W * kernels + (X + Y) * maps + pooling)
    assert slow.image(LAYER, "dp") == slow.image(LAYER, "fp")
    assert slow.image(LAYER, "ku") == pytest.approx((X + Y) * maps + 2 * W * kernels)
    assert slow.update(LAYER) == pytest.approx(3 * W * kernels)
    first = replace(LAYER, propagates=False)
    assert slow.image(first, "dp") == pytest.approx(pooling)


def test_seconds_where_the_array_binds() -> None:
    fast = BoardArray(8, 1.0, 1e18)
    assert fast.image(LAYER, "fp") == pytest.approx(4 * 9)
    assert fast.image(LAYER, "dp") == pytest.approx(8 * 9)
    assert fast.image(LAYER, "ku") == pytest.approx(64)


def test_without_double_buffers_gradients_come_first() -> None:
    machine = BoardArray(8, 240e6, 16.9e9)
    assert replace(machine, double=False).image(LAYER, "ku") > machine.image(LAYER, "ku")


def test_resources_of_table_2() -> None:
    assert [dsp_blocks(maps, 5760) for maps in (16, 32, 64)] == [1699, 3363, 5760]
    found = [memory_bits(each.layers(), each.maps, 16) / 1e6 for each in DESIGNS]
    assert found == pytest.approx([10.60, 22.86, 54.45], abs=0.006)
