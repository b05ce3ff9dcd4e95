"""The behavioural arrays' arithmetic as Python, uncompiled, against golden: the text that is read.

Values of Python do not overflow, so a wrong shift is seen as such; and nothing is compiled.
"""

import importlib.util
from random import Random
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from integer_operands import SUMMATIONS, arithmetic, id_of, specials_everywhere, windows
from merp.hdl.behavioural import integer_float, integer_fused
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.words import as_words
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.summation import Summation
from merp.testbenches.arithmetic.fp_bench import CLASSES, corner_values

ODD = FloatFormat(4, 3)
WIDE = FloatFormat(8, 27)
SIZES = {ODD: 40, BFLOAT16: 10, BINARY32: 25, WIDE: 25}
"""Pairs of each class."""


def uncompiled(module: ModuleType) -> Any:
    """The same module with functions that numba leaves as they are."""
    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None
    assert spec.loader is not None
    plain = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", True)
        spec.loader.exec_module(plain)
    return plain


FLOAT, FUSED = uncompiled(integer_float), uncompiled(integer_fused)


def pairs(fmt: FloatFormat) -> tuple[Bits, Bits]:
    """Corners against some corners, and every class of pairs."""
    rng = Random(str(fmt))
    corners = corner_values(fmt)
    found = [(a, b) for a in corners for b in rng.sample(corners, 8)]
    for make in CLASSES.values():
        found += make(fmt, SIZES[fmt], rng)
    a, b = (as_words(column, fmt) for column in zip(*found, strict=True))
    return a, b


@pytest.mark.parametrize("fmt", SIZES, ids=str)
def test_sums(fmt: FloatFormat) -> None:
    a, b = pairs(fmt)
    total = np.empty_like(a)
    FLOAT.accumulate(a, b, total, fmt.exp_bits, fmt.frac_bits)
    assert total.tolist() == fp_add(a, b, fmt).tolist()


@pytest.mark.parametrize("fmt", [ODD, BFLOAT16, BINARY32], ids=str)
def test_products_and_what_is_added_to_them(fmt: FloatFormat) -> None:
    a, b = pairs(fmt)
    places = fmt.exp_bits, fmt.frac_bits
    products = [FLOAT.multiply(int(x), int(y), *places) for x, y in zip(a, b, strict=True)]
    wanted = fp_mul(a, b, fmt)
    assert products == wanted.tolist()
    c = np.roll(a, 1)
    for subtract in (False, True):
        got = [
            FLOAT.scaled_add(int(x), int(y), int(z), subtract, *places)
            for x, y, z in zip(a, b, c, strict=True)
        ]
        other = wanted ^ as_words([fmt.sign_bit], fmt) if subtract else wanted
        assert got == fp_add(other, c, fmt).tolist()


class Scratch(dict[tuple[int, int], int]):
    """Terms that are written no more often than a tree of adders takes, so that it ends."""

    def __init__(self, taps: int, units: int) -> None:
        super().__init__()
        self.left = units * (taps + 2 * taps)

    def __setitem__(self, place: tuple[int, int], term: int) -> None:
        assert self.left > 0, "a tree of adders without an end"
        self.left -= 1
        super().__setitem__(place, term)


@pytest.mark.parametrize("taps", [1, 2, 3, 5, 7])
def test_trees_of_products(taps: int) -> None:
    rng = np.random.default_rng(taps)
    window = rng.normal(size=taps).astype(np.float32).view(np.uint32)
    kernels = rng.normal(size=(taps, 4)).astype(np.float32).view(np.uint32)
    sums = np.empty(4, np.uint32)
    FLOAT.sums_of_products(window, kernels, Scratch(taps, 4), sums, 8, 23)
    assert sums.tolist() == fp_tree(fp_mul(window, kernels.T, BINARY32), BINARY32).tolist()


def test_gradients() -> None:
    rng = np.random.default_rng(0)
    window, deltas = (rng.normal(size=4).astype(np.float32).view(np.uint32) for _ in "wd")
    before = rng.normal(size=(4, 4)).astype(np.float32).view(np.uint32)
    totals = np.empty_like(before)
    FLOAT.add_products(window, deltas, before, totals, 8, 23)
    products = fp_mul(window[:, None], deltas, BINARY32)
    assert totals.tolist() == fp_add(products, before, BINARY32).tolist()


@pytest.mark.parametrize("fmt", [FloatFormat(8, 24), WIDE], ids=str)
def test_rounding_to_elements(fmt: FloatFormat) -> None:
    lost = fmt.frac_bits - BINARY32.frac_bits
    ties = np.arange(4 << lost, dtype=np.uint64)  # every remainder, and a carry out of the fraction
    corners = np.array(corner_values(fmt), np.uint64)
    words = np.concatenate([corners, fmt.inf - ties, fmt.one + ties, fmt.sign_bit + fmt.one + ties])
    got = np.empty(words.size, np.uint32)
    FLOAT.narrow(words, got, fmt.exp_bits, fmt.frac_bits, lost)
    wanted = fp_convert(words, fmt, BINARY32)
    numbers = words >> fmt.frac_bits & fmt.exp_max != 0  # the adder gives no subnormals
    zeros = words & (fmt.sign_bit - 1) == 0
    assert got[numbers | zeros].tolist() == wanted[numbers | zeros].tolist()


@pytest.mark.parametrize("summation", SUMMATIONS, ids=id_of)
def test_fused_sums(summation: Summation) -> None:
    a, b = windows(250, summation.window)
    wanted = fused_sum(a, b, summation)
    got = np.empty_like(wanted)
    for index in range(len(a)):
        kernels, sums = b[index].reshape(9, 1), got[index : index + 1]
        FUSED.sums_of_products(a[index], kernels, sums, *arithmetic(summation))
    assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("summation", [SUMMATIONS[0], SUMMATIONS[6]], ids=id_of)
def test_what_is_no_number(summation: Summation) -> None:
    a, b = specials_everywhere()
    wanted = fused_sum(a, b, summation)
    got = np.empty_like(wanted)
    for index in range(len(a)):
        kernels, sums = b[index].reshape(3, 1), got[index : index + 1]
        FUSED.sums_of_products(a[index], kernels, sums, *arithmetic(summation))
    assert got.tolist() == wanted.tolist()


def test_fused_sums_of_rows() -> None:
    summation = SUMMATIONS[0]
    a, b = windows(6, 1)  # columns, taps; of the deltas the first two are units
    sums = np.zeros((9, 2), np.uint32)
    FUSED.sums_of_rows(a, b[:, :2], sums, 9, *arithmetic(summation))
    wanted = [[int(fused_sum(a[:, tap], b[:, unit], summation)) for unit in range(2)]
              for tap in range(9)]  # fmt: skip
    assert sums.tolist() == wanted
