"""Maps plus their biases: words against the golden, at any pace, run after run."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.cnn_merp.cu_array.added_maps import added_maps
from merp.hdl.cnn_merp.ports.kernels import BiasWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.models.golden.convolution import from_maps
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS

SIZES = ((2, 3, 2, 5), (1, 1, 1, 3), (1, 2, 2, 1))
"""Of each run: images, rows, columns, maps."""


class Runs:
    """Runs one after the other, as ``run_block``'s drive: biases, then words."""

    def __init__(self, design: EngineDesign, pace: float, seed: int) -> None:
        self.design, self.pace, self.rng = design, pace, Random(seed)
        made = np.random.default_rng(seed)
        low, high = 0x3F000000, 0x41000000
        self.maps = [made.integers(low, high, size).astype(np.uint32) for size in SIZES]
        self.biases = [made.integers(low, high, size[-1]).astype(np.uint32) for size in SIZES]
        self.found: list[list[tuple[int, int]]] = [[] for _ in SIZES]
        self.run, self.step, self.taken, self.valid = -1, 0, 0, 0
        self.early = 0  # words taken in cycles in which none may be
        self.ready = 0

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle > 0 and self.run >= 0:
            if self.valid and seen["sink_ready"]:
                self.taken, self.valid = self.taken + 1, 0
                self.early += self.step <= len(self.biases[self.run])
            if self.ready and seen["source_valid"]:
                self.found[self.run].append((seen["source_data"], seen["source_last"]))
        done = self.run < 0 or len(self.found[self.run]) == self.maps[self.run].size
        starts = cycle > 0 and done and self.run + 1 < len(SIZES)
        if starts:
            self.run, self.step, self.taken = self.run + 1, -1, 0
        self.step += 1
        at = max(self.run, 0)
        biases, words = self.biases[at], self.maps[at].reshape(-1)
        loads = not starts and 1 <= self.step <= len(biases)
        place = self.step - 1 if loads else 0
        self.valid = int(self.valid or self.rng.random() < self.pace)
        self.ready = int(self.rng.random() < self.pace)
        images, rows, columns, _ = SIZES[at]
        return {
            "rst": int(cycle == 0), "start": int(starts), "wanted": 1,
            "enable": int(self.step > len(biases)),
            "config_images": images, "config_out_rows": rows, "config_out_columns": columns,
            "bias_enable": int(loads) << place % self.design.n_cu,
            "bias_addr": place // self.design.n_cu, "bias_data": int(biases[place]),
            "sink_data": int(words[self.taken % words.size]), "sink_valid": self.valid,
            "sink_last": int(self.taken == words.size - 1), "source_ready": self.ready,
        }  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        added_maps, "clk rst start enable wanted", config=MapConfig(design),
        sink=Stream(design.fmt.width), bias=BiasWrite(design), source=Stream(design.partial_width),
        design=design,
    )  # fmt: skip


@pytest.mark.parametrize("pace", [1.0, 0.6, 0.15])
@pytest.mark.parametrize("index", [2, 10])
def test_each_word_has_its_bias_added_and_those_of_the_next_run_wait(
    index: int, pace: float
) -> None:
    design = replace(ELABORATIONS[index], added=True, groups=3)
    runs = Runs(design, pace, seed=index)
    bench_for(design).run(runs.drive, int(60 + 120 / pace**2))
    assert runs.early == 0
    for found, maps, biases in zip(runs.found, runs.maps, runs.biases, strict=True):
        wanted = from_maps(maps, design.fmt, design.summation, biases).reshape(-1)
        assert [word for word, _ in found] == [int(word) for word in wanted]
        assert [last for _, last in found] == [0] * (len(found) - 1) + [1]


def test_a_word_comes_after_added_latency_and_one_in_every_cycle() -> None:
    design = replace(ELABORATIONS[2], added=True, groups=3)
    runs = Runs(design, 1.0, seed=7)
    trace = bench_for(design).run(runs.drive, 120)

    def transfers(stream: str) -> list[int]:
        both = zip(trace.column(f"{stream}_valid"), trace.column(f"{stream}_ready"), strict=True)
        return [at for at, (valid, ready) in enumerate(both) if valid and ready]

    taken, given = transfers("sink"), transfers("source")
    first = int(np.prod(SIZES[0]))
    assert taken[:first] == list(range(taken[0], taken[0] + first))
    assert given[0] - taken[0] == design.added_latency
    assert given[:first] == list(range(given[0], given[0] + first))


def test_after_a_reset_nothing_is_taken_until_a_start() -> None:
    design = replace(ELABORATIONS[2], added=True, groups=3)
    resets = 12
    runs = Runs(design, 1.0, seed=3)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = runs.drive(cycle, seen)
        if cycle >= resets:
            values |= {"rst": int(cycle == resets), "start": 0, "enable": 1, "sink_valid": 1}
        return values

    trace = bench_for(design).run(drive, resets + 40)
    ready, valid = trace.column("sink_ready"), trace.column("source_valid")
    assert any(ready[:resets])
    assert not any(ready[resets + 1 :])
    assert not any(valid[resets + 1 :])
