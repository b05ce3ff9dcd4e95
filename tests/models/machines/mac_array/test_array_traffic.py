from dataclasses import replace

import pytest

from merp.models.machines.mac_array.array_traffic import Words, words
from merp.models.machines.mac_array.geometry import Geometry, geometry
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.rtl_compiler.networks import cifar
from merp.models.network.phases import PHASES

POOLED = Geometry(
    groups=1, n=3, m=5, k=3, stride=1, rows=12, columns=12, out_rows=12, out_columns=12,
    pooled_rows=6, pooled_columns=6, pooled=True, propagates=True, updates=True,
)  # fmt: skip
EIGHT = Array(pof=8)
X, Y, YP, W, B = 3 * 12 * 16, 5 * 12 * 16, 5 * 6 * 8, 8 * 27, 8
"""Rows of 12 and 6 fill atoms of 8; 5 maps fill lanes of 8."""


@pytest.mark.parametrize(
    ("times", "apart", "fused", "maps", "fused_maps"),
    [
        (1, 23.94, 19.31, 11.85, 7.23),
        (2, 18.21, 15.86, 5.96, 3.61),
        (4, 15.32, 14.13, 2.99, 1.81),
    ],
)
def test_mb_per_gflop_of_a_step(
    times: int, apart: float, fused: float, maps: float, fused_maps: float
) -> None:
    network = cifar(times)
    work = sum((3 if place else 2) * layer.operations(40)
               for place, layer in enumerate(network.layers))  # fmt: skip
    found = []
    for fuse in (False, True):
        moved = [
            words(geometry(network, layer), Array(pof=16 * times), 40, phase, fused=fuse)
            for layer in network.layers
            for phase in PHASES
        ]
        found += [
            2e3 * sum(each.maps + each.kernels for each in moved) / work,
            2e3 * sum(each.maps for each in moved) / work,
        ]
    assert found == pytest.approx([apart, maps, fused, fused_maps], abs=0.005)


def test_words_of_each_phase() -> None:
    assert words(POOLED, EIGHT, 4, "fp") == Words(4 * (X + Y + Y + YP), 4 * (W + B))
    assert words(POOLED, EIGHT, 4, "dp") == Words(4 * (Y + X), 4 * W)
    assert words(POOLED, EIGHT, 4, "ku") == Words(4 * (X + Y + Y + YP), (2 * 3 + 2) * (W + B))


def test_words_where_pooling_is_fused() -> None:
    assert words(POOLED, EIGHT, 4, "fp", fused=True).maps == 4 * (X + YP)
    assert words(POOLED, EIGHT, 4, "dp", fused=True).maps == 4 * (YP + X)
    assert words(POOLED, EIGHT, 4, "ku", fused=True).maps == 4 * (X + YP)


def test_an_image_alone_reads_no_gradients() -> None:
    assert words(POOLED, EIGHT, 1, "ku").kernels == 2 * (W + B)


def test_the_first_layer_has_no_delta() -> None:
    assert words(replace(POOLED, propagates=False), EIGHT, 4, "dp") == Words(0, 0)
