"""The model of a pipeline against cycles of the hardware, of runs whose bits were right."""

from dataclasses import replace

import pytest

from merp.models.machines.cnn_merp.pipeline.cycles import pipeline_cycles
from merp.tools.common.shipped import open_network

MEASURED = {
    ("tiny3", 1, 4): 1240,
    ("tiny3", 2, 4): 1624,
    ("tiny3", 6, 4): 3160,
    ("tiny3", 6, 2): 3726,
    ("tiny3", 6, 1): 6495,
    ("digits", 1, 1): 14316,
    ("digits", 3, 2): 20237,
}
"""Of a batch of so many images, so many of them on their way at most."""


@pytest.mark.parametrize(("name", "images", "depth"), MEASURED)
def test_the_model_is_within_three_percent(name: str, images: int, depth: int) -> None:
    modelled = pipeline_cycles(open_network(name), images, depth).total
    assert modelled == pytest.approx(MEASURED[name, images, depth], rel=0.03)


def test_the_interval_of_tiny3_is_that_of_the_hardware() -> None:
    tiny3 = open_network("tiny3")
    assert pipeline_cycles(tiny3, 8, 4).interval == (3160 - 1624) / 4


def test_more_images_on_their_way_never_take_longer() -> None:
    tiny3 = open_network("tiny3")
    totals = [pipeline_cycles(tiny3, 6, depth).total for depth in range(1, 7)]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] > totals[-1]


def test_the_last_update_ends_a_batch() -> None:
    found = pipeline_cycles(open_network("digits"), 2, 2)
    assert max(found.updated, key=found.updated.__getitem__) == "conv2"  # of 4,608 kernel elements
    assert found.total == found.load + found.updated["conv2"]


def test_a_layer_without_a_design_is_told() -> None:
    tiny3 = open_network("tiny3")
    first, *others = tiny3.layers
    bare = replace(tiny3, layers=(replace(first, design=None), *others))
    with pytest.raises(ValueError, match="tiny3: layer conv1 has no design"):
        pipeline_cycles(bare, 1, 1)
