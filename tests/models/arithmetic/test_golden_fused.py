"""Golden fused sum of products against exact rational arithmetic: bits and bounds."""

from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest

from checkout import ROOT
from exact import add as exact_add
from exact import number, rounded
from marks import few, in_full
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32
from merp.models.base.summation import Summation
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_convolution
from merp.models.golden.super_layer import super_layer
from merp.models.golden.training import forward, initial_model, propagate
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.phases import delta_design
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.testbenches.arithmetic.fused_bench import CASES, directed, random_windows
from needed_tools import needs
from network_text import layer, network_text
from terminal import Terminal

SIZES = [(dsp, window, 24) for dsp in (1, 2) for window in (28, 30, 32)]
SIZES += [(1, 32, 28), (2, 32, 27), (1, 28, 28), (2, 29, 25)]
CHOICES = [Summation(kind="fused", dsp=d, window=w, precision=p) for d, w, p in SIZES]
every_choice = pytest.mark.parametrize(
    "choice", few(CHOICES, *CHOICES[::3]), ids=lambda c: f"{c.dsp}dsp-{c.window}-p{c.precision}"
)
INF, NAN, SIGN, ONE = BINARY32.inf, BINARY32.nan, BINARY32.sign_bit, BINARY32.one


def mantissa(word: int) -> tuple[int, int]:
    """Signed significand, a whole number, and exponent field; zero for a subnormal."""
    field, fraction = word >> 23 & 255, word & 0x7FFFFF
    significand = fraction + (1 << 23) if field else 0
    return (-significand if word & SIGN else significand), field


def exact_product(a: int, b: int) -> Fraction:
    """Product of two finite words."""
    values = [
        -x.magnitude if x.negative else x.magnitude
        for x in (number(word, BINARY32, flush=True) for word in (a, b))
        if x.magnitude is not None
    ]
    return values[0] * values[1]


def seen_product(a: int, b: int, choice: Summation) -> Fraction:
    """What the unit takes for the product: less by the low digits' truncation with one DSP."""
    if choice.dsp == 2:
        return exact_product(a, b)
    (x, ex), (y, ey) = mantissa(a), mantissa(b)
    low, high = y % 128, y // 128
    quantum = 2 ** (46 - choice.window)
    kept = sum(floor(Fraction(low // 4**j % 4 * x * 4**j, quantum)) for j in range(4)) * quantum
    return (high * 128 * x + kept) * Fraction(2) ** (ex + ey - 300)


def unit(a: list[int], b: list[int], choice: Summation) -> Fraction:
    """Weight of the last place of aligned products, or of nothing if all of them are zero."""
    pairs = [(mantissa(x), mantissa(y)) for x, y in zip(a, b, strict=True)]
    largest = max([x[1] + y[1] for x, y in pairs if x[0] and y[0]], default=0)
    return Fraction(2) ** (largest - choice.window - 250)


def oracle(a: list[int], b: list[int], choice: Summation) -> int:
    """Products rounded half up to the unit, added, rounded to nearest even."""
    fmt = choice.accumulator_format(BINARY32)
    if any((word >> 23 & 255) == 255 for word in (*a, *b)):
        return special(a, b) << (fmt.frac_bits - BINARY32.frac_bits)
    one = unit(a, b, choice)
    products = [seen_product(x, y, choice) for x, y in zip(a, b, strict=True)]
    total = sum(floor(p / one + Fraction(1, 2)) for p in products)
    if total == 0:
        return 0
    return rounded(total < 0, abs(total) * one, fmt, flush=True).word


def special(a: list[int], b: list[int]) -> int:
    """Word of a window with an infinity or a NaN, from NumPy's signs and IEEE's rules."""
    with np.errstate(all="ignore"):
        factors = [np.array(words, np.uint32).view(np.float32).astype(float) for words in (a, b)]
        factors = [np.where(np.abs(f) < 2.0**-126, 0.0, f) for f in factors]
        products = factors[0] * factors[1]
    high, low = bool((products == np.inf).any()), bool((products == -np.inf).any())
    if np.isnan(products).any() or (high and low):
        return NAN
    assert high or low
    return INF | (SIGN if low else 0)


def check(a: Bits, b: Bits, choice: Summation) -> None:
    got = fused_sum(a, b, choice)
    wanted = [oracle(x, y, choice) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert got.tolist() == wanted != []


@pytest.mark.sample(3)
@every_choice
@pytest.mark.parametrize("taps", [1, 25, *in_full(2, 9)])
def test_fused_sum_is_exact_but_for_the_stated_roundings(choice: Summation, taps: int) -> None:
    rng = np.random.default_rng([taps, choice.dsp, choice.window])
    for kind in CASES:
        check(*random_windows(kind, 150, taps, rng), choice)


@pytest.mark.sample(4)
@every_choice
@pytest.mark.parametrize("taps", [1, 25, *in_full(4)])
def test_directed_windows(choice: Summation, taps: int) -> None:
    check(*directed(taps), choice)


@pytest.mark.sample(1)
@every_choice
def test_error_is_within_the_stated_bound(choice: Summation) -> None:
    """Half a unit per product (three quarters with one DSP), and half a place of the result."""
    rng = np.random.default_rng(choice.window)
    share = Fraction(1, 2) if choice.dsp == 2 else Fraction(3, 4)
    for kind in ("relu", "normal", "gradient", "cancelling"):
        a, b = random_windows(kind, 300, 25, rng)
        for x, y, word in zip(a.tolist(), b.tolist(), fused_sum(a, b, choice), strict=True):
            products = [exact_product(*pair) for pair in zip(x, y, strict=True)]
            fmt = choice.accumulator_format(BINARY32)
            found = number(int(word), fmt, flush=True)
            exponent = int(word) >> fmt.frac_bits & fmt.exp_max
            place = Fraction(2) ** (exponent - fmt.bias - fmt.frac_bits)
            assert found.magnitude is not None
            value = -found.magnitude if found.negative else found.magnitude
            error = abs(value - sum(products))
            one = unit(x, y, choice)
            assert error <= share * 25 * one + place / 2
            assert max(map(abs, products)) >= one * 2 ** (choice.window - 4)


@every_choice
def test_the_order_of_taps_does_not_count(choice: Summation) -> None:
    rng = np.random.default_rng(3)
    for kind in CASES:
        a, b = random_windows(kind, 200, 25, rng)
        order = rng.permutation(25)
        np.testing.assert_array_equal(
            fused_sum(a, b, choice), fused_sum(a[:, order], b[:, order], choice)
        )


@every_choice
def test_short_products_are_as_a_rounding_multiplier_gives_them(choice: Summation) -> None:
    rng = np.random.default_rng(4)
    a, b = random_windows("normal", 3000, 1, rng)
    a, b = a & 0xFFFFF000, b & 0xFFFFF000
    wanted = (a.view(np.float32) * b.view(np.float32)).view(np.uint32)[:, 0]
    got = fused_sum(a, b, choice)
    exact = fp_convert(wanted, BINARY32, choice.accumulator_format(BINARY32))
    np.testing.assert_array_equal(got, exact)


def test_the_sign_of_one_dsp_products() -> None:
    """p(a, -b) differs from -p(a, b) now and then: the low digits are rounded down."""
    rng = np.random.default_rng(6)
    a, b = random_windows("normal", 20000, 1, rng)
    one, other = (
        fused_sum(a, b ^ np.uint32(sign), Summation(kind="fused")) ^ np.uint32(sign)
        for sign in (0, SIGN)
    )
    distance = np.abs(one.astype(np.int64) - other)
    assert distance.max() == 1
    assert 0 < np.mean(distance) < 0.01


@every_choice
def test_opposite_products_need_not_cancel(choice: Summation) -> None:
    """A tie goes up on both sides of zero, so a unit is left; with one DSP it need be no tie."""
    unit = (131 - choice.window) << (choice.precision - 1)
    x, w = ONE | 1 << 8, ONE | 1 << 41 - choice.window  # the product's last bit is half a unit
    assert fused_sum([x, x], [w, SIGN | w], choice) == unit
    # With one significant bit: alone it is exact, beside larger products half a unit.
    small = 130 - choice.window << 23
    assert fused_sum([small] * 2, [ONE, SIGN | ONE], choice) == 0
    both = fused_sum([ONE, small, small, ONE], [ONE, ONE, SIGN | ONE, SIGN | ONE], choice)
    assert both == unit
    x, w = 0x3FF6ECE3, 0x3FDBB467
    assert (fused_sum([x, x], [w, SIGN | w], choice) != 0) == (choice.dsp == 1)


def test_a_zero_of_no_products_is_positive() -> None:
    choice = Summation(kind="fused")
    for word in (0, SIGN, 1, SIGN | 1):
        assert fused_sum([word] * 4, [ONE | SIGN] * 4, choice) == 0
    assert fused_sum([ONE, ONE], [ONE, ONE | SIGN], choice) == 0


@every_choice
def test_a_flushed_sum_keeps_its_sign_and_a_large_one_overflows(choice: Summation) -> None:
    """Both are outside the error's bound: what is lost may be 2^-126, or everything."""
    sign = 1 << (choice.precision + 7)
    small, large = 63 << 23, 191 << 23
    assert fused_sum([small], [small | SIGN], choice) == sign
    assert fused_sum([small], [small], choice) == 0
    assert fused_sum([large], [large | SIGN], choice) == sign | 255 << (choice.precision - 1)


@pytest.mark.parametrize("dsp", [1, 2])
@pytest.mark.parametrize(("window", "share"), [(28, 0.186), (32, 0.0115)])
def test_a_product_alone_may_differ_from_the_multipliers(
    dsp: int, window: int, share: float
) -> None:
    """It is rounded twice, at the alignment and in the end: by one place at most."""
    rng = np.random.default_rng(2024)
    a, b = (to_bits(rng.standard_normal((40000, 1)), BINARY32) for _ in range(2))
    found = fused_sum(a, b, Summation(kind="fused", dsp=dsp, window=window))
    apart = np.abs(found.astype(np.int64) - fp_mul(a, b, BINARY32)[:, 0])
    assert apart.max() == 1
    assert apart.mean() == pytest.approx(share, rel=0.15)


@every_choice
def test_far_products_vanish(choice: Summation) -> None:
    """From W - 1 places below the largest on, a product counts nothing, whatever its sign."""
    w, odd = choice.window, 0x7FFFFF
    for distance in range(1, 250):
        for sign in (0, SIGN):
            small = sign | (200 - distance) << 23 | odd if distance < 200 else sign | odd
            a, b = [[200 << 23, small]], [[ONE, ONE | odd]]
            check(np.array(a, np.uint32), np.array(b, np.uint32), choice)
            if distance >= w - 1:
                assert fused_sum(a, b, choice) == 200 << (choice.precision - 1)


@pytest.mark.parametrize("precision", few([24, 28], 28))
def test_maps_are_convolved_window_by_window(precision: int) -> None:
    rng = np.random.default_rng(5)
    x = to_bits(rng.standard_normal((2, 5, 6, 3)), BINARY32)
    kernels = to_bits(rng.standard_normal((4, 3, 3, 3)), BINARY32)
    bias = to_bits(rng.standard_normal(4), BINARY32)
    choice = Summation(kind="fused", precision=precision)
    fmt = choice.accumulator_format(BINARY32)
    got = convolution(x, kernels, bias, 2, 1, BINARY32, choice)
    padded = np.zeros((2, 7, 8, 3), np.uint32)
    padded[:, 1:6, 1:7] = x
    for image, row, column, m in np.ndindex(*got.shape):
        total = int(bias[m]) << (precision - 24)
        for i in range(3):
            window = padded[image, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3, i]
            term = fused_sum(window.reshape(-1), kernels[m, i].reshape(-1), choice)
            total = exact_add(total, int(term), fmt).word
        finished = number(total, fmt, flush=True)
        assert finished.magnitude is not None
        wanted = rounded(finished.negative, finished.magnitude, BINARY32, flush=True).word
        assert got[image, row, column, m] == wanted


NETWORK = network_text(
    "small",
    (6, 6, 2),
    layer("conv1", 3, kernel=3, pad=1, design="a"),
    layer("conv2", 4, kernel=3, pad=1, relu=False, design="a"),
    designs={"a": {"n_cu": 2, "k": 3}},
)


@pytest.fixture
def networks(tmp_path: Path) -> dict[str, Network]:
    """The same network on trees and on fused CUs of each sort."""
    chosen = {
        "tree": "",
        "1": 'cu_kind = "fused"',
        "2": 'cu_kind = "fused"\nfused_dsp = 2\nfused_window = 28',
        "wide": 'cu_kind = "fused"\naccumulator_precision = 28',
    }
    found = {}
    for name, lines in chosen.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(NETWORK + lines)
        found[name] = read_network(path)
    return found


def test_every_phase_of_a_design_sums_alike(networks: dict[str, Network]) -> None:
    for name, wanted in (
        ("2", Summation(kind="fused", dsp=2, window=28)),
        ("wide", Summation(kind="fused", precision=28)),
    ):
        network = networks[name]
        layer = network.layers[1]
        wanted = replace(wanted, taps=design_of(network, layer).taps)
        assert network.summation(layer) == design_of(network, layer).summation == wanted
        assert delta_design(network, layer).engine.summation == wanted


def test_a_network_passes_forwards_and_back_as_its_designs_sum(
    networks: dict[str, Network],
) -> None:
    rng = np.random.default_rng(7)
    images = to_bits(rng.standard_normal((2, 6, 6, 2)), BINARY32)
    delta = to_bits(rng.standard_normal((2, 6, 6, 4)), BINARY32)
    outputs = set()
    for network in networks.values():
        made = initial_model(network, 0).parameters
        choice, (first, second) = design_of(network, network.layers[0]).summation, network.layers
        hidden = super_layer(images, *made["conv1"], first.shape, BINARY32, choice)
        wanted = super_layer(hidden, *made["conv2"], second.shape, BINARY32, choice)
        kept, output = forward(network, images, made)
        np.testing.assert_array_equal(output, wanted)
        back = delta_convolution(delta, made["conv2"][0], second.shape, BINARY32, choice)
        *_, passed = propagate(network, kept, delta, made)
        np.testing.assert_array_equal(passed.delta, back)
        outputs.add((output.tobytes(), back.tobytes()))
    assert len(outputs) == 4  # none of them is another's arithmetic


@pytest.mark.full
@needs("scikit-learn")
def test_the_digits_are_learnt_on_fused_cus(terminal: Terminal, tmp_path: Path) -> None:
    text = (ROOT / "tools" / "data" / "digits.toml").read_text()
    path = tmp_path / "fused.toml"
    path.write_text(text.replace("n_cu =", 'cu_kind = "fused"\nn_cu ='))
    assert terminal.answer("train", path, "--data", "digits")["accuracy"] >= 0.97
