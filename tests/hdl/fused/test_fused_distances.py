"""The largest exponent of windows and the distances from it, against their definition."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_distances import fused_distances
from merp.models.base.fused import WIDE, activation_bits, operand_bits, product_latency
from merp.testbenches.arithmetic.fused_bench import SIGN, activation, operand
from merp.testbenches.cnn_merp.cu_bench import joined

FAR = 32
Factors = list[tuple[int, int]]  # exponents of each product's two, 0 for a zero


def windows(taps: int, count: int) -> list[Factors]:
    rng = Random(taps)

    def exponent(kind: int) -> int:
        if kind and rng.random() < 0.2 * kind:
            return 0
        return rng.randrange(1, 255) if kind % 2 else rng.randrange(110, 145)

    return [[(exponent(i % 4), exponent(i % 4)) for _ in range(taps)] for i in range(count)]


@pytest.mark.parametrize("significand", [WIDE, 8])
@pytest.mark.parametrize("taps", [1, 2, 4, 9])
def test_distances(taps: int, significand: int) -> None:
    """Products of zeros count where significands are narrow, and only there."""
    wide = significand == WIDE
    given = windows(taps, 60)
    width, kernel_width = activation_bits(2, significand), operand_bits(significand)
    rng = Random(1)

    def decoded(exponent: int, late: bool) -> int:
        """A factor as it is decoded; what no exponent and no flag is may be anything."""
        word = exponent << 23 | rng.getrandbits(1) * SIGN | (rng.getrandbits(23) if exponent else 0)
        if wide:
            return activation(word, 2)[0] if late else operand(word)
        hidden = bool(exponent) << significand + 7
        return hidden | exponent | (0 if exponent else late << significand + 9)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        pairs = given[cycle]
        return {
            "activations": joined([decoded(x, True) for x, _ in pairs], width),
            "kernels": joined([decoded(b, False) for _, b in pairs], kernel_width),
        }

    bench = BlockBench(
        fused_distances, "clk", activations=bits(taps * width), kernels=bits(taps * kernel_width),
        largest=bits(9), distances=bits(6 * taps), taps=taps, dsp=2, significand=significand,
    )  # fmt: skip
    trace = bench.run(drive, len(given))
    late = product_latency(taps)
    largest, distances = trace.column("largest")[late:], trace.column("distances")[late:]
    checked = 0
    for pairs, top, found in zip(given, largest, distances, strict=False):
        counted = {tap: x + b for tap, (x, b) in enumerate(pairs) if not wide or (x and b)}
        if not counted:
            continue
        assert top == max(counted.values())
        for tap, exponent in counted.items():
            distance = found >> 6 * tap & 63
            less = top - exponent
            assert distance >= FAR if less >= FAR else distance == less
            checked += 1
    assert checked > 30
