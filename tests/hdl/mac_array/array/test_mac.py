"""A multiplier with its accumulator: exact at the extremes, and one DSP48E1 by synthesis."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.base.signals import bits, signed
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.array.mac import mac
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.testbenches.mac_array.words import EXTREMES, number
from needed_tools import needs

TO_SUM = 3


BENCH = BlockBench(
    mac, "clk first add", pixel=bits(WORD_BITS), weight=bits(WORD_BITS), total=signed(SUM_BITS)
)


def check(seed: int, cycles: int) -> Recorded:
    """Every pair of extreme words, then words at random; all sums in the cycle they are due."""
    rng = Random(seed)
    pairs = [(a, b) for a in EXTREMES for b in EXTREMES]
    pairs += [
        (rng.getrandbits(WORD_BITS), rng.getrandbits(WORD_BITS)) for _ in range(cycles - len(pairs))
    ]
    controls = [
        (int(t == 0 or rng.random() < 0.15), int(rng.random() < 0.8)) for t in range(cycles)
    ]

    def drive(cycle: int, _: Any) -> dict[str, int]:
        first, add = controls[cycle - 2] if cycle >= 2 else (1, 1)
        return {"pixel": pairs[cycle][0], "weight": pairs[cycle][1], "first": first, "add": add}

    trace = BENCH.run(drive, cycles)
    total, wanted = 0, []
    for (a, b), (first, add) in zip(pairs, controls, strict=True):
        if add:
            total = number(a) * number(b) + (0 if first else total)
        wanted.append(total & (1 << SUM_BITS) - 1)
    assert trace.column("total")[TO_SUM:] == wanted[:-TO_SUM]
    return trace


def test_sums_are_exact() -> None:
    check(0, 600)


@needs("yosys")
def test_it_is_one_dsp48_and_nothing_else(tmp_path: Path) -> None:
    export = convert(mac, BENCH.args, "verilog", tmp_path)
    cells = synthesise(export.files, export.top)["cells"].values()
    assert Counter(cell["type"] for cell in cells) == {"DSP48E1": 1}


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    replays(check(1, 300))
