"""Maps plus their biases, several to a beat: every number of maps, at any pace, run after run."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.cnn_merp.cu_array.added_beats import added_beats
from merp.hdl.cnn_merp.ports.kernels import BiasWrite
from merp.models.golden.convolution import from_maps
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS


class Runs:
    """Runs of 1, 2, ... maps one after the other: biases, then beats; a source that runs on."""

    def __init__(self, design: EngineDesign, pace: float) -> None:
        self.design, self.pace, self.rng = design, pace, Random(design.map_port)
        made = np.random.default_rng(design.map_port)
        low, high = 0x3F000000, 0x41000000
        most = design.groups * design.n_cu
        self.maps = [
            made.integers(low, high, (1, 1, 5, maps)).astype(np.uint32)
            for maps in range(1, most + 1)
        ]
        self.biases = [made.integers(low, high, m.shape[-1]).astype(np.uint32) for m in self.maps]
        self.found: list[list[int]] = [[] for _ in self.maps]
        self.run, self.step, self.taken, self.early, self.ended = -1, 0, 0, 0, 0
        self.valid = self.ready = 0

    @property
    def beats(self) -> int:
        """Of this run."""
        return -(-self.maps[max(self.run, 0)].size // self.design.map_port)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        design, lanes = self.design, self.design.map_port
        if cycle > 0 and self.run >= 0:
            if self.valid and seen["sink_ready"]:
                self.taken, self.valid = self.taken + 1, 0
                self.early += self.step <= len(self.biases[self.run]) or self.taken > self.beats
            if self.ready and seen["source_valid"]:
                words = seen["source_data"], design.partial_width
                mask = (1 << words[1]) - 1
                beat = [words[0] >> lane * words[1] & mask for lane in range(lanes)]
                self.found[self.run] += beat
                self.ended += seen["source_last"]
        left = self.maps[max(self.run, 0)].size - len(self.found[max(self.run, 0)])
        starts = cycle > 0 and (self.run < 0 or left <= 0) and self.run + 1 < len(self.maps)
        if starts:
            self.run, self.step, self.taken = self.run + 1, -1, 0
        self.step += 1
        biases, words = self.biases[max(self.run, 0)], self.maps[max(self.run, 0)].reshape(-1)
        loads = not starts and 1 <= self.step <= len(biases)
        place = self.step - 1 if loads else 0
        self.valid = int(self.valid or self.rng.random() < self.pace)
        self.ready = int(self.rng.random() < self.pace)
        beat = np.resize(words, (self.taken + 1) * lanes)[self.taken * lanes :]
        data = sum(int(word) << lane * design.fmt.width for lane, word in enumerate(beat))
        return {
            "rst": int(cycle == 0), "start": int(starts), "words": words.size,
            "enable": int(self.step > len(biases)),
            "bias_enable": int(loads) << place % design.n_cu,
            "bias_addr": place // design.n_cu, "bias_data": int(biases[place]),
            "sink_data": data, "sink_keep": 0, "sink_valid": self.valid,
            "sink_last": int(self.taken + 1 == self.beats), "source_ready": self.ready,
        }  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    sink = Stream(design.map_port * design.fmt.width)
    sink.keep = bits(design.map_port)
    return BlockBench(
        added_beats, "clk rst start enable", words=bits(10), sink=sink, bias=BiasWrite(design),
        source=Stream(design.map_port * design.partial_width), design=design,
    )  # fmt: skip


@pytest.mark.parametrize(("port", "pace"), [(2, 0.4), (4, 1.0), (8, 0.7)])
def test_each_element_has_its_bias_added_and_those_of_the_next_run_wait(
    port: int, pace: float
) -> None:
    design = replace(ELABORATIONS[2], added=True, groups=5, map_port=port)
    runs = Runs(design, pace)
    bench_for(design).run(runs.drive, int(300 + 500 / pace))
    assert runs.early == 0
    assert runs.ended == len(runs.maps)
    for found, maps, biases in zip(runs.found, runs.maps, runs.biases, strict=True):
        wanted = from_maps(maps, design.fmt, design.summation, biases).reshape(-1)
        assert found[: maps.size] == [int(word) for word in wanted]
