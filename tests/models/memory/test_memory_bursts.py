"""Bursts of runs: every word once, within the rules of AXI4, and parameters that are refused."""

from random import Random

import pytest

from merp.models.memory.bursts import Burst, bursts_of
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Run


def test_bursts_by_hand() -> None:
    """Four words to a beat, four beats to a block: words 16 to 31 are one block."""
    mover = Mover(port=MemoryPort(data_bits=64, burst_beats=4), word_bits=16)
    assert list(bursts_of([Run(13, 22), Run(1, 1)], mover)) == [
        Burst(3, 1, first=1, final=3),
        Burst(4, 4, first=0, final=3),
        Burst(8, 1, first=0, final=2),
        Burst(0, 1, first=1, final=1, last=True),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_bursts_carry_each_word_once_and_keep_the_rules(seed: int) -> None:
    rng = Random(seed)
    bits = rng.choice([64, 128, 256, 512])
    most = min(256, 4096 // (bits // 8))
    port = MemoryPort(data_bits=bits, burst_beats=rng.choice([2, most // 2, most]))
    word = rng.choice([each for each in (8, 16, 32, 64, 128, 256, 512) if each <= bits])
    mover = Mover(port=port, word_bits=word, places=256)
    run = Run(rng.randrange(20_000), rng.choice([1, 2, 17, 300, 5000]))
    bursts = list(bursts_of([run], mover))
    lanes = mover.lanes
    words = [
        place
        for each in bursts
        for place in range(
            each.address * lanes + each.first,
            (each.address + each.beats - 1) * lanes + each.final + 1,
        )
    ]
    assert words == list(range(run.address, run.address + run.words))
    assert sum(each.words(lanes) for each in bursts) == run.words
    assert [each.last for each in bursts] == [False] * (len(bursts) - 1) + [True]
    for each in bursts:
        begin, end = each.address * port.beat_bytes, (each.address + each.beats) * port.beat_bytes
        assert begin // 4096 == (end - 1) // 4096
        assert 1 <= each.beats <= port.burst_beats


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data_bits": 96}, "data_bits must be 64, 128, 256 or 512, not 96"),
        ({"data_bits": 64.0}, "data_bits must be 64, 128, 256 or 512, not 64.0"),
        (
            {"data_bits": 64, "address_bits": 41},
            "address_bits must be a whole number from 32",
        ),
        ({"data_bits": 512, "burst_beats": 128}, "burst_beats must be a whole number from 2 to 64"),
        ({"data_bits": 64, "burst_beats": 48}, "burst_beats must be a power of two, not 48"),
        ({"data_bits": 64, "turn_beats": 0}, "turn_beats must be a whole number from 1 to 65536"),
        ({"data_bits": 64, "id_bits": 9}, "id_bits must be a whole number from 1 to 8, not 9"),
    ],
)
def test_ports_that_cannot_be_built_are_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MemoryPort(**fields)


PORT = MemoryPort(data_bits=64)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"word_bits": 128}, "word_bits must be a whole number from 8 to 64, not 128"),
        ({"word_bits": 24}, "word_bits must be a power of two, not 24"),
        ({"word_bits": 8, "places": 63}, "places must be a whole number from 64 to 4096, not 63"),
        ({"word_bits": 8, "bursts": 65}, "bursts must be a whole number from 1 to 64, not 65"),
        ({"word_bits": 8, "count_bits": 33}, "count_bits must be a whole number from 1 to 32"),
    ],
)
def test_movers_that_cannot_be_built_are_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mover(port=PORT, **fields)


MOVER = Mover(port=PORT, word_bits=16)
OTHER = Mover(port=MemoryPort(data_bits=128), word_bits=16)


@pytest.mark.parametrize(
    ("readers", "writers", "message"),
    [
        ((), (("a", MOVER),), "readers must be 1 to 16 streams, not 0"),
        (
            (("a", MOVER),),
            tuple((f"w{at}", MOVER) for at in range(17)),
            "writers must be 1 to 16 streams, not 17",
        ),
        ((("a", MOVER),), (("a", MOVER),), "streams must have different names, not a twice"),
        ((("a", MOVER),), (("b", OTHER),), "every mover must have the port of the interface"),
    ],
)
def test_interfaces_that_cannot_be_built_are_refused(
    readers: tuple[tuple[str, Mover], ...], writers: tuple[tuple[str, Mover], ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        InterfaceDesign(port=PORT, readers=readers, writers=writers)
