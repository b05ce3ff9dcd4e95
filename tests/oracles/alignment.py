"""What rounding at the alignment of fused sums does: sums that should cancel, bias, and a cure.

    python tests/oracles/alignment.py

prints the figures of ``docs/adr/0005-fused-sum.md``. The alignment is written once more, in NumPy,
so that it can also round half to even; as shipped, it must give the golden sums bit for bit.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32
from merp.models.base.summation import Summation

TAPS = 25
SEED = 2024
CHOICES = {dsp: Summation(kind="fused", dsp=dsp, precision=28) for dsp in (1, 2)}
Draw = Callable[[np.random.Generator, int], Bits]


def relu(rng: np.random.Generator, count: int) -> Bits:
    """Activations max(0, normal): (count, TAPS)."""
    return to_bits(np.maximum(rng.standard_normal((count, TAPS)), 0), BINARY32)


def image(rng: np.random.Generator, count: int) -> Bits:
    """Whole numbers from 0 to 255."""
    return to_bits(rng.integers(0, 256, (count, TAPS)), BINARY32)


def short(rng: np.random.Generator, count: int) -> Bits:
    """Normal numbers of 8 significant bits, such as bfloat16 has."""
    words = to_bits(rng.standard_normal((count, TAPS)), BINARY32)
    return words & np.uint32(0xFFFF0000)


def normal(rng: np.random.Generator, count: int) -> Bits:
    """Normal numbers."""
    return to_bits(rng.standard_normal((count, TAPS)), BINARY32)


IMAGES: dict[str, tuple[Draw, Draw]] = {
    "ReLU x normal": (relu, normal),
    "0..255 x normal": (image, normal),
    "0..255 x 8 bits": (image, short),
    "normal x normal": (normal, normal),
}


class Aligned(NamedTuple):
    """Sums of (count, TAPS) products, (count,): in units, the unit, the exact value in units."""

    total: NDArray[np.float64]
    unit: NDArray[np.float64]
    exact: NDArray[np.float64]


def _mantissas(words: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    fields = words.astype(np.int64) >> 23 & 255
    significands = np.where(fields == 0, 0, words.astype(np.int64) & 0x7FFFFF | 1 << 23)
    return np.where(words >> 31, -significands, significands), fields


def aligned(a: Bits, b: Bits, choice: Summation, even: bool = False) -> Aligned:
    """Align and add finite windows, as the page ``cu_fused`` has it; ``even`` breaks ties so.

    With ``even`` everything that was cut from a product is known, what two DSP blocks drop, too.
    With one DSP block the low digits' products are rounded down in either case.
    """
    (x, x_fields), (y, y_fields) = _mantissas(a), _mantissas(b)
    products, fields = x * y, x_fields + y_fields
    largest = np.where(products != 0, fields, 0).max(axis=-1)
    distance = np.minimum(largest[..., None] - fields, 62)
    seen, width, cut = products, 49 - choice.window, choice.window
    if choice.dsp == 1:
        low = y & 127
        part = sum(((low >> 2 * j & 3) * x) >> (46 - cut - 2 * j) for j in range(4))
        seen, width = x * (y >> 7) + (np.asarray(part) << (39 - cut)), 42 - cut
    shift = np.minimum(distance + width + 1, 62)  # the last place is half of step 3's
    half = np.int64(1) << (shift - 1)
    terms = (seen + half) >> shift
    if not even:
        moved = (seen >> width) >> distance
        terms = (moved >> 1) + (moved & 1)
    else:
        tie = (seen & ((half << 1) - 1)) == half
        terms = terms - (tie & (terms & 1 == 1))
    terms = np.where((products != 0) & (distance < choice.window), terms, 0)
    exact = products / 2.0 ** (50 - choice.window + distance)
    unit = 2.0 ** (largest - choice.window - 250)
    return Aligned(terms.sum(axis=-1).astype(float), unit, exact.sum(axis=-1))


def not_cancelled(significant: int, dsp: int, distance: int | None, count: int) -> float:
    """Share of pairs x*w + x*(-w) that are not 0, of numbers of so many significant bits.

    With a ``distance`` products of 1 and -1 stand in the same window, so many places above them.
    """
    rng = np.random.default_rng([SEED, significant, dsp])
    mask = 0xFFFFFFFF << (24 - significant) & 0xFFFFFFFF
    fractions = rng.integers(0, 1 << 23, (2, count)) & mask
    low = 127 if distance is None else 127 - distance
    x, w = (fractions | np.array([[127], [low]]) << 23).astype(np.uint32)
    one = np.full(count, 0 if distance is None else BINARY32.one, np.uint32)
    sign = np.uint32(BINARY32.sign_bit)
    windows, kernels = np.stack([x, x, one, one]), np.stack([w, w | sign, one, one | sign])
    return float((fused_sum(windows.T, kernels.T, CHOICES[dsp]) != 0).mean())


class Errors(NamedTuple):
    """Of sums over maps, in 2^-24 of their products' magnitudes: mean, mean of |.|, share right."""

    bias: float
    mean: float
    right: float


def over_maps(draws: tuple[Draw, Draw], dsp: int, even: bool, maps: int, count: int) -> Errors:
    """Add the sums of ``maps`` windows by golden additions of 28 bits, then round to binary32."""
    rng = np.random.default_rng([SEED, maps])
    choice, fmt = CHOICES[dsp], CHOICES[dsp].accumulator_format(BINARY32)
    total: Bits = np.zeros(count, np.uint64)
    exact, magnitude = np.zeros(count, np.longdouble), np.zeros(count)
    for _ in range(maps):
        a, b = (draw(rng, count) for draw in draws)
        found = aligned(a, b, choice, even)
        total = fp_add(total, to_bits(found.total * found.unit, fmt), fmt)
        terms = to_values(a, BINARY32) * to_values(b, BINARY32)
        exact += terms.astype(np.longdouble).sum(axis=1)
        magnitude += np.abs(terms).sum(axis=1)
    words = fp_convert(total, fmt, BINARY32)
    # The wide sum, before the last rounding, which would hide it.
    error = (to_values(total, fmt) - exact) / magnitude * 2**24
    right = words == to_bits(exact.astype(np.float64), BINARY32)
    return Errors(float(error.mean()), float(np.abs(error).mean()), float(right.mean()))


def bias(draws: tuple[Draw, Draw], dsp: int, even: bool, count: int) -> tuple[float, float]:
    """Mean error of one window's sum in units, and its deviation."""
    rng = np.random.default_rng([SEED, dsp])
    a, b = (draw(rng, count) for draw in draws)
    found = aligned(a, b, CHOICES[dsp], even)
    error = found.total - found.exact
    return float(error.mean()), float(error.std())


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    print("x*w + x*(-w) not zero: alone; beside products of 1 and -1, at the worst distance")
    for significant in (24, 8):
        for dsp in (1, 2):
            alone = not_cancelled(significant, dsp, None, 200_000)
            apart = [not_cancelled(significant, dsp, d, 5000) for d in range(32)]
            most = int(np.argmax(apart))
            print(f"{significant} bits, {dsp} DSP: {alone:.4%}; {apart[most]:.1%} at {most}")
    for name, draws in IMAGES.items():
        for dsp in (1, 2):
            for even in (False, True):
                mean, deviation = bias(draws, dsp, even, 20_000)
                far = over_maps(draws, dsp, even, 512, 200)
                way = "half to even" if even else "half up"
                one, many = f"{mean:+.2f} / {deviation:.2f}", f"{far.bias:+.4f} / {far.mean:.4f}"
                print(f"| {name} | {dsp} | {way} | {one} | {many} | {far.right:.0%} |", flush=True)


if __name__ == "__main__":
    main()
