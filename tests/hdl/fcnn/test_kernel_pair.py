"""Two sets of kernels: every set in order, short last blocks, sets that wait, framing."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.fcnn.kernel_pair import RunSets, SetSize, kernel_pair

WIDTH = 6


@dataclass(frozen=True)
class Load:
    """A run: sets of each block, blocks and maps of the last one."""

    inputs: int
    blocks: int
    last_maps: int
    enable: bool = True

    def maps_of(self, maps: int) -> list[int]:
        """Maps of each set, in order."""
        own = [maps] * (self.blocks - 1) + [self.last_maps]
        return [each for each in own for _ in range(self.inputs)] if self.enable else []


def bench(maps: int, taps: int) -> BlockBench:
    return BlockBench(
        kernel_pair, "clk rst start swap loaded framing_error",
        sets=RunSets(
            enable=flag(), inputs=count(5), blocks=count(4), last_maps=count(maps)
        ),
        sink=Stream(WIDTH), kernels=bits(maps * taps * WIDTH), size=SetSize(maps, taps, WIDTH),
    )  # fmt: skip


class Player:
    """Sends the sets of runs; swaps at a rate once a set is loaded."""

    def __init__(
        self, loads: Sequence[Load], maps: int, taps: int, rates: tuple[float, float] = (1.0, 1.0),
        seed: int = 0, wrong: int | None = None,
    ) -> None:  # fmt: skip
        self.maps, self.taps, self.rates, self.wrong = maps, taps, rates, wrong
        self.rng = Random(seed)
        self.left = list(loads)
        self.swaps = 0  # left in this run
        self.words: list[int] = []
        self.sent: list[list[int]] = []  # every set, as kernels
        self.load = Load(1, 1, 1, enable=False)
        self.held = False

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle < 2:
            seen = {}  # of a run before a reset
        if self.held and seen["sink_ready"]:
            self.words.pop(0)
            self.held = False
        if seen.get("swap"):
            self.swaps -= 1
        begins = cycle > 0 and bool(self.left) and not self.swaps and not seen.get("start")
        if begins:
            self.load = self.left.pop(0)
            sets = [
                [self.rng.getrandbits(WIDTH) for _ in range(own * self.taps)]
                for own in self.load.maps_of(self.maps)
            ]
            self.swaps, self.sent = len(sets), self.sent + sets
            self.words = [word for each in sets for word in each]
            self.total, self.held = len(self.words), False
        self.held = bool(self.words) and (self.held or self.rng.random() < self.rates[0])
        at = len(self.words)
        noise = self.rng.getrandbits(WIDTH)
        ready = bool(seen.get("loaded")) and not seen.get("swap") and not begins
        return {
            "rst": int(cycle == 0), "start": int(begins), "enable": int(self.load.enable),
            "inputs": self.load.inputs, "blocks": self.load.blocks,
            "last_maps": self.load.last_maps, "sink_valid": int(self.held),
            "sink_data": self.words[0] if self.held else noise,
            "sink_last": int(at == 1 or at == self.wrong) if self.held else noise & 1,
            "swap": int(ready and self.rng.random() < self.rates[1]),
        }  # fmt: skip


def check(trace: Recorded, player: Player) -> None:
    assert not player.left
    assert not player.words
    kernels, swaps = trace.column("kernels"), trace.column("swap")
    used = [kernels[t + 1] for t, on in enumerate(swaps[:-1]) if on]
    assert len(used) == len(player.sent)
    mask = (1 << WIDTH) - 1
    for found, sent in zip(used, player.sent, strict=True):
        assert [found >> i * WIDTH & mask for i in range(len(sent))] == sent
    # A set in use stays as it is until the swap.
    for t in range(2, len(kernels)):
        assert kernels[t] == kernels[t - 1] or swaps[t - 1]


LOADS = (Load(3, 2, 1), Load(1, 1, 2), Load(2, 1, 1, enable=False), Load(2, 3, 2), Load(1, 3, 1))


@pytest.mark.parametrize(("maps", "taps"), [(1, 1), (2, 4), (3, 1), (2, 9)])
@pytest.mark.parametrize("rates", [(1.0, 1.0), (0.6, 1.0), (1.0, 0.2)])
def test_every_set_is_used_in_order(maps: int, taps: int, rates: tuple[float, float]) -> None:
    loads = [Load(each.inputs, each.blocks, min(each.last_maps, maps), each.enable)
             for each in LOADS]  # fmt: skip
    player = Player(loads, maps, taps, rates)
    words = sum(sum(load.maps_of(maps)) * taps + 8 * load.inputs * load.blocks for load in loads)
    trace = bench(maps, taps).run(player, int(4 * words / min(rates)) + 20)
    check(trace, player)
    assert not any(trace.column("framing_error"))


def test_a_set_takes_a_cycle_more_than_its_elements() -> None:
    player = Player([Load(4, 1, 2)], 2, 3)
    trace = bench(2, 3).run(player, 60)
    swaps = [t for t, on in enumerate(trace.column("swap")) if on]
    (start,) = (t for t, on in enumerate(trace.column("start")) if on)
    # The bench sees loaded a cycle late.
    assert [swap - 1 - start for swap in swaps[:1]] == [2 * 3 + 1]
    assert {b - a for a, b in pairwise(swaps)} == {2 * 3 + 2}


@pytest.mark.parametrize("wrong", [2, 9])
def test_a_word_that_is_wrongly_last_is_told(wrong: int) -> None:
    loads = [Load(2, 1, 2), Load(2, 1, 2)]
    player = Player(loads, 2, 3, wrong=wrong)
    trace = bench(2, 3).run(player, 80)
    assert trace.column("framing_error")[-1]
    starts = [t for t, on in enumerate(trace.column("start")) if on]
    assert trace.column("framing_error")[starts[1]]
    assert not trace.column("framing_error")[starts[1] + 1]


def session(number: int) -> Player:
    return Player([Load(2 + number, 2, 1)], 2, 3, (0.8, 0.7), seed=number)


def test_a_reset_leaves_nothing_behind() -> None:
    """The kernels of the first swap replace whatever was there."""
    trace = bench(2, 3).run(session(1), 60)
    first = trace.column("swap").index(1) + 1
    bench(2, 3).as_new_after_reset(session, range(4, 40, 9), 60, late={"kernels": first})


@pytest.mark.ghdl
def test_kernel_pair_vhdl(replays: Replays) -> None:
    for maps, taps in ((2, 4), (1, 1)):
        player = Player([Load(2, 2, 1), Load(1, 1, 1)], maps, taps, (0.8, 0.7))
        trace = bench(maps, taps).run(player, 120)
        check(trace, player)
        replays(trace, lint=True)
