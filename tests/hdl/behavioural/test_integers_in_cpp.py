"""The twins' arithmetic in C++ against golden: corners, every class of operands, all windows."""

import ctypes
from typing import Any

import numpy as np
import pytest

from cpp_twins import cpp
from integer_operands import (
    ODD,
    SUMMATIONS,
    arithmetic,
    id_of,
    operands,
    specials_everywhere,
    windows,
)
from marks import in_full
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.fused import fused_sum
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.summation import Summation

pytestmark = pytest.mark.verilator

ELEMENTS = [ODD, BINARY32, *in_full(BFLOAT16, BINARY16, FloatFormat(3, 23))]
ACCUMULATORS = [FloatFormat(8, 27), *in_full(FloatFormat(8, 24))]
TAPS, UNITS = 5, 4

FLOAT = """
#include "integer_float.h"
using Arithmetic = Float<{exp_bits}, {frac_bits}>;
extern "C" void add(const uint64_t* a, const uint64_t* b, uint64_t* y, long size) {{
    for (long i = 0; i < size; i++) y[i] = uint64_t(Arithmetic::add(a[i], b[i]));
}}
"""
PRODUCTS = """
extern "C" void multiply(const uint64_t* a, const uint64_t* b, uint64_t* y, long size) {{
    for (long i = 0; i < size; i++) y[i] = uint64_t(Arithmetic::multiply(a[i], b[i]));
}}
extern "C" void trees(const uint32_t* row, const uint32_t* kernels, uint64_t* sums) {{
    Arithmetic::sums_of_products<{taps}, {units}>(row, kernels, sums);
}}
"""
NARROW = """
extern "C" void narrow(const uint64_t* a, uint64_t* y, long size) {{
    for (long i = 0; i < size; i++) y[i] = uint64_t(Arithmetic::narrow<{lost}>(a[i]));
}}
"""
FUSED = """
#include "integer_fused.h"
extern "C" void sums(const uint32_t* row, const uint32_t* kernels, int taps, uint64_t* sums) {{
    Fused<{arithmetic}>::sums_of_products<{units}>(row, kernels, taps, sums);
}}
"""


def floats(fmt: FloatFormat, text: str) -> ctypes.CDLL:
    places = {"exp_bits": fmt.exp_bits, "frac_bits": fmt.frac_bits}
    lost = fmt.frac_bits - BINARY32.frac_bits
    return cpp((FLOAT + text).format(**places, taps=TAPS, units=UNITS, lost=lost))


def called(function: Any, *words: Bits) -> list[int]:
    """Results of a function for all words."""
    given = [each.astype(np.uint64) for each in words]
    results = np.empty_like(given[0])
    function(*(each.ctypes for each in (*given, results)), ctypes.c_long(results.size))
    return results.tolist()


@pytest.mark.parametrize("fmt", [*ELEMENTS, *ACCUMULATORS], ids=str)
def test_sums(fmt: FloatFormat) -> None:
    a, b = operands(fmt)
    assert called(floats(fmt, "").add, a, b) == fp_add(a, b, fmt).tolist()


@pytest.mark.parametrize("fmt", ELEMENTS, ids=str)
def test_products(fmt: FloatFormat) -> None:
    a, b = operands(fmt)
    assert called(floats(fmt, PRODUCTS).multiply, a, b) == fp_mul(a, b, fmt).tolist()


@pytest.mark.parametrize("fmt", ELEMENTS, ids=str)
def test_trees_of_products(fmt: FloatFormat) -> None:
    a, b = (np.resize(each.astype(np.uint32), (200, TAPS)) for each in operands(fmt))
    trees, sums = floats(fmt, PRODUCTS).trees, np.empty(UNITS, np.uint64)
    for row, kernels in zip(a, np.resize(b, (200, TAPS, UNITS)), strict=True):
        kernels = np.ascontiguousarray(kernels)
        trees(row.ctypes, kernels.ctypes, sums.ctypes)
        assert sums.tolist() == fp_tree(fp_mul(row, kernels.T, fmt), fmt).tolist()


@pytest.mark.parametrize("fmt", ACCUMULATORS, ids=str)
def test_rounding_to_elements(fmt: FloatFormat) -> None:
    lost = fmt.frac_bits - BINARY32.frac_bits
    ties = np.arange(4 << lost, dtype=np.uint64)  # every remainder, and a carry out of the fraction
    words = np.concatenate([operands(fmt)[0], fmt.inf - ties, fmt.one + ties, (2 << lost) * ties])
    got = np.array(called(floats(fmt, NARROW).narrow, words))
    numbers = words >> fmt.frac_bits & fmt.exp_max != 0  # the adder gives no subnormals
    assert got[numbers].tolist() == fp_convert(words, fmt, BINARY32)[numbers].tolist() != []


def check_fused(a: Bits, b: Bits, summation: Summation) -> None:
    """Each row with kernels that are rows of their own."""
    text = FUSED.format(arithmetic=", ".join(map(str, arithmetic(summation))), units=UNITS)
    function, sums = cpp(text).sums, np.empty(UNITS, np.uint64)
    for index, row in enumerate(a):
        kernels = np.ascontiguousarray(np.roll(b, -index, 0)[:UNITS].T)
        function(row.ctypes, kernels.ctypes, ctypes.c_int(row.size), sums.ctypes)
        assert sums.tolist() == fused_sum(row[None], kernels.T, summation).tolist(), index


@pytest.mark.parametrize(
    "summation",
    [SUMMATIONS[0], SUMMATIONS[1], SUMMATIONS[2], SUMMATIONS[5], SUMMATIONS[6],
     *in_full(SUMMATIONS[3], SUMMATIONS[4], SUMMATIONS[7])],
    ids=id_of,
)  # fmt: skip
def test_fused_sums(summation: Summation) -> None:
    check_fused(*windows(250, summation.window), summation)
    check_fused(*specials_everywhere(), summation)
