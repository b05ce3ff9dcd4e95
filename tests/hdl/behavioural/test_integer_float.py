"""The behavioural CU array's own arithmetic against golden: corners, every class of operands."""

import numpy as np
import pytest

from integer_operands import ODD, operands
from merp.hdl.behavioural import integer_float
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat

ELEMENTS = [BINARY32, BFLOAT16, BINARY16, ODD, FloatFormat(3, 23)]
ACCUMULATORS = [FloatFormat(8, 24), FloatFormat(8, 27)]


@pytest.mark.parametrize("fmt", [*ELEMENTS, *ACCUMULATORS], ids=str)
def test_sums_match_golden(fmt: FloatFormat) -> None:
    a, b = operands(fmt)
    total = np.empty_like(a)
    integer_float.accumulate(a, b, total, fmt.exp_bits, fmt.frac_bits)
    assert total.tolist() == fp_add(a, b, fmt).tolist()


@pytest.mark.parametrize("fmt", ELEMENTS, ids=str)
def test_products_match_golden(fmt: FloatFormat) -> None:
    a, b = operands(fmt)
    products = np.empty_like(a)
    for x in set(a.tolist()):
        place = np.flatnonzero(a == x)
        window, kernels = np.array([x], np.uint32), b[place].reshape(1, -1)
        terms = np.empty(kernels.shape, np.int64)
        sums = np.empty(place.size, np.uint32)
        integer_float.sums_of_products(window, kernels, terms, sums, fmt.exp_bits, fmt.frac_bits)
        products[place] = sums
    assert products.tolist() == fp_mul(a, b, fmt).tolist()


@pytest.mark.parametrize("fmt", ACCUMULATORS, ids=str)
def test_rounding_to_elements_matches_golden(fmt: FloatFormat) -> None:
    words, _ = operands(fmt)
    lost = fmt.frac_bits - BINARY32.frac_bits
    ties = np.arange(4 << lost, dtype=np.uint64)  # every remainder, and a carry out of the fraction
    words = np.concatenate([words, fmt.inf - ties, fmt.one + ties, (2 << lost) * ties])
    got = np.empty(words.size, np.uint32)
    integer_float.narrow(words, got, fmt.exp_bits, fmt.frac_bits, lost)
    decoded = fp_convert(words, fmt, BINARY32)
    numbers = words >> fmt.frac_bits & fmt.exp_max != 0  # the adder gives no subnormals
    assert got[numbers].tolist() == decoded[numbers].tolist() != []
