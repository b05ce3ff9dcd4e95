"""Products of mantissas, wide and narrow, against products of integers; each operand's delay."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits, flag
from merp.hdl.fused.fused_low_product import fused_low_product
from merp.hdl.fused.fused_product import fused_product
from merp.hdl.fused.narrow_products import narrow_products
from merp.models.base.fused import OPERAND_BITS, PRODUCT, activation_bits, operand_bits
from merp.testbenches.cnn_merp.cu_bench import joined

MANTISSA = 1 << 25
TRIPLE_AT = OPERAND_BITS + 3


def mantissas(count: int, seed: int) -> list[int]:
    """Signed significands: ends, zeros, powers of two, any."""
    rng = Random(seed)
    ends = (0, 1 << 23, (1 << 24) - 1, (1 << 23) + 1, 3 << 22)
    found = [rng.choice((*ends, *(rng.randrange(1 << 23, 1 << 24) for _ in range(4))))
             for _ in range(count)]  # fmt: skip
    return [rng.choice((-1, 1)) * each for each in found]


def low_digits(a: int, low: int, cut: int) -> int:
    """Products of the digits of radix 4 of ``low``, each rounded down to 2^cut, added."""
    return sum((low >> 2 * j & 3) * a << 2 * j >> cut for j in range(4))


@pytest.mark.parametrize("window", [28, 29, 32])
def test_low_digits(window: int) -> None:
    """Every digit of every place, in units of 2^(46 - window)."""
    values = mantissas(256, window)
    width = window - 14
    bench = BlockBench(
        fused_low_product, "clk", a=bits(25), triple=bits(27), low=bits(7), y=bits(width),
        window=window,
    )  # fmt: skip
    trace = bench.run(
        lambda cycle, _: {
            "a": values[cycle] % MANTISSA,
            "triple": 3 * values[cycle] % (1 << 27),
            "low": cycle % 128,
        },
        len(values),
    )
    wanted = [low_digits(a, i % 128, 46 - window) % (1 << width) for i, a in enumerate(values)]
    assert trace.column("y")[2:] == wanted[:-2]


@pytest.mark.parametrize(
    ("dsp", "window", "latency"), [(1, 32, PRODUCT), (1, 28, PRODUCT + 1), (2, 32, PRODUCT + 2),
                                   (2, 28, PRODUCT)]
)  # fmt: skip
def test_a_product(dsp: int, window: int, latency: int) -> None:
    """The activation's mantissa comes a cycle later than the kernel's."""
    a, b = mantissas(200, 1), mantissas(200, 2)
    width = activation_bits(dsp)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        late = a[max(0, cycle - 1)]
        triple = 3 * late % (1 << 27) << TRIPLE_AT if dsp == 1 else 0
        return {"activation": triple | late % MANTISSA << 8, "kernel": b[cycle] % MANTISSA << 8}

    bench = BlockBench(
        fused_product, "clk", activation=bits(width), kernel=bits(OPERAND_BITS), y=bits(window),
        dsp=dsp, latency=latency,
    )  # fmt: skip
    trace = bench.run(drive, len(a))
    cut = 49 - window

    def product(x: int, y: int) -> int:
        if dsp == 2:
            return x * y >> cut
        low = low_digits(x, y % 128, 46 - window) << 46 - window
        return (x * (y >> 7) << 7) + low >> cut

    wanted = [product(x, y) % (1 << window) for x, y in zip(a, b, strict=True)]
    assert trace.column("y")[latency:] == wanted[:-latency]


@pytest.mark.parametrize(
    ("significand", "several", "shared"),
    [(8, True, True), (8, False, True), (8, True, False), (11, True, False), (11, False, False)],
)
def test_products_of_significands(significand: int, several: bool, shared: bool) -> None:
    """Of each tap's own operand or of one for all; with another unit's beside them, of 8 bits."""
    taps, count = 4, 60
    rng = Random(significand)
    width, operand_width = activation_bits(1, significand), operand_bits(significand)
    places = taps if several else 1
    top = (1 << significand) - 1

    def significands(number: int) -> list[int]:
        return [rng.choice((0, top, top // 2 + 1, rng.randrange(top))) for _ in range(number)]

    def decoded(values: list[int], size: int) -> int:
        """With noise in exponents and signs."""
        return joined([rng.getrandbits(size) & ~(top << 8) | value << 8 for value in values], size)

    x = [significands(taps) for _ in range(count)]
    kernels = [[significands(places) for _ in range(count)] for _ in range(2)]
    args = {
        "clk": flag(), "activations": bits(taps * width), "kernel": bits(places * operand_width),
        "products": bits(taps * 2 * significand), "taps": taps, "significand": significand,
    }  # fmt: skip
    names = ["kernel"]
    if shared:
        names.append("other")
        args["other"] = bits(places * operand_width)
        args["other_products"] = bits(taps * 2 * significand)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        operands = {
            name: decoded(own[cycle], operand_width)
            for name, own in zip(names, kernels, strict=False)
        }
        return {"activations": decoded(x[max(0, cycle - 1)], width), **operands}

    trace = BlockBench(narrow_products, **args).run(drive, count)
    for name, own in zip(("products", "other_products"), kernels[: len(names)], strict=False):
        wanted = [
            joined([xs[tap] * bs[tap % places] for tap in range(taps)], 2 * significand)
            for xs, bs in zip(x, own, strict=True)
        ]
        assert trace.column(name)[PRODUCT:] == wanted[:-PRODUCT]
