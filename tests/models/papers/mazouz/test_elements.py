import re

import pytest

from checkout import ROOT
from merp.models.base.shape import Shape
from merp.models.papers.mazouz.elements import (
    ElementCost,
    convolution_cost,
    convolution_cycles,
    convolution_terms,
    full_cost,
    full_cycles,
    line_buffer_blocks,
    map_blocks,
)
from merp.models.papers.mazouz.params.element import LEAVE, WINDOW, ElementDesign, ElementRun


@pytest.mark.parametrize(
    ("side", "first", "cycles"),
    [
        (32, True, 1310.5), (28, True, 1038.5), (16, False, 410.5), (14, False, 334.5),
        (8, False, 154.5), (7, False, 131.5), (4, False, 74.5), (2, False, 46.5),
    ],
)  # fmt: skip
def test_cycles_of_a_map(side: int, first: bool, cycles: float) -> None:
    assert convolution_cycles(side, side, 3, first=first) == cycles


PAPERS_MAPS = ((28, True), (14, False), (7, False))


def terms_of_our_element(side: int) -> dict[str, int]:
    """Where the paper's terms are in an element of ours."""
    design = ElementDesign(k=3, max_rows=side, max_columns=side)
    run = ElementRun(Shape(n=1, m=1, k=3, rows=side, columns=side, pad=1), design)
    tree = design.cu_latency - design.mul_latency
    terms = {
        "elements": side * side, "Padding": run.lead, "Tap": WINDOW,
        "Multiply": design.mul_latency, "AddTree": tree, "Out": LEAVE,
    }  # fmt: skip
    assert sum(terms.values()) == run.cycles
    return terms


def test_terms_beside_those_of_an_element_in_hardware() -> None:
    page = (ROOT / "docs" / "papers" / "mazouz.md").read_text()
    terms = [convolution_terms(side, side, 3, first=first) for side, first in PAPERS_MAPS]
    ours = [terms_of_our_element(side) for side, _ in PAPERS_MAPS]
    for name in terms[0]:
        printed = ", ".join(f"{each[name]:g}" for each in terms)
        found = ", ".join(f"{each.get(name, 0)}" for each in ours)
        assert re.search(rf"^\| {name}[^|]*\| {printed} \| {found} \|", page, re.MULTILINE), name


def test_cycles_of_a_fully_connected_layer() -> None:
    assert full_cycles(7, 5, 3, 2) == ((7 + 6) * 4 + 5) * 2


def test_memories() -> None:
    assert [line_buffer_blocks(columns, 3) for columns in (32, 1152, 1153)] == [2, 2, 4]
    assert [map_blocks(side, side) for side in (32, 33, 34, 48)] == [1, 1, 2, 2]


def test_costs() -> None:
    assert convolution_cost(3, 32, train=False) == ElementCost(9, 800, 2)
    assert convolution_cost(5, 32, train=True) == ElementCost(51, 2200, 8)
    assert full_cost(10, 8, train=False) == ElementCost(80, 1600, 0)
    assert full_cost(10, 1, train=True) == ElementCost(20, 10 * 420, 0)
