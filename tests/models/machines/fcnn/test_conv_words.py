"""Words of a convolution module: the formula equals the walk, and sums are conserved."""

from random import Random

import pytest

from merp.models.base.shape import Shape
from merp.models.machines.fcnn.conv_words import elements, port_words, walked_words
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.fcnn.conv_bench import random_run


def design(k: int, lanes: int, maps: int) -> StreamDesign:
    return StreamDesign(
        k=k, lanes=lanes, maps_at_once=maps, max_rows=20, max_columns=20, max_maps=9, max_step=3,
        max_stride=3,
    )  # fmt: skip


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_formula_and_walk_agree(k: int) -> None:
    rng = Random(k)
    for _ in range(100):
        run = random_run(design(k, rng.choice((1, 2, 4)), rng.randint(1, 3)), rng, 9, 7)
        words = port_words(run)
        assert words == walked_words(run)
        # Partial words in are those out, less the final ones, plus those of an earlier run.
        final = run.grid.blocks * run.grid.out_beats
        assert words["partial_in"] == words["sum_out"] - final + final * run.begun


def test_words_by_hand() -> None:
    """3 maps of 4 x 5 give 5 of the same size, 8 images, two kernels and four images at once."""
    run = StreamRun.forward(Shape(n=3, m=5, k=3, rows=4, columns=5, pad=1), 8, design(3, 4, 2))
    passes = 3 * 3
    assert port_words(run) == {
        "map_in": passes * 20 * 2, "kernel": 3 * 5 * 9, "bias": 5, "partial_in": 2 * 3 * 20 * 2,
        "sum_out": passes * 20 * 2,
    }  # fmt: skip
    assert elements(port_words(run), run.design) == {
        "map_in": passes * 20 * 8, "kernel": 135, "bias": 5, "partial_in": 6 * 20 * 16,
        "sum_out": passes * 20 * 16,
    }  # fmt: skip
    begun = StreamRun.forward(run.grid.shape, 8, run.design, begun=True)
    words = port_words(begun)
    assert words["bias"] == 0
    assert words["partial_in"] == words["sum_out"]


def test_deltas_of_a_strided_layer_are_sent_without_blanks() -> None:
    layer = Shape(n=2, m=3, k=3, rows=7, columns=7, stride=2, pad=1)
    run = StreamRun.deltas(layer, 4, design(3, 4, 2))
    words = port_words(run)
    assert words["map_in"] == 3 * 4 * 4
    assert words["sum_out"] == 3 * 7 * 7
    assert words["bias"] == 0
