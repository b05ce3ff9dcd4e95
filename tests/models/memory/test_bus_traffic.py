"""Traffic on the bus by formula: the sum of all bursts, of walks of any shape."""

from collections import Counter
from random import Random

import pytest
from movers import drawn_walk

from merp.models.memory.bursts import bursts_of
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Dimension, Walk


def listed(walk: Walk, mover: Mover) -> BusTraffic:
    """The same by a list of all bursts."""
    bursts = list(bursts_of(walk.runs(), mover))
    beats = sum(each.beats for each in bursts)
    useful = sum(each.words(mover.lanes) for each in bursts) * mover.word_bytes
    lengths = Counter(each.beats for each in bursts)
    return BusTraffic(useful, beats, beats * mover.port.beat_bytes - useful, dict(lengths))


@pytest.mark.parametrize("seed", range(60))
def test_the_formula_is_the_sum_of_all_bursts(seed: int) -> None:
    rng = Random(seed)
    bits = rng.choice([64, 128, 512])
    port = MemoryPort(data_bits=bits, burst_beats=rng.choice([2, 8, 64]))
    mover = Mover(port=port, word_bits=rng.choice([8, 16, 32, 64]), places=64)
    walk = drawn_walk(rng, mover, most_words=rng.choice([1, 5, 40, 900]), far=rng.choice([9, 2000]))
    assert bus_traffic(walk, mover) == listed(walk, mover)


def test_traffic_by_hand() -> None:
    """Words of 4 bytes, beats of 16: two groups of 48 maps, side by side in 27 x 27 places."""
    mover = Mover(port=MemoryPort(data_bits=128), word_bits=32)
    walk = Walk(48, 48, (Dimension(27 * 27, 96),))
    found = bus_traffic(walk, mover)
    assert (found.useful, found.wasted) == (27 * 27 * 192, 0)
    assert found.beats == 27 * 27 * 12
    odd = bus_traffic(Walk(1, 48, (Dimension(27 * 27, 96),)), mover)
    assert (odd.beats, odd.wasted) == (27 * 27 * 13, 27 * 27 * 16)


def test_the_formula_needs_no_list_of_a_billion_runs() -> None:
    mover = Mover(port=MemoryPort(data_bits=128), word_bits=32, count_bits=32)
    walk = Walk(3, 1, (Dimension(1 << 30, 5),))
    assert bus_traffic(walk, mover).beats == 1 << 30


def test_traffic_is_added() -> None:
    one, other = BusTraffic(4, 2, 28, {2: 1}), BusTraffic(8, 1, 8, {1: 1, 2: 3})
    assert one + other == BusTraffic(12, 3, 36, {2: 4, 1: 1})
