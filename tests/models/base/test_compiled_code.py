"""Functions that run in Python until compiling is worth it: which way, and the same results."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from merp.hdl.behavioural import integer_float, integer_fused
from merp.models.arithmetic import compiled, fused, maxima
from merp.models.arithmetic.maxima import FormatWords
from merp.models.arithmetic.words import limits
from merp.models.base import numba_cache
from merp.models.base.compiled_code import (
    PATIENCE,
    PATIENCE_KEPT,
    Compiled,
    prange,
    when_numba_is_loaded,
)
from merp.models.base.compiled_code import compiled as mark
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat

RANDOM = np.random.default_rng(0)


@mark(inline="always")
def _twice(x: int) -> int:
    return 2 * x


@mark(lambda number: 1)
def _halves(number: np.int64) -> tuple[int, float]:
    return number // np.int64(2), number / np.float64(2)


@mark(lambda numbers: numbers.size, parallel=True)
def _doubled(numbers: np.ndarray) -> np.ndarray:
    """Twice each number."""
    found = np.empty_like(numbers)
    for index in prange(numbers.size):
        found[index] = _twice(numbers[index])
    return found


def ways(monkeypatch: pytest.MonkeyPatch, function: Compiled) -> list[str]:
    """The ways that calls went, which the list gets as they come."""
    went: list[str] = []
    for way in ("python", "machine"):
        usual = getattr(function, way)
        monkeypatch.setitem(
            function.__dict__,
            way,
            lambda *args, way=way, usual=usual: went.append(way) or usual(*args),
        )
    return went


def test_python_runs_a_function_until_its_turns_are_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    went = ways(monkeypatch, _doubled)
    monkeypatch.setattr(_doubled, "_left", 10)
    for size in (4, 6, 1, 1):
        assert list(_doubled(np.arange(size))) == [2 * each for each in range(size)]
    assert went == ["python", "python", "machine", "machine"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_function_that_numba_has_kept_is_taken_sooner(
    kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it has is looked up once: many short calls would wait for a folder each time."""
    asked: list[bool] = []
    monkeypatch.setattr(numba_cache, "is_kept", lambda _: asked.append(kept) or kept)
    went = ways(monkeypatch, _doubled)
    monkeypatch.delitem(_doubled.__dict__, "_is_kept", raising=False)
    monkeypatch.setattr(_doubled, "_left", PATIENCE)
    for size in (PATIENCE_KEPT, 1, 1, 1):
        _doubled(np.arange(size))
    assert went == ["python", *(["machine"] * 3 if kept else ["python"] * 3)]
    assert asked == [kept]


def test_a_large_call_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    went = ways(monkeypatch, _doubled)
    monkeypatch.setattr(_doubled, "_left", 10)
    _doubled(np.arange(11))
    assert went == ["machine"]
    assert _doubled.__doc__ == "Twice each number."


def test_a_number_is_one_of_python_whoever_computed_it() -> None:
    """MyHDL takes no other."""
    found = [getattr(_halves, way)(np.int64(5)) for way in ("machine", "__call__")]
    assert [[type(each) for each in one] for one in found] == [[int, float]] * 2
    assert found[0] == found[1]


def test_threads_share_a_loop_of_compiled_code_only() -> None:
    for way, loop in ((prange, range), (numba.prange, numba.prange)):
        copy = _doubled._with(way, lambda other: other.python)
        assert copy.__globals__["prange"] is loop


def test_a_small_simulation_needs_no_compiler() -> None:
    code = "import sys; from merp.tools.cli import main; status = main(['simulate', 'tiny3']);"
    code += "sys.exit(status or int('numba' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_who_waits_for_numba_is_called_once() -> None:
    called = []
    with when_numba_is_loaded(lambda: called.append(1)):
        _doubled.machine(np.arange(3))
    assert called == [1]


def words(fmt: FloatFormat, *shape: int) -> np.ndarray:
    """Words of all kinds: subnormals, infinities and NaNs among them."""
    found = RANDOM.integers(0, 1 << fmt.width, shape, np.uint32)
    special = RANDOM.random(shape)
    exponents = np.uint32(((1 << fmt.exp_bits) - 1) << fmt.frac_bits)
    found[special < 0.05] |= exponents
    found[special > 0.95] &= ~exponents
    return found


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, FloatFormat(4, 3)], ids=str)
def test_both_ways_of_the_arithmetic_agree(fmt: FloatFormat) -> None:
    lim = limits(fmt)
    a, b = words(fmt, 400), words(fmt, 400)
    with np.errstate(all="ignore"):
        for each in (compiled.multiply_all, compiled.add_all):
            np.testing.assert_array_equal(each.python(a, b, lim), each.machine(a, b, lim))
        values = compiled.decode_all.machine(a, lim)
        np.testing.assert_array_equal(compiled.decode_all.python(a, lim), values)
        one, other = np.empty_like(a), np.empty_like(a)
        compiled.encode_all.python(values * 1.1, one, lim)
        compiled.encode_all.machine(values * 1.1, other, lim)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16], ids=str)
def test_both_ways_of_a_convolution_agree(fmt: FloatFormat) -> None:
    padded, kernels = words(fmt, 2, 6, 5, 3), words(fmt, 18, 3, 3, 3)
    # Mostly moderate numbers, or all sums would be NaNs.
    padded[RANDOM.random(padded.shape) < 0.9] = np.uint32(fmt.bias << fmt.frac_bits)
    args = (padded, kernels, words(fmt, 1, 18), 1, (4, 3), limits(fmt))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            compiled.convolve.python(*args), compiled.convolve.machine(*args)
        )


def test_both_ways_of_maxima_and_relu_agree() -> None:
    x = words(BINARY32, 2, 6, 6, 3)
    numbers = FormatWords(1 << 23, 0x7F800000, 1 << 31, 0x7FC00000)
    found = []
    for way in (maxima.maxima.python, maxima.maxima.machine):
        highest, place = (np.zeros((2, 3, 3, 3), np.uint32) for _ in range(2))
        way(x, 2, 2, 0, 0, numbers, highest, place)
        found.append((highest, place))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("choice", [(1, 24, 28, 24), (2, 24, 32, 24), (1, 8, 20, 24)])
def test_both_ways_of_fused_sums_agree(choice: tuple[int, ...]) -> None:
    a, b = words(BINARY32, 60, 9), words(BINARY32, 60, 9)
    one, other = np.empty(60, np.uint32), np.empty(60, np.uint32)
    fused._sums.python(a, b, one, *choice)
    fused._sums.machine(a, b, other, *choice)
    np.testing.assert_array_equal(one, other)
    sums = [np.empty(7, np.uint32) for _ in range(2)]
    for way, into in zip(("python", "machine"), sums, strict=True):
        twin = getattr(integer_fused.sums_of_products, way)
        twin(a[0], np.ascontiguousarray(b[:7].T), into, *choice)
    np.testing.assert_array_equal(*sums)


def test_both_ways_of_the_behavioural_trees_agree() -> None:
    window, kernels = words(BINARY32, 9), words(BINARY32, 9, 5)
    sums = [np.empty(5, np.uint32) for _ in range(2)]
    for way, into in zip(("python", "machine"), sums, strict=True):
        twin = getattr(integer_float.sums_of_products, way)
        twin(window, kernels, np.empty((9, 5), np.int64), into, 8, 23)
    np.testing.assert_array_equal(*sums)
