"""The golden adder and multiplier against exact rational arithmetic, and against NumPy's float32.

Directed words first: the borders at which rounding, flushing and overflow change their mind.
"""

from itertools import product

import numpy as np
import pytest

from exact import OPERATIONS, add, number, rounded
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat

SMALLEST, ODD = FloatFormat(3, 2), FloatFormat(4, 3)
FORMATS = {
    "binary32": BINARY32,
    "bfloat16": BFLOAT16,
    "binary16": BINARY16,
    "e3f2": SMALLEST,
    "e4f3": ODD,
    "e3f23": FloatFormat(3, 23),
    "e8f2": FloatFormat(8, 2),
}
WIDE = FloatFormat(8, 27)  # of accumulators: 53 < 2p + 2
SUMS_ONLY = {"e8f27": WIDE, "e8f25": FloatFormat(8, 25), "e4f27": FloatFormat(4, 27)}
GOLDEN = {"add": fp_add, "mul": fp_mul}
every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
every_operation = pytest.mark.parametrize("op", GOLDEN)


def corners(fmt: FloatFormat) -> list[int]:
    """Words at which something changes, both signs."""
    normal = 1 << fmt.frac_bits
    full = normal - 1  # all fraction bits
    half = (fmt.bias - 1) << fmt.frac_bits
    words = [
        *(0, 1, full),  # zero, subnormals
        *(normal, normal + 1, normal + full, 2 * normal),  # the smallest normals
        *(half, half | full, fmt.one, fmt.one + 1, fmt.one + normal),
        *(fmt.one + (fmt.frac_bits << fmt.frac_bits), fmt.one | normal >> 1),
        *(fmt.inf - normal, fmt.inf - 2, fmt.inf - 1, fmt.inf),
        *(fmt.inf + 1, fmt.nan, fmt.nan | full),  # signalling, canonical, with payload
    ]
    return sorted(
        {word | sign for word in words if word < fmt.sign_bit for sign in (0, fmt.sign_bit)}
    )


def check(op: str, pairs: list[tuple[int, int]], fmt: FloatFormat) -> None:
    assert pairs
    got = GOLDEN[op]([a for a, _ in pairs], [b for _, b in pairs], fmt)
    for (a, b), word in zip(pairs, got.tolist(), strict=True):
        wanted = OPERATIONS[op](a, b, fmt).word
        assert word == wanted, f"{op} {a:x} {b:x}: {word:x}, not {wanted:x}"


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        ("mul", 0x00800001, 0x3F7FFFFE, 0x00800000),  # 2^-126 * (1 - 2^-46) rounds to normal
        ("mul", 0x00800000, 0x3F7FFFFF, 0x00000000),  # 2^-126 * (1 - 2^-24): IEEE rounds it up
        ("mul", 0x80800000, 0x3F7FFFFF, 0x80000000),
        ("mul", 0x00C00000, 0x3F2AAAAB, 0x00800000),  # just above the smallest normal
        ("mul", 0x00C00000, 0x3F2AAAAA, 0x00000000),  # just below, in the last place
        ("mul", 0x00800000, 0x00800000, 0x00000000),
        ("mul", 0x7F7FFFFF, 0x3F800001, 0x7F800000),
        ("mul", 0x7F000000, 0xC0000000, 0xFF800000),
        ("mul", 0x007FFFFF, 0x7F7FFFFF, 0x00000000),  # a subnormal operand is zero
        ("mul", 0x80000001, 0x7F800000, 0x7FC00000),  # and zero times infinity is NaN
        ("add", 0x00800001, 0x80800000, 0x00000000),  # an exact but subnormal difference
        ("add", 0x80800001, 0x00800000, 0x80000000),
        ("add", 0x00800000, 0x807FFFFF, 0x00800000),
        ("add", 0x3F800000, 0xBF800000, 0x00000000),
        ("add", 0x80000000, 0x80000000, 0x80000000),
        ("add", 0x80000000, 0x80000001, 0x80000000),
        ("add", 0x80000000, 0x00000001, 0x00000000),
        ("add", 0x3F800000, 0x33800000, 0x3F800000),  # half a unit: to the even 1
        ("add", 0x3F800001, 0x33800000, 0x3F800002),
        ("add", 0x3F800000, 0x33800001, 0x3F800001),
        ("add", 0x3F800000, 0xB3000000, 0x3F800000),  # half of the smaller unit below 1
        ("add", 0x3F800000, 0xB3000001, 0x3F7FFFFF),
        ("add", 0x4B800001, 0x3F800000, 0x4B800002),
        ("add", 0x7F7FFFFF, 0x73000000, 0x7F800000),  # half a unit above the largest
        ("add", 0x7F7FFFFF, 0x72FFFFFF, 0x7F7FFFFF),
        ("add", 0x7F000000, 0x00800000, 0x7F000000),
        ("add", 0x7F800000, 0xFF800000, 0x7FC00000),
        ("add", 0xFFFFFFFF, 0x3F800000, 0x7FC00000),
    ],
)
def test_directed_binary32(op: str, a: int, b: int, wanted: int) -> None:
    assert OPERATIONS[op](a, b, BINARY32).word == wanted, "the oracle itself"
    assert GOLDEN[op](a, b, BINARY32) == wanted
    assert GOLDEN[op](b, a, BINARY32) == wanted


@every_operation
@every_format
def test_corners_against_corners(op: str, fmt: FloatFormat) -> None:
    check(op, list(product(corners(fmt), repeat=2)), fmt)


@every_operation
@pytest.mark.parametrize("fmt", [SMALLEST, FloatFormat(4, 2)], ids=["e3f2", "e4f2"])
def test_every_pair(op: str, fmt: FloatFormat) -> None:
    check(op, list(product(range(1 << fmt.width), repeat=2)), fmt)


def random_pairs(fmt: FloatFormat, count: int, seed: int) -> list[tuple[int, int]]:
    """Pairs of each class: any bits, sums that cancel, products at the borders, sparse words."""
    rng = np.random.default_rng(seed)
    fraction = 1 << fmt.frac_bits

    def words(exponent: np.ndarray, sparse: bool = False) -> np.ndarray:
        low = rng.integers(0, fraction, count)
        if sparse:  # few ones: ties
            low &= rng.integers(0, fraction, count) & rng.integers(0, fraction, count)
        field = np.clip(exponent, 0, fmt.exp_max)
        return rng.integers(0, 2, count) * fmt.sign_bit + field * fraction + low

    any_a, any_b = rng.integers(0, 1 << fmt.width, (2, count))
    base = rng.integers(0, fmt.exp_max + 1, count)
    near = base + rng.integers(-2, 3, count)
    apart = base + rng.integers(-fmt.frac_bits - 3, fmt.frac_bits + 4, count)
    under = fmt.bias + 1 - base + rng.integers(-2, 3, count)
    over = 3 * fmt.bias - base + rng.integers(-2, 3, count)
    columns = [
        (any_a, any_b),
        (words(base), words(near)),
        (words(base, sparse=True), words(apart, sparse=True)),
        (words(base), words(under)),
        (words(base, sparse=True), words(under, sparse=True)),
        (words(base), words(over)),
    ]
    return [pair for a, b in columns for pair in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.sample(5)
@every_operation
@every_format
def test_random_classes(op: str, fmt: FloatFormat) -> None:
    check(op, random_pairs(fmt, 500, seed=3), fmt)


@pytest.mark.parametrize("fmt", SUMS_ONLY.values(), ids=SUMS_ONLY)
def test_sums_of_accumulators(fmt: FloatFormat) -> None:
    check("add", list(product(corners(fmt), repeat=2)), fmt)
    check("add", random_pairs(fmt, 1000, seed=4), fmt)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("ulp", [1, -1])
@pytest.mark.parametrize("sign", [0, WIDE.sign_bit])
def test_sums_of_accumulators_that_binary64_alone_rounds_to_a_tie(last, ulp, sign) -> None:
    """1 + last * 2^-27 + (2^-28 -+ 2^-56): binary64 has no room for the 2^-56."""
    a = WIDE.one | last
    b = WIDE.one - (28 << WIDE.frac_bits)
    b += 1 if ulp > 0 else -1
    total = sum(to_values([a, b], WIDE))
    assert total == 1 + last * 2.0**-27 + 2.0**-28
    check("add", [(a | sign, b | sign), (b | sign, a | sign)], WIDE)


def test_products_and_trees_are_of_elements_only() -> None:
    with pytest.raises(ValueError, match="frac_bits of elements must be at most 23, not 27"):
        fp_mul(WIDE.one, WIDE.one, WIDE)


@pytest.mark.parametrize(
    ("fmt", "target"), [(WIDE, BINARY32), (BINARY32, WIDE), (FloatFormat(4, 9), FloatFormat(4, 3))]
)
def test_conversion_rounds_once(fmt: FloatFormat, target: FloatFormat) -> None:
    words = [*corners(fmt), *(a for a, _ in random_pairs(fmt, 1000, seed=6))]
    lost = max(fmt.frac_bits - target.frac_bits, 1)
    ties = [
        fmt.one + (odd << lost) + (1 << lost >> 1) + ulp for odd in (0, 1) for ulp in (-1, 0, 1)
    ]
    words += [*ties, *(fmt.inf - last for last in range(1, 2 << lost))]
    for word, got in zip(words, fp_convert(words, fmt, target).tolist(), strict=True):
        operand = number(word, fmt, flush=True)
        sign = target.sign_bit if operand.negative else 0
        wanted = sign | target.inf
        if operand.nan:
            wanted = target.nan
        elif operand.magnitude is not None:
            wanted = rounded(operand.negative, operand.magnitude, target, flush=True).word
        assert got == wanted, f"{word:x}: {got:x}, not {wanted:x}"


@every_operation
def test_equals_numpy_where_nothing_is_subnormal(op: str) -> None:
    a, b = np.array(random_pairs(BINARY32, 100_000, seed=5), np.uint32).T
    x, y = a.view(np.float32), b.view(np.float32)
    with np.errstate(all="ignore"):
        result = x + y if op == "add" else x * y
    smallest = np.finfo(np.float32).tiny
    plain = np.ones(len(a), bool)
    for operand in (x, y):
        plain &= (np.abs(operand) >= smallest) | (operand == 0)
    # IEEE rounds some products up to the smallest normal that are below it before: left out.
    plain &= (np.abs(result) > smallest) | (result == 0) | np.isnan(result)
    if op == "mul":
        plain &= (result != 0) | (x == 0) | (y == 0)
    wanted = np.where(np.isnan(result), BINARY32.nan, result.view(np.uint32))
    assert plain.sum() > 200_000
    np.testing.assert_array_equal(GOLDEN[op](a, b, BINARY32)[plain], wanted[plain])


@every_format
def test_words_and_values_are_one_to_one(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(1)
    words = np.array([*corners(fmt), *rng.integers(0, 1 << fmt.width, 5000)], np.uint32)
    field = words >> fmt.frac_bits & fmt.exp_max
    is_nan = (field == fmt.exp_max) & (words & ((1 << fmt.frac_bits) - 1) != 0)
    canonical = np.where(field == 0, words & fmt.sign_bit, np.where(is_nan, fmt.nan, words))
    np.testing.assert_array_equal(to_bits(to_values(words, fmt), fmt), canonical)


def test_binary32_values_are_numpys() -> None:
    numbers = np.array([0.0, -0.0, 1.5, -(2.0**-126), 3e38, np.inf, -np.inf], np.float32)
    words = to_bits(numbers, BINARY32)
    np.testing.assert_array_equal(words, numbers.view(np.uint32))
    np.testing.assert_array_equal(to_values(words, BINARY32), numbers.astype(float))


def test_numbers_from_outside_round_once() -> None:
    payload = np.array([0x7FFFFFFFFFFFFFFF, 0xFFF0000000000001], np.uint64).view(np.float64)
    assert (to_bits(payload, BINARY16) == BINARY16.nan).all()
    assert to_bits([1 + 2.0**-11, 1 + 3 * 2.0**-11, 65519.9, 65520.0], BINARY16).tolist() == [
        *(0x3C00, 0x3C02, 0x7BFF, 0x7C00)
    ]
    assert to_bits([5e-324, -1e-310, 2.0**-15], BINARY16).tolist() == [0, 0x8000, 0]


def test_shapes_broadcast() -> None:
    ones = np.full((2, 1, 3), BINARY32.one, np.uint32)
    assert fp_add(ones, np.zeros((4, 1), np.uint32), BINARY32).shape == (2, 4, 3)
    assert fp_mul(BINARY32.one, BINARY32.one, BINARY32).shape == ()


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 25, 121])
def test_tree_adds_neighbours_and_passes_the_odd_one(count: int) -> None:
    rng = np.random.default_rng(count)
    terms = to_bits(rng.standard_normal((4, count)) * 2.0 ** rng.integers(-8, 9, count), ODD)

    def tree(level: list[int]) -> int:
        if len(level) == 1:
            return level[0]
        sums = [add(*level[j : j + 2], ODD).word for j in range(0, len(level) - 1, 2)]
        return tree(sums + level[len(level) - len(level) % 2 :])

    assert fp_tree(terms, ODD).tolist() == [tree(row) for row in terms.tolist()]


def test_a_tree_of_one_term_is_a_wire() -> None:
    assert fp_tree([[0x00000001], [0xFFFFFFFF]], BINARY32).tolist() == [1, 0xFFFFFFFF]


def test_a_tree_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one term"):
        fp_tree(np.zeros((3, 0), np.uint32), BINARY32)
