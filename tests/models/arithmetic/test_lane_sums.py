"""The fast way of sums of products against the plain definitions: bits, borders, refusals."""

import numpy as np
import pytest

from marks import few
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.lane_sums import Terms, lane_sums, offsets
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, Summation
from merp.models.golden.convolution import convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient

INF, NAN, SIGN, ONE = BINARY32.inf, BINARY32.nan, BINARY32.sign_bit, BINARY32.one
FUSED = [Summation(kind="fused", dsp=d, window=w) for d in (1, 2) for w in range(28, 33)]
# Windows below a product's bits, as many, and more.
NARROW = [
    Summation(kind="fused", operand=bits, window=window)
    for bits, windows in ((8, (16, 17, 18, 22)), (11, (16, 22)))
    for window in windows
]
CHOICES = [TREE, *FUSED, *NARROW]


def named(choice: Summation) -> str:
    return f"{choice.kind}-{choice.operand}bits-{choice.dsp}dsp-{choice.window}"


every_choice = pytest.mark.parametrize("choice", CHOICES, ids=named)
TAPS = few([*range(1, 13), 16, 17, 25, 27, 49, 121], 1, 2, 3, 4, 9, 12, 25)
SHORT = [1, 2, 9, 10, 25]
GROUPS, MAPS, OUTPUTS = 3, 3, 19

# Exponent fields of the factors: usual numbers, any whose products may be flushed, subnormals
# among them; products on either side of the smallest normal number; near overflow.
RANGES = {"usual": (110, 130), "any": (0, 130), "least": (60, 68), "large": (180, 192)}


def random_words(shape: tuple[int, ...], kind: str, rng: np.random.Generator) -> Bits:
    low, high = RANGES[kind]
    field = rng.integers(low, high, shape)
    fraction = rng.integers(0, 1 << 23, shape)
    few = rng.integers(0, 3, shape)  # short fractions make ties, full ones carry
    fraction = np.select([few == 0, few == 1], [fraction & 0x700000, fraction], 0x7FFFFE | few)
    words = rng.integers(0, 2, shape) << 31 | field << 23 | fraction
    zero = rng.random(shape) < 0.1
    return np.where(zero, words & SIGN, words).astype(np.uint32)


def random_terms(taps: int, kind: str, seed: int) -> Terms:
    rng = np.random.default_rng([seed, taps])
    words = random_words((GROUPS * taps * OUTPUTS,), kind, rng)
    lanes = np.arange(OUTPUTS) if taps & 1 else rng.permutation(OUTPUTS)
    return Terms(
        words=words,
        rows=(np.arange(GROUPS * taps) * OUTPUTS).reshape(GROUPS, taps),
        lanes=lanes,
        weights=random_words((GROUPS, MAPS, taps), kind, rng),
        start=random_words((MAPS,), "usual", rng) if seed & 1 else np.zeros(MAPS, np.uint32),
    )


def plain(terms: Terms, choice: Summation) -> Bits:
    """By the definition: sums of products from the golden parts, groups ascending."""
    size = len(terms.lanes), len(terms.start)
    total = np.broadcast_to(terms.start, size)
    for rows, weights in zip(terms.rows, terms.weights, strict=True):
        x = terms.words[rows + terms.lanes[:, np.newaxis]][:, np.newaxis]
        if choice.kind == "fused":
            each = fused_sum(x, weights, choice)
        else:
            each = fp_tree(fp_mul(x, weights, BINARY32), BINARY32)
        total = fp_add(total, each, BINARY32)
    return total


def check(terms: Terms, choice: Summation) -> Bits:
    found = lane_sums(terms, BINARY32, choice)
    assert found is not None
    np.testing.assert_array_equal(found, plain(terms, choice))
    return found


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["usual", "any", "least"])
@pytest.mark.parametrize("taps", TAPS)
def test_trees_are_those_of_rounding_adders(taps: int, kind: str) -> None:
    for seed in range(4):
        check(random_terms(taps, kind, seed), TREE)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "choice", few([*FUSED, *NARROW], FUSED[0], FUSED[-1], NARROW[1], NARROW[-1]), ids=named
)
@pytest.mark.parametrize("taps", few(SHORT, 1, 9))
def test_fused_sums_are_those_of_the_definition(taps: int, choice: Summation) -> None:
    for seed, kind in enumerate(("usual", "any", "least", "usual")):
        check(random_terms(taps, kind, seed), choice)


@every_choice
def test_the_largest_mantissas_with_every_sign(choice: Summation) -> None:
    """The most that a sum's halves hold: 1,024 products, none of which cancels another."""
    signs = np.array([0, SIGN], np.uint32)
    full = np.uint32(ONE | 0x7FFFFF)
    terms = Terms(
        words=np.concatenate([np.full(1024, full | sign) for sign in signs]),
        rows=np.arange(1024).reshape(1, 1024),
        lanes=np.array([0, 1024]),
        weights=np.stack([np.full(1024, full | sign) for sign in signs])[np.newaxis],
        start=np.zeros(2, np.uint32),
    )
    check(terms, choice)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (0x00800000, 0x3F7FFFFF, 0x00000000),  # 2^-126 * (1 - 2^-24): the processor rounds it up
        (0x80800000, 0x3F7FFFFF, 0x80000000),
        (0x00800001, 0x3F7FFFFE, 0x00800000),
        (0x00C00000, 0x3F2AAAAB, 0x00800000),
        (0x00C00000, 0x3F2AAAAA, 0x00000000),
        (0x007FFFFF, 0x7F000000, 0x00000000),  # a subnormal operand is zero
        (0x00800000, 0x00800000, 0x00000000),
    ],
)
def test_products_at_the_smallest_normal_number(a: int, b: int, wanted: int) -> None:
    word, one = np.array([a], np.uint32), np.array([[0]])
    weights = np.array([[[b]]], np.uint32)
    start = np.array([wanted & SIGN], np.uint32)  # (-0) + (-0) keeps the product's sign
    assert lane_sums(Terms(word, one, one[0], weights, start), BINARY32, TREE) == wanted


def test_sums_that_are_too_small_become_zeros_of_their_sign() -> None:
    words = np.array([0x00800001, 0x80800000, 0x80800001, 0x00800000], np.uint32)
    rows, ones = np.array([[0, 1]]), np.full((1, 1, 2), ONE, np.uint32)
    for start in (0, SIGN):
        terms = Terms(words, rows, np.array([0, 2]), ones, np.array([start], np.uint32))
        assert check(terms, TREE).reshape(-1).tolist() == [0, start]


@pytest.mark.parametrize("choice", FUSED, ids=named)
@pytest.mark.parametrize("large", [0x7F000000, 0xFF7FFFFF])
def test_a_zero_adds_nothing_whatever_the_other_factor(large: int, choice: Summation) -> None:
    for words, weights in (([0, ONE], [large, 0x30000001]), ([large, 0x30000001], [0, ONE])):
        terms = Terms(
            words=np.array(words, np.uint32),
            rows=np.array([[0, 1]]),
            lanes=np.array([0]),
            weights=np.array([[weights]], np.uint32),
            start=np.zeros(1, np.uint32),
        )
        assert check(terms, choice)[0, 0] != 0


@pytest.mark.parametrize("beside", [-1, 0, 1])
@pytest.mark.parametrize("choice", FUSED, ids=named)
def test_terms_halfway_between_two_units_are_rounded_up(choice: Summation, beside: int) -> None:
    """Products halfway between two units, or one step of the multiplier above or below.

    step: places of a product that are always zero.
    """
    step, dropped = (0, 50 - choice.window) if choice.dsp == 2 else (7, 43 - choice.window)
    rng = np.random.default_rng(beside + 1)
    a = rng.integers(1 << 22, 1 << 23, 40) * 2 + 1
    wanted = (1 << dropped - 1) + beside
    inverse = np.array([pow(int(x), -1, 1 << dropped) for x in a])
    b = ((1 << 23 - step) + (wanted * inverse) % (1 << dropped)) << step
    words = (ONE | (a & 0x7FFFFF) | np.where(rng.random(a.size) < 0.5, SIGN, 0)).astype(np.uint32)
    terms = Terms(
        words=words,
        rows=np.array([[0]]),
        lanes=np.arange(a.size),
        weights=(ONE | (b & 0x7FFFFF)).reshape(1, -1, 1).astype(np.uint32),
        start=np.zeros(a.size, np.uint32),
    )
    own = np.diagonal(check(terms, choice)).view(np.float32).astype(np.float64)
    exact = np.diagonal(a[:, None] * b[None, :]) * np.where(words & SIGN, -1.0, 1.0) * 2.0**-46
    unit = 2.0 ** (4 - choice.window)
    rounded = np.floor(exact / unit + 0.5) * unit
    np.testing.assert_array_equal(own, rounded.astype(np.float32))


@every_choice
@pytest.mark.parametrize("word", [INF, SIGN | INF, NAN, SIGN | NAN | 1, INF - 1])
def test_what_is_not_finite_or_too_large_is_left_to_the_plain_way(
    choice: Summation, word: int
) -> None:
    terms = random_terms(9, "usual", 0)
    terms.words[5] = word
    terms.weights[0, :, 0] = terms.weights[0, :, 5] = ONE
    assert lane_sums(terms, BINARY32, choice) is None


@pytest.mark.parametrize("choice", NARROW, ids=named)
def test_narrow_factors_are_rounded_to_nearest_even_and_subnormals_are_zeros(
    choice: Summation,
) -> None:
    unit = 1 << (24 - choice.operand)
    ties = [ONE + steps * unit + unit // 2 for steps in (0, 1, 2, 3, (1 << choice.operand - 1) - 1)]
    words = np.array([*ties, ties[0] + 1, ties[1] - 1, 0x007FFFFF, 0x00400000], np.uint32)
    for weight in (ONE, ties[0], ties[1], 0x7E000000):
        terms = Terms(
            words=words,
            rows=np.array([[0]]),
            lanes=np.arange(words.size),
            weights=np.array([[[weight]]], np.uint32),
            start=np.zeros(1, np.uint32),
        )
        found = check(terms, choice).reshape(-1)
        assert not found[-2:].any()
        assert found[0] != found[1]


@every_choice
def test_sums_that_overflow_are_left_to_the_plain_way(choice: Summation) -> None:
    terms = random_terms(9, "large", 0)
    assert lane_sums(terms, BINARY32, choice) is None
    assert (plain(terms, choice) & INF == INF).any()


def test_other_formats_and_wide_accumulators_are_left_to_the_plain_way() -> None:
    terms = random_terms(9, "usual", 0)
    assert lane_sums(terms, BFLOAT16, TREE) is None
    assert lane_sums(terms, BINARY32, Summation(kind="fused", precision=28)) is None


@pytest.mark.parametrize(("window", "most"), [(32, 1), (30, 7), (24, 511)])
def test_more_narrow_terms_than_32_bits_hold_are_left_to_the_plain_way(
    window: int, most: int
) -> None:
    choice = Summation(kind="fused", operand=8, window=window)
    check(random_terms(most, "usual", 0), choice)
    assert lane_sums(random_terms(most + 1, "usual", 0), BINARY32, choice) is None


def test_offsets_walk_a_grid_with_the_last_axis_innermost() -> None:
    assert offsets((2, 3), (100, 7)).tolist() == [0, 7, 14, 100, 107, 114]


@pytest.mark.sample(6)
@every_choice
def test_operations_that_take_the_plain_way_agree_with_those_that_need_not(
    choice: Summation,
) -> None:
    """An image or a map that is not finite sends all to the plain way: others keep their bits."""
    choice = Summation(
        kind=choice.kind,
        dsp=choice.dsp,
        operand=choice.operand,
        window=choice.window,
        ku_kind="row" if choice.kind == "fused" else "position",
    )
    rng = np.random.default_rng(7)
    shape = Shape(rows=6, columns=5, n=2, m=3, k=3, stride=2, pad=1)
    x = random_words((2, 6, 5, 2), "usual", rng)
    kernels, bias = random_words((3, 2, 3, 3), "usual", rng), random_words((3,), "usual", rng)
    delta = random_words((2, shape.out_rows, shape.out_columns, 3), "usual", rng)

    def all_of(x: Bits, delta: Bits) -> tuple[Bits, Bits, Bits]:
        return (
            convolution(x, kernels, bias, 2, 1, BINARY32, choice)[:1],
            kernel_gradient(x, delta, shape, BINARY32, choice)[:2],
            bias_gradient(delta, BINARY32)[:2],
        )

    usual = all_of(x, delta)
    strange, other = x.copy(), delta.copy()
    strange[1] = INF
    other[..., 2] = NAN
    found = all_of(strange, delta)[0], all_of(x, other)[1], all_of(x, other)[2]
    for here, there in zip(usual, found, strict=True):
        np.testing.assert_array_equal(here, there)
