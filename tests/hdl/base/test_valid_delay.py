"""The delay of a flag: exactly as late as declared, and forgotten by a reset."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import flag
from merp.hdl.base.valid_delay import valid_delay


def check(cycles: int, resets: float) -> Recorded:
    rng = Random(f"{cycles} {resets}")
    drive = [
        {"rst": int(rng.random() < resets), "d": rng.getrandbits(1)} for _ in range(60 + 4 * cycles)
    ]
    trace = BlockBench(valid_delay, "clk rst d q", cycles=cycles).run(drive)
    line, expected = [0] * cycles, []
    for values in drive:
        expected.append(line[-1])
        line = [0] * cycles if values["rst"] else [values["d"], *line[:-1]]
    assert trace.column("q") == expected
    assert 1 in expected
    return trace


@pytest.mark.parametrize("resets", [0, 0.05])
@pytest.mark.parametrize("cycles", [1, 2, 3, 12])
def test_valid_delay(cycles: int, resets: float) -> None:
    check(cycles, resets)


def test_valid_delay_rejects_no_cycles() -> None:
    with pytest.raises(ValueError, match="cycles must be 1 or more, not 0"):
        valid_delay(flag(), flag(), flag(), flag(), 0)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize("cycles", [1, 2, 7])
def test_valid_delay_vhdl(cycles: int, replays: Replays) -> None:
    replays(check(cycles, 0.05))
