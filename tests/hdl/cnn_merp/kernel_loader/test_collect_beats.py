"""Elements several to a beat into kernels: each tap in its place, the next kernel's kept aside."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Sample
from marks import rows_in_full
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.cnn_merp.kernel_loader.collect_beats import collect_beats

WIDTH = 7


class Kernels:
    """Packed elements in random cycles, noise on the pins in all others."""

    def __init__(self, taps: int, lanes: int, kernels: int, density: float) -> None:
        self.taps, self.lanes, self.density = taps, lanes, density
        self.rng = Random(taps * lanes)
        self.words = [self.rng.getrandbits(WIDTH) for _ in range(taps * kernels)]
        self.at = 0  # elements that have come
        self.ended: list[int] = []  # cycles after those in which a kernel's last element came

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        take = self.at < len(self.words) and self.rng.random() < self.density
        beat = self.words[self.at : self.at + self.lanes] if take else []
        noise = (self.rng.getrandbits(WIDTH) for _ in range(self.lanes - len(beat)))
        held = self.at % self.taps
        if take:
            if held + self.lanes >= self.taps:
                self.ended.append(cycle + 1)
            self.at += self.lanes
        return {
            "take": int(take), "held": held,
            "sink_data": sum(word << WIDTH * i for i, word in enumerate([*beat, *noise])),
        }  # fmt: skip


def play(taps: int, lanes: int, rotated: bool, density: float) -> tuple[Recorded, Kernels]:
    kernels = 2 * lanes + 1
    driver = Kernels(taps, lanes, kernels, density)
    bench = BlockBench(
        collect_beats, "clk take", sink=Stream(lanes * WIDTH), held=count(taps + lanes),
        collected=bits(taps * WIDTH), width=WIDTH, rotated=rotated,
    )  # fmt: skip
    cycles = int(10 + taps * kernels / lanes / density**2)
    return bench.run(driver.drive, cycles), driver


@pytest.mark.parametrize(("taps", "lanes"), [
    (4, 2), (9, 2), (9, 4), (9, 8), (25, 4), (4, 4),
    *rows_in_full((16, 8), (25, 2), (25, 8), (49, 4), (121, 8)),
])  # fmt: skip
@pytest.mark.parametrize("rotated", [False, True])
def test_every_kernel_is_whole_in_the_cycle_after_its_last_element(
    taps: int, lanes: int, rotated: bool
) -> None:
    """Whatever comes next to it in its beats, and however long its beats wait."""
    for density in (1.0, 0.4):
        trace, driver = play(taps, lanes, rotated, density)
        collected = trace.column("collected")
        found = [collected[cycle] for cycle in driver.ended]
        kernels = [driver.words[i : i + taps] for i in range(0, len(driver.words), taps)]
        wanted = [
            sum(word << WIDTH * (taps - 1 - t if rotated else t) for t, word in enumerate(kernel))
            for kernel in kernels
        ]
        assert found == wanted
        if density == 1:  # a beat in every cycle
            assert driver.ended[-1] == -(-len(driver.words) // lanes)
