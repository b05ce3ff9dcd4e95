"""Golden kernel update with ``ku_kind = "row"``: bits, order, what is no number, error."""

import struct
from fractions import Fraction
from math import floor, frexp

import numpy as np
import pytest

from checkout import BLOCK_PAGES
from exact import add, rounded
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY32
from merp.models.base.shape import Shape
from merp.models.base.summation import Summation
from merp.models.golden.kernel_update import gradients, kernel_gradient
from merp.models.network.network import Layer

PAGE = BLOCK_PAGES / "cnn_merp" / "gradient_array" / "row_array.md"
INF, NAN, SIGN, ONE = BINARY32.inf, BINARY32.nan, BINARY32.sign_bit, BINARY32.one


def choose(dsp: int = 1, window: int = 32) -> Summation:
    return Summation(kind="fused", dsp=dsp, window=window, ku_kind="row")


CHOICES = [choose(1, 28), choose(1, 32), choose(2, 30), choose(2, 32)]
every_choice = pytest.mark.parametrize("choice", CHOICES, ids=lambda c: f"{c.dsp}dsp-{c.window}")

SHAPES = [
    Shape(n=2, m=3, k=3, rows=4, columns=5, pad=1),
    Shape(n=3, m=2, k=2, rows=5, columns=6, stride=2),
    Shape(n=1, m=2, k=5, rows=9, columns=8, stride=3, pad=4),
    Shape(n=1, m=2, k=3, rows=2, columns=19, pad=2),
    Shape(n=7, m=9, k=1, rows=1, columns=1),  # fully connected
]


def words(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Numbers over many binades, some of them zeros, subnormals, or the ends of the format."""
    values = to_bits(rng.standard_normal(size) * 2.0 ** rng.integers(-8, 8, size), BINARY32)
    corners = rng.choice(np.array([0, SIGN, 1, SIGN | 5, 1 << 23, INF - 1], np.uint32), size)
    return np.where(rng.random(size) < 0.1, corners, values)


def operands(shape: Shape, seed: int = 0, images: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = words(rng, (images, shape.rows, shape.columns, shape.n))
    return x, words(rng, (images, shape.out_rows, shape.out_columns, shape.m))


def value(word: int) -> Fraction:
    """A finite word's value; a subnormal's is zero."""
    number = struct.unpack("<f", word.to_bytes(4, "little"))[0]
    return Fraction(number) if abs(number) >= 2.0**-126 else Fraction(0)


def exponent(number: Fraction) -> int:
    """Of the leading one."""
    return frexp(float(number))[1] - 1


def cut(number: Fraction, quantum: Fraction) -> Fraction:
    return floor(number / quantum) * quantum


def seen_product(x: Fraction, d: Fraction, choice: Summation) -> Fraction:
    """The product, less what one DSP cuts off those of the four lowest digits of d."""
    if choice.dsp == 2:
        return x * d
    place = Fraction(2) ** (exponent(d) - 23)
    quantum = Fraction(2) ** (exponent(x) + exponent(d) - choice.window)
    high = cut(d, place * 128)
    kept, rest = x * high, d - high
    for j in (3, 2, 1, 0):
        digit = cut(rest, place * 4**j)
        rest -= digit
        kept += cut(x * digit, quantum)
    return kept


def slow_row_sum(row: list[tuple[int, int]], choice: Summation) -> int:
    """Row of pairs: products rounded half up to a common unit, summed, rounded to nearest even."""
    factors = [(value(x), value(d)) for x, d in row]
    factors = [(x, d) for x, d in factors if x and d]
    if not factors:
        return 0
    largest = max(exponent(x) + exponent(d) for x, d in factors)
    unit = Fraction(2) ** (largest + 4 - choice.window)
    units = sum(floor(seen_product(x, d, choice) / unit + Fraction(1, 2)) for x, d in factors)
    if units == 0:
        return 0
    return rounded(units < 0, abs(units) * unit, BINARY32, flush=True).word


def slow_gradient(x: np.ndarray, delta: np.ndarray, shape: Shape, choice: Summation) -> np.ndarray:
    result = np.zeros((shape.m, shape.n, shape.k, shape.k), np.uint32)
    for j, i, dr, dc in np.ndindex(*result.shape):
        total = 0
        for image, r in np.ndindex(len(x), shape.out_rows):
            row = []
            for c in range(shape.out_columns):
                down = r * shape.stride + dr - shape.top
                right = c * shape.stride + dc - shape.left
                inside = 0 <= down < shape.rows and 0 <= right < shape.columns
                word = int(x[image, down, right, i]) if inside else 0
                row.append((word, int(delta[image, r, c, j])))
            total = add(total, slow_row_sum(row, choice), BINARY32).word
        result[j, i, dr, dc] = total
    return result


@pytest.mark.sample(8)
@every_choice
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"k{s.k}-{s.out_rows}x{s.out_columns}")
def test_gradient_is_summed_row_by_row(shape: Shape, choice: Summation) -> None:
    x, delta = operands(shape)
    got = kernel_gradient(x, delta, shape, BINARY32, choice)
    np.testing.assert_array_equal(got, slow_gradient(x, delta, shape, choice))


def test_gradients_take_the_layers_summation() -> None:
    shape = SHAPES[0]
    layer = Layer(name="conv", kind="conv", groups=1, shape=shape)
    pair, choice = operands(shape), choose()
    by_row = gradients(layer, *pair, BINARY32, choice)
    by_position = gradients(layer, *pair, BINARY32, Summation(kind="fused"))
    wanted = kernel_gradient(*pair, shape, BINARY32, choice)
    np.testing.assert_array_equal(by_row[0], wanted)
    assert (by_row[0] != by_position[0]).any()
    np.testing.assert_array_equal(by_row[1], by_position[1])


def test_the_order_of_columns_does_not_count_and_that_of_rows_does() -> None:
    shape = Shape(n=4, m=4, k=1, rows=6, columns=9)
    x, delta = operands(shape, 3)
    choice = choose()
    wanted = kernel_gradient(x, delta, shape, BINARY32, choice)
    order = np.random.default_rng(3).permutation(9)
    mixed = kernel_gradient(x[:, :, order], delta[:, :, order], shape, BINARY32, choice)
    np.testing.assert_array_equal(mixed, wanted)
    turned = kernel_gradient(x[:, ::-1], delta[:, ::-1], shape, BINARY32, choice)
    assert (turned != wanted).any()


def one_gradient(rows: list[list[tuple[int, int]]]) -> int:
    """The gradient of a single element under rows of pairs (x, delta)."""
    pairs = np.array(rows, np.uint32)
    shape = Shape(n=1, m=1, k=1, rows=len(pairs), columns=pairs.shape[1])
    x, delta = (pairs[None, :, :, side, None] for side in (0, 1))
    return int(kernel_gradient(x, delta, shape, BINARY32, choose()).item())


def test_rows_with_infinities_and_nans() -> None:
    fill = (ONE, ONE)
    for word, partner, wanted in (
        (INF, ONE, INF), (INF, ONE | SIGN, INF | SIGN), (INF | SIGN, INF | SIGN, INF),
        (INF, 0, NAN), (INF, SIGN | 1, NAN), (NAN | SIGN | 9, 0, NAN), (INF + 1, ONE, NAN),
    ):  # fmt: skip
        for pair in ((word, partner), (partner, word)):
            assert one_gradient([[fill, pair, fill], [fill] * 3]) == wanted
            assert one_gradient([[fill] * 3, [pair, fill, fill]]) == wanted
    above, below = (INF, ONE), (ONE, INF | SIGN)
    assert one_gradient([[above, below]]) == one_gradient([[above], [below]]) == NAN
    assert one_gradient([[above, fill], [above, above]]) == INF


def test_rows_without_a_sum() -> None:
    """Zeros of either sign, exact cancellation, and what is flushed or overflows by its sum."""
    minus, tiny = ONE | SIGN, 1 << 23
    assert one_gradient([[(SIGN, ONE)] * 2, [(ONE, SIGN)] * 2]) == 0
    assert one_gradient([[(ONE, ONE), (ONE, minus)]]) == 0
    assert one_gradient([[(tiny, ONE - tiny | SIGN)]]) == 0  # +0 + -0
    assert one_gradient([[(tiny, ONE), (tiny, minus + 1)]]) == 0
    largest, two = INF - 1, ONE + tiny
    assert one_gradient([[(largest, two), (largest, minus)]]) == largest
    assert one_gradient([[(largest, two)], [(largest, minus)]]) == INF


def test_the_longest_rows() -> None:
    """4096 products of the largest mantissas: sums of 43 bits."""
    rows = [[(ONE | 0x7FFFFF, ONE | 0x7FFFFF | sign)] * 4095 + [(ONE, ONE)] for sign in (0, SIGN)]
    for row in rows:
        assert one_gradient([row]) == slow_row_sum(row, choose())


def test_one_rounding_a_row() -> None:
    big, minus = (ONE + (24 << 23), ONE), (ONE + (24 << 23), ONE | SIGN)
    one, three = (ONE, ONE), 0x40400000
    assert one_gradient([[big, one, one, one, minus]]) == three
    assert one_gradient([[big, one], [one, minus]]) == ONE  # 2^24 + 1 is a tie
    assert one_gradient([[big], [one], [minus]]) == 0


def kinds(count: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Inputs and deltas, (count, 4) each: in the order of the page's table."""
    rng = np.random.default_rng(2024)
    size = (count, 4)
    maps = np.maximum(rng.standard_normal(size), 0)
    normal = rng.standard_normal(size)
    heavy = np.sign(rng.standard_normal(size)) * np.exp(2 * rng.standard_normal(size))
    return {
        "sparse deltas": (maps, np.where(rng.random(size) < 0.25, normal, 0)),
        "heavy tails": (maps, heavy),
        "all positive": (np.abs(normal), np.abs(heavy) + 1),
    }


def test_error_is_what_the_page_says() -> None:
    """|error| / sum of |products| in 2^-24, mean and largest of 16 sums of 128 * 27 * 27 terms."""
    shape = Shape(n=4, m=4, k=1, rows=27, columns=27)
    choices = {
        "`position`": Summation(kind="fused"),
        "`row`": choose(),
        "`row`, 28 bits": Summation(kind="fused", ku_kind="row", precision=28),
    }
    lines = {name: f"| {name} |" for name in choices}
    for maps, deltas in kinds(128 * 27 * 27).values():
        x, delta = (to_bits(v, BINARY32).reshape(128, 27, 27, 4) for v in (maps, deltas))
        products = (
            to_values(x, BINARY32).reshape(-1, 1, 4) * to_values(delta, BINARY32).reshape(-1, 4, 1)
        ).reshape(-1, 16)
        exact = products.sum(axis=0)  # binary64: off by less than 2^-12 of the unit
        error = {}
        for name, choice in choices.items():
            got = to_values(kernel_gradient(x, delta, shape, BINARY32, choice), BINARY32)
            error[name] = np.abs(got.reshape(-1) - exact) / np.abs(products).sum(0) * 2**24
            lines[name] += f" {error[name].mean():.2f} / {error[name].max():.2f} |"
        assert error["`row`"].mean() < error["`position`"].mean()
    for line in lines.values():
        assert line in PAGE.read_text(), line
