"""Loads of bitstreams: pins against the golden model, words by a model of ICAPE2, the VHDL."""

from collections.abc import Sequence
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from marks import few
from merp.hdl.base.signals import bits, flag
from merp.hdl.memory.bitstream_loader import BitstreamLoad, IcapPins, bitstream_loader
from merp.models.memory.bitstream_loader import LoadInputs, begins, pins
from merp.models.memory.params.commands import WORD
from merp.testbenches.memory.icape2 import Icape2

PINS = ("icap_clk", "icap_csib", "icap_rdwrb", "icap_i")
BENCH = BlockBench(
    bitstream_loader,
    "clk rst idle busy",
    load=BitstreamLoad(flag(), bits(WORD)),
    icap=IcapPins(),
)


def play(rows: Sequence[LoadInputs]) -> Recorded:
    """Drive the inputs of each cycle."""
    return BENCH.run(
        [
            {"load_begin": begin, "idle": idle, "rst": rst, "load_address": address}
            for begin, idle, rst, address in rows
        ]
    )


def check(rows: Sequence[LoadInputs]) -> Recorded:
    """Compare the pins with the golden model, and the loads with those that begin."""
    trace = play(rows)
    assert trace.columns(*PINS) == [tuple(each) for each in pins(rows)]
    icap = Icape2()
    for values in trace.columns(*PINS):
        icap.sample(*values)
    assert not icap.faults
    sent = [rows[cycle - 1].address for cycle in begins(rows) if cycle + 17 < len(rows)]
    assert icap.loads[: len(sent)] == sent
    assert len(icap.loads) <= len(begins(rows))
    return trace


def drawn(seed: int, cycles: int = 400) -> list[LoadInputs]:
    """Requests at any time, a memory that is seldom idle, and resets; an address stays."""
    rng = Random(seed)
    often, idle, reset = rng.choice([0.02, 0.2, 1]), rng.choice([0.1, 0.6, 1]), rng.choice([0, 0.1])
    words = [rng.getrandbits(WORD) for _ in range(cycles // 20 + 1)]
    rows = [
        LoadInputs(rng.random() < often, rng.random() < idle, rng.random() < reset, words[0])
        for _ in range(cycles)
    ]
    while True:
        starts = begins(rows)
        changed = [
            row._replace(address=words[sum(cycle >= start + 18 for start in starts)])
            for cycle, row in enumerate(rows)
        ]
        if changed == rows:
            return rows
        rows = changed


@pytest.mark.parametrize("late", range(4))
def test_a_load_waits_for_memory(late: int) -> None:
    rows = [LoadInputs(cycle == 5, cycle >= 30 + late, 0, 0x00ABCDEF) for cycle in range(70)]
    trace = check(rows)
    assert begins(rows) == [32 + late // 2 * 2]
    busy = trace.column("busy")
    assert busy.index(1) == 6
    assert sum(busy) == begins(rows)[0] + 18 - 6


def test_a_reset_drops_a_load_that_waits() -> None:
    rows = [LoadInputs(cycle == 5, cycle >= 20, cycle == 12, 1) for cycle in range(60)]
    assert not any(check(rows).column("busy")[13:])


@pytest.mark.parametrize("late", range(24))
def test_a_reset_at_any_time_leaves_no_half_load(late: int) -> None:
    """The next load is decoded right, whether the first one was dropped or completed."""
    rows = [
        LoadInputs(cycle in (5, 50), 1, cycle == 5 + late, 2 if cycle < 40 else 3)
        for cycle in range(90)
    ]
    trace = check(rows)
    icap = Icape2()
    for values in trace.columns(*PINS):
        icap.sample(*values)
    assert icap.loads == ([2, 3] if late > 2 else [3])


@pytest.mark.parametrize("seed", few(range(60), *range(0, 60, 6)))
def test_random_requests(seed: int) -> None:
    check(drawn(seed))


@pytest.mark.ghdl
@pytest.mark.verilator
def test_bitstream_loader_vhdl(replays: Replays) -> None:
    assert replays(play(drawn(3)), lint=True) == 400
