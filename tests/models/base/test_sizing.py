"""Sizing a design for its layers, and what a design refuses."""

from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits, size_design


def test_a_design_is_sized_for_its_layers() -> None:
    shapes = [
        Shape(n=5, m=7, k=3, rows=9, columns=10, pad=2, pool=Pool(window=3, stride=2)),
        Shape(n=2, m=11, k=3, rows=13, columns=17, stride=3, pool=Pool(window=4, stride=1)),
    ]
    design = size_design(shapes, n_cu=4, r=2, p=2, d=2)
    assert (design.kernel_words, design.groups, design.max_maps) == (5 * 2, 3, 5)
    assert design.row_words == max(4 * 5, 6 * 2)
    assert design.max_size == 17
    assert design.max_stride == 3
    assert (design.pool_window, design.pool_overlap) == (4, 4)
    # beats per position: 2 * 2 and 3 * 2; pooled columns: 5 and 2
    assert design.pool_words == max(2 * 4, 1 * 6)
    # array 24 cycles, pool 2, 8 between, beats 4 and 6; n*G = 10 and 6
    assert design.fifo_words == max(2 * (1 + 4), 3 * (1 + 7))
    assert not design.average
    for shape in shapes:
        check_fits(shape, 256, design, "t")


def test_a_design_is_sized_for_what_is_larger_than_the_input() -> None:
    shape = Shape(n=1, m=1, k=3, rows=4, columns=5, pad=2, pool=Pool(window=1, stride=2))
    design = size_design([shape], n_cu=1, r=1)
    assert (design.max_size, design.max_stride) == (7, 2)


@pytest.mark.parametrize("n", [1, 2, 3, 18, 19])
def test_the_fifo_covers_what_is_between_the_array_and_the_output(n: int) -> None:
    plain = Shape(n=n, m=1, k=1, rows=2, columns=2)
    average = Shape(n=n, m=1, k=1, rows=2, columns=2, pool=Pool(kind="average", window=2, stride=2))
    deep = Shape(n=n, m=1, k=3, rows=3, columns=3)
    for shape in (plain, average, deep):
        design = size_design([shape], n_cu=1, r=1)
        cycles = design.array_latency + design.pool_latency + 8 + 1  # one beat
        assert design.fifo_words == 1 + -(-cycles // n)


def test_without_pooling_nothing_waits_in_a_pool_memory() -> None:
    """A layer without pooling shares a design with one that has some, and adds nothing."""
    shape = Shape(n=2, m=6, k=3, rows=50, columns=50)
    assert size_design([FITTED, shape], n_cu=3, r=1).pool_words == 6
    single = Shape(n=2, m=6, k=3, rows=50, columns=50, pool=Pool(window=1, stride=2))
    assert size_design([FITTED, single], n_cu=3, r=1).pool_words == 6


def test_two_positions_always_have_room() -> None:
    shape = Shape(n=500, m=7, k=3, rows=3, columns=3)
    assert size_design([shape], n_cu=2, r=1).fifo_words == 2 * 4


def test_a_chosen_maximum_stands() -> None:
    shape = Shape(n=5, m=7, k=3, rows=9, columns=10)
    design = size_design([shape], n_cu=4, groups=9, fifo_words=40, max_maps=64, average=True)
    assert (design.groups, design.fifo_words, design.max_maps) == (9, 40, 64)
    assert design.average
    assert design.kernel_words == 10


FITTED = Shape(
    n=4, m=6, k=3, rows=8, columns=8, stride=2, pool=Pool(kind="average", window=3, stride=2)
)
LIMITS = {
    "kernel_words": 8, "groups": 2, "row_words": 12, "max_size": 8, "max_maps": 4,
    "max_stride": 2, "pool_window": 3, "pool_overlap": 2, "max_images": 5,
}  # fmt: skip


@pytest.mark.parametrize("key", sorted({*LIMITS, "fifo_words", "pool_words"} - {"groups"}))
def test_a_layer_beyond_a_maximum_is_refused_by_its_name(key: str) -> None:
    values = vars(size_design([FITTED], n_cu=3, r=1)) | {"max_images": 5}
    values |= {"fifo_words": 4, "pool_words": 6, "p": 2}
    assert {name: values[name] for name in LIMITS} == LIMITS
    check_fits(FITTED, 5, EngineDesign(**values), "net.toml: layer conv1")
    short = EngineDesign(**(values | {key: values[key] - 1}))
    with pytest.raises(BadInput) as error:
        check_fits(FITTED, 5, short, "net.toml: layer conv1")
    assert str(error.value) == (
        f"net.toml: layer conv1: needs {key} = {values[key]}: "
        f"the design has {key} = {values[key] - 1}"
    )


def test_a_layer_of_another_kernel_or_pooling_is_refused() -> None:
    design = size_design([FITTED], n_cu=3, r=1)
    other = Shape(n=4, m=6, k=2, rows=8, columns=8)
    with pytest.raises(BadInput, match=r"^w: kernel size 2: the design is built for k = 3 alone$"):
        check_fits(other, 1, design, "w")
    check_fits(other, 1, replace(design, widened=True), "w")
    larger = replace(other, k=4)
    with pytest.raises(BadInput, match=r"^w: kernel size 4: the design is built for k = 3$"):
        check_fits(larger, 1, replace(design, widened=True), "w")
    plain = EngineDesign(**(vars(design) | {"average": False}))
    with pytest.raises(BadInput, match=r"^w: average pooling: the design is built with average"):
        check_fits(FITTED, 1, plain, "w")
