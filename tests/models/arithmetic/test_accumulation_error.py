"""What a wider accumulator is worth: the table of its page."""

from itertools import pairwise

import numpy as np
import pytest

from accumulation_error import COUNT, error_of, rows, sums_of
from checkout import BLOCK_PAGES
from merp.models.base.summation import TREE, Summation

PAGE = BLOCK_PAGES / "cnn_merp" / "cu_array" / "accumulator.md"


def test_each_bit_of_an_accumulator_brings_sums_nearer_to_the_exact_ones() -> None:
    sums = sums_of(64, 60, np.random.default_rng(0))
    wide = [Summation(kind="fused", precision=p) for p in (24, 25, 26, 27, 28)]
    errors = [error_of(sums, choice) for choice in (TREE, *wide, None)]
    for (mean, _, right), (next_mean, _, next_right) in pairwise(errors):
        assert next_mean < mean
        assert next_right > right
    assert errors[-1][2] == 1
    assert errors[-2][0] < 1.2 * errors[-1][0]


@pytest.mark.full
def test_the_page_has_the_table() -> None:
    for line in rows(COUNT):
        assert line in PAGE.read_text(), line
