"""Parameters and registers of un-pooling."""

import numpy as np
import pytest

from merp.models.base.formats import BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.golden.state import keep_state, packed
from merp.models.machines.cnn_merp.params.registers import reciprocal_square
from merp.models.machines.cnn_merp.params.unpool_design import (
    UnpoolDesign,
    size_unpool,
)
from merp.models.machines.cnn_merp.params.unpool_registers import unpool_registers


def shape_for(maps: int, side: int, pool: Pool | None, relu: bool = True) -> Shape:
    return Shape(n=1, m=maps, k=1, rows=side, columns=side + 1, relu=relu, pool=pool)


@pytest.mark.parametrize("relu", [True, False], ids=["relu", "plain"])
@pytest.mark.parametrize("kind", ["max", "average", None])
@pytest.mark.parametrize(("window", "stride"), [(3, 2), (2, 2), (1, 1)])
def test_bytes_of_state_are_those_of_the_closed_form(
    kind: str | None, window: int, stride: int, relu: bool
) -> None:
    shape = shape_for(3, 5, Pool(kind=kind, window=window, stride=stride) if kind else None, relu)
    design = size_unpool([shape])
    activation = np.zeros((2, 5, 6, 3), np.uint32)
    state = packed(keep_state(activation, shape, "pooled", BINARY32), shape, BINARY32)
    values = unpool_registers(shape, 3, 2, design)
    assert values["unpool_config_state_bytes"] == len(state)
    assert values["unpool_config_delta_words"] == 2 * shape.pooled_rows * shape.pooled_columns * 3
    assert values["unpool_config_scale"] == reciprocal_square(window if kind else 1, BINARY32)


def test_registers_where_several_windows_hang_over_an_edge() -> None:
    shape = shape_for(3, 5, Pool(window=5, stride=2, pad=(4, 3, 1, 0)))
    design = size_unpool([shape])
    assert design.far
    values = unpool_registers(shape, 3, 2, design)
    names = ("open_rows", "open_columns", "next_row", "next_column", "step", "above")
    assert [values[f"unpool_config_{name}"] for name in names] == [3, 2, 2, 1, 10, 20]
    small = shape_for(3, 1, Pool(window=4, stride=1, pad=(3, 0, 0, 3)))
    assert unpool_registers(small, 3, 1, size_unpool([small]))["unpool_config_open_rows"] == 1
    with pytest.raises(ValueError, match="far is for designs with hanging"):
        UnpoolDesign(window=3, overlap=2, words=9, max_size=9, max_maps=1, far=True)


def test_alexnet_conv1_and_conv2_share_a_design() -> None:
    pool = Pool(window=3, stride=2)
    shapes = [
        Shape(n=3, m=48, k=11, rows=224, columns=224, stride=4, pad=2, pool=pool),
        Shape(n=48, m=128, k=5, rows=27, columns=27, pad=2, pool=pool),
        Shape(n=256, m=192, k=3, rows=13, columns=13, pad=1),
    ]
    design = size_unpool(shapes)
    assert design == UnpoolDesign(window=3, overlap=2, words=896, max_size=55, max_maps=192)
    assert size_unpool(shapes, maps=[96, 256, 384]).words == 1792


def test_a_design_is_as_large_as_the_largest_shape_and_as_chosen() -> None:
    average = shape_for(2, 6, Pool(kind="average", window=4, stride=3))
    design = size_unpool([shape_for(5, 3, None), average], max_images=9, overlap=3)
    assert (design.window, design.overlap, design.words, design.max_size) == (4, 3, 2, 7)
    assert (design.max_maps, design.max_images, design.average) == (5, 9, True)


@pytest.mark.parametrize(
    ("key", "value"), [("window", 17), ("overlap", 0), ("words", True), ("mul_latency", 4)]
)
def test_values_out_of_range_are_refused(key: str, value: int) -> None:
    values = dict(window=2, overlap=1, words=1, max_size=4, max_maps=1)
    with pytest.raises(ValueError, match=f"{key} must be a whole number from"):
        UnpoolDesign(**(values | {key: value}))


def test_sizing_needs_shapes_and_as_many_maps() -> None:
    with pytest.raises(ValueError, match="at least one shape"):
        size_unpool([])
    with pytest.raises(ValueError, match="zip"):
        size_unpool([shape_for(1, 3, None)], maps=[1, 2])
