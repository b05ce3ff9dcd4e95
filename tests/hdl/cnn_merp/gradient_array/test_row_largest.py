"""The largest exponent of a sweep and the distances from it: sweeps as close as may be."""

from collections import defaultdict
from random import Random
from typing import NamedTuple

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.gradient_array.row_largest import row_largest
from merp.hdl.cnn_merp.gradient_array.row_ports import Sweep, TapFactors

ZERO, INFINITE, NEGATIVE = 1 << 8, 1 << 9, 1 << 10
FAR = 32


class Factor(NamedTuple):
    """What a factor is; an exponent field, with that of a zero 0."""

    exponent: int
    zero: bool = False
    infinite: bool = False
    negative: bool = False

    @property
    def word(self) -> int:
        return (
            self.exponent | self.zero * ZERO | self.infinite * INFINITE | self.negative * NEGATIVE
        )


def factor(rng: Random, special: float) -> Factor:
    negative = rng.random() < 0.5
    if rng.random() >= special:
        return Factor(rng.choice((rng.randrange(1, 255), rng.randrange(100, 140))), False, False,
                      negative)  # fmt: skip
    kinds = ((0, True, False), (255, False, True), (255, True, True))
    return Factor(*rng.choice(kinds), negative)


def code_of(x: Factor, delta: Factor) -> int:
    """Bit 0 for +infinity, bit 1 for -infinity, both for a NaN: also infinity times zero."""
    if not (x.infinite or delta.infinite):
        return 0
    if x.zero or delta.zero:
        return 3
    return 2 if x.negative != delta.negative else 1


@pytest.mark.parametrize("narrow", [False, True])
def test_distances_and_scales(narrow: bool) -> None:
    rng = Random(narrow)
    cycles: defaultdict[int, dict[str, int]] = defaultdict(dict)
    distances: dict[int, int] = {}
    scales: dict[int, tuple[int, int | None]] = {}
    begin, free = 1, 0
    for sweep in range(60):
        special = (0.0, 0.0, 0.1, 0.5)[sweep % 4]
        length = rng.randrange(1, 7)
        pairs = [(factor(rng, special), factor(rng, special)) for _ in range(length)]
        begin = max(begin, free - length) + rng.choice((0, 0, 3))
        late = begin + length + 1
        for at, (x, delta) in enumerate(pairs):
            cycles[begin + at] |= {
                "sweep_first": int(at == 0), "factors_x": x.word, "factors_delta": delta.word,
            }  # fmt: skip
            cycles[late + at] |= {
                "sweep_active": 1, "exponents_x": x.exponent, "exponents_delta": delta.exponent,
            }  # fmt: skip
        cycles[begin + length] |= {"sweep_keep_largest": 1}
        cycles[late + length - 1] |= {"sweep_keep_scales": 1}
        counted = [p for p in pairs if narrow or not any(each.zero for each in p)]
        largest = max((x.exponent + delta.exponent for x, delta in counted), default=None)
        for at, (x, delta) in enumerate(pairs):
            if (x, delta) in counted and largest is not None:
                distance = largest - x.exponent - delta.exponent
                distances[late + at + 1] = distance % FAR + FAR * (distance >= FAR)
        code = 0
        for pair in pairs:
            code |= code_of(*pair)
        scales[late + length] = code, largest
        begin, free = begin + length, late + length - 1

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        noise = {
            "sweep_first": 0, "sweep_keep_largest": 0, "sweep_active": 0, "sweep_keep_scales": 0,
            "factors_x": rng.getrandbits(11), "factors_delta": rng.getrandbits(11),
            "exponents_x": rng.getrandbits(8), "exponents_delta": rng.getrandbits(8),
        }  # fmt: skip
        return noise | cycles.get(cycle, {})

    bench = BlockBench(
        row_largest, "clk", sweep=Sweep(*(flag() for _ in range(4))),
        factors=TapFactors(bits(11), bits(11)), exponents=TapFactors(bits(8), bits(8)),
        distance=bits(6), scale=bits(11), narrow=narrow,
    )  # fmt: skip
    trace = bench.run(drive, free + 4)
    found, scale, active = (trace.column(name) for name in ("distance", "scale", "sweep_active"))
    assert {t: found[t] for t in distances} == distances
    assert all(found[t] >= FAR for t in range(1, len(found)) if not active[t - 1])
    ends = [*list(scales)[1:], len(scale)]
    for (begin, (code, largest)), end in zip(scales.items(), ends, strict=True):
        for t in range(begin, end):  # it is kept
            assert scale[t] >> 9 == code
            assert largest is None or scale[t] % 512 == largest
