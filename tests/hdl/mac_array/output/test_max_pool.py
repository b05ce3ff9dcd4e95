"""Maximum pooling of a lane: equal words, the extremes, windows side by side and one pixel wide."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits, count
from merp.hdl.mac_array.output.max_pool import max_pool
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.testbenches.mac_array.words import number

INPUTS = ("valid", "opens", "beside", "code", "word")
WINDOWS = 4


def check(g: int, kinds: list[int], seed: int) -> Recorded:
    """Rows of windows of g x g pixels, read row by row, with pauses and noise in them."""
    rng = Random(seed)
    steps: list[dict[str, int]] = []
    wanted: dict[int, tuple[int, int]] = {}
    for _ in range(12):
        pixels = [[rng.choice(kinds) for _ in range(g * WINDOWS)] for _ in range(g)]
        for r in range(g):
            for c in range(g * WINDOWS):
                while rng.random() < 0.3:
                    noise = {name: rng.getrandbits(1) for name in INPUTS[1:]}
                    steps.append({**noise, "valid": 0, "word": 0x7FFF})
                block, opens = c // g, r == 0 and c % g == 0
                steps.append({"valid": 1, "opens": int(opens), "beside": block,
                              "code": r * g + c % g, "word": pixels[r][c]})  # fmt: skip
                if r == g - 1 and c % g == g - 1:
                    window = [number(pixels[i][block * g + j]) for i in range(g) for j in range(g)]
                    place = window.index(max(window))
                    wanted[len(steps)] = window[place] & 0xFFFF, place
    steps.append(steps[-1])
    bench = BlockBench(
        max_pool, "clk valid opens", beside=count(WINDOWS - 1), code=bits(4), word=bits(WORD_BITS),
        largest=bits(WORD_BITS), index=bits(4), windows=WINDOWS,
    )  # fmt: skip
    trace = bench.run(steps)
    found = list(zip(trace.column("largest"), trace.column("index"), strict=True))
    assert {t: found[t] for t in wanted} == wanted
    assert len(wanted) == 12 * WINDOWS
    return trace


@pytest.mark.parametrize("g", [1, 2, 4])
@pytest.mark.parametrize(
    "kinds", [[0x8000], [0x8000, 0x7FFF], [0xFFFF, 0, 1], list(range(0, 1 << 16, 257))]
)
def test_the_first_of_the_largest_words(g: int, kinds: list[int]) -> None:
    check(g, kinds, g)


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    replays(check(2, [0xFFFE, 0xFFFF, 0, 1, 0x8000], 7))
