"""Resources of the MAC array: one bitstream, multipliers by count, beside the paper's part."""

from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.engines import engine_of, printed
from terminal import Terminal


@pytest.mark.parametrize(
    ("times", "dsps", "said"),
    [
        (1, 1056, "fits xc7v2000t, xc7vx485t, xc7vx690t, xc7z100 by multipliers"),
        (2, 2112, "fits xc7v2000t, xc7vx485t, xc7vx690t by multipliers"),
        (4, 4224, "fits none of the listed parts"),
    ],
)
def test_multipliers_by_count(times: int, dsps: int, said: str) -> None:
    """A DSP block a MAC, and two a lane for the update."""
    engine = engine_of(open_network(f"cifar10-{times}x-fixed"), None, None)
    assert engine.dsps == dsps
    assert said in engine.notes
    assert engine.title == "design array, all phases"


def test_the_papers_part_is_of_another_vendor() -> None:
    paper = engine_of(open_network("cifar10-1x-fixed"), "conv3", None).paper
    assert paper is not None
    assert paper.name == "RTL compiler table II (other vendor)"
    assert printed(paper) == ["208,000 ALM", "-", "10.6 Mbit", "1,699"]
    assert paper.answer["vendor"] == "other vendor"
    assert engine_of(open_network("digits-fixed"), None, None).paper is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cifar10-1x-fixed", "--phase", "dp"], "--phase dp: one bitstream of cifar10-1x-fixed"),
        (["cifar10-1x-fixed", "--layer", "convx"], "no layer 'convx'"),
        (["cifar10-1x-fixed", "--part", "xcvu440"], "synthesis is for the 7 series"),
        (["alexnet"], "--layer: alexnet has a design for each kind of layer: give one"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, terminal: Terminal) -> None:
    error = terminal.refusal("resources", *words)
    assert message in error


def test_two_designs_of_one_network() -> None:
    network = open_network("digits-fixed")
    first, *others = network.layers
    designs = {**network.designs, "other": network.designs[str(first.design)]}
    two = replace(network, designs=designs, layers=(replace(first, design="other"), *others))
    with pytest.raises(BadInput, match=r"has designs other, .*: give one"):
        engine_of(two, None, None)
    assert engine_of(two, first.name, None).design == "other"
