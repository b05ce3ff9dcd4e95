"""The gears of gradients: reads end to end, kernels and biases apart, a beat in every cycle."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from myhdl import always_comb, block

from block_bench import BlockBench, Recorded, Replays, Sample
from marks import in_full
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.cnn_merp.update_unit.counted_gear import counted_gear
from merp.hdl.cnn_merp.update_unit.gradient_gear import gradient_gear
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

BYTE = FloatFormat(4, 3)


def design_for(k: int, port: int) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=k, n_cu=2, r=1, groups=2, kernel_words=4, max_maps=2, row_words=4,
        max_size=8, fifo_words=2, kernel_port=port,
    )  # fmt: skip


@dataclass
class Reads:
    """Gradients of kernels and of biases as reads, and how often they are there and used.

    counted: reads say how many of their elements count.
    """

    design: EngineDesign
    kernels: int
    biases: int
    density: tuple[float, float] = (1.0, 1.0)
    reset_at: int | None = None
    by_start: bool = False
    counted: bool = False
    found: list[tuple[int, int, int, int]] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = Random(self.kernels * 31 + self.biases)
        each = self.design.gradient_read
        self.bits = each * BYTE.width + (1 + len(count(each)) if self.counted else 3)
        self._begin()

    def _begin(self) -> None:
        each, taps, width = self.design.gradient_read, self.design.taps, BYTE.width
        draw = self.rng.getrandbits
        self.of_kernels = [draw(width) or 1 for _ in range(self.kernels * taps)]
        self.of_biases = [draw(width) or 1 for _ in range(self.biases)]
        self.reads = []
        for kernel in range(self.kernels):
            words = self.of_kernels[kernel * taps : (kernel + 1) * taps]
            for at in range(0, taps, each):
                ends = at + each >= taps
                tag = int(ends) | int(ends and kernel == self.kernels - 1) << 2
                self.reads.append(self._read(words[at : at + each], tag))
        for at, word in enumerate(self.of_biases):
            self.reads.append(self._read([word], 2 | int(at == self.biases - 1) << 2))
        self.at = 0
        self.found.clear()
        self.loads.clear()

    def _read(self, words: list[int], tag: int) -> int:
        size = self.design.gradient_read * BYTE.width
        if self.counted:
            # Behind what counts there may be anything.
            noise = self.rng.getrandbits(size) >> BYTE.width * len(words) << BYTE.width * len(words)
            above = len(words) | tag >> 2 << self.bits - 1 - size
            return self._read_word(words) | noise | above << size
        return self._read_word(words) | tag << size

    @staticmethod
    def _read_word(words: list[int]) -> int:
        return sum(word << BYTE.width * i for i, word in enumerate(words))

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle and seen["load"]:
            self.at += 1
            self.loads.append(cycle - 1)
        if cycle and seen["beat_valid"] and seen["take"]:
            self.found.append(
                (cycle - 1, seen["beat_data"], seen["beat_keep"], seen["beat_last"] << 1
                 | seen["beat_biases"])
            )  # fmt: skip
        given_up = cycle == self.reset_at
        if given_up:
            self._begin()
        there = self.at < len(self.reads) and cycle > 0 and self.rng.random() < self.density[0]
        there = there and not given_up
        return {
            "rst": int(cycle == 0 or (given_up and not self.by_start)),
            "start": int(given_up and self.by_start), "read_valid": int(there),
            "read": self.reads[self.at] if there else self.rng.getrandbits(self.bits),
            "take": 0,
        }  # fmt: skip


def bench_for(reads: Reads) -> BlockBench:
    return BlockBench(
        counted_gear if reads.counted else gradient_gear, "clk rst start load read_valid take",
        design=reads.design, read=bits(reads.bits), beat=GradientBeat(reads.design),
    )  # fmt: skip


def play(reads: Reads, cycles: int) -> Recorded:
    """``take`` comes a cycle after ``beat_valid`` or later: a trace has it as an input."""

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = reads.drive(cycle, seen)
        # A beat that is there stays there: it may be used in any later cycle.
        waits = cycle and seen["beat_valid"] and not seen["take"]
        ended = any(each["rst"] or each["start"] for each in (seen, values)) if cycle else True
        values["take"] = int(waits and not ended and reads.rng.random() < reads.density[1])
        return values

    return bench_for(reads).run(drive, cycles)


@block
def wanted_gear(
    clk: Bit,
    rst: Bit,
    start: Bit,
    read: Word,
    read_valid: Bit,
    load: Bit,
    beat: GradientBeat,
    take: Bit,
    wanted: Bit,
    design: EngineDesign,
) -> Any:
    """The gear, a beat used in the very cycle in which it is there and wanted."""

    @always_comb
    def use() -> None:
        take.next = beat.valid and wanted

    return use, gradient_gear(
        clk, rst, start, read=read, read_valid=read_valid, load=load, beat=beat, take=take,
        design=design,
    )  # fmt: skip


def check(reads: Reads) -> None:
    lanes, width = reads.design.kernel_port, BYTE.width
    wanted = []
    for words, biases in ((reads.of_kernels, 0), (reads.of_biases, 1)):
        for at in range(0, len(words), lanes):
            beat = words[at : at + lanes]
            data = sum(word << width * i for i, word in enumerate(beat))
            last = int(at + lanes >= len(words))
            wanted.append((data, (1 << len(beat)) - 1, last << 1 | biases))
    assert [beat for _, *beat in reads.found] == [list(beat) for beat in wanted]


SIZES = [(3, 4), (3, 2), (2, 4), (5, 8), *in_full((3, 8), (5, 2), (5, 4), (1, 2), (2, 8), (4, 8))]


@pytest.mark.parametrize("size", SIZES)
def test_reads_are_put_end_to_end(size: tuple[int, int]) -> None:
    """Zeros behind the last that counts, of the kernels and of the biases; each with its last."""
    for density in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.6, 0.6)):
        for kernels, biases in ((7, 5), (1, 1), (4, 8)):
            reads = Reads(design_for(*size), kernels, biases, density)
            play(reads, int(40 + 6 * len(reads.reads) / min(density)))
            check(reads)


@pytest.mark.parametrize("size", SIZES[:2])
def test_reads_that_say_how_many_count_are_put_end_to_end(size: tuple[int, int]) -> None:
    for density in ((1.0, 1.0), (0.6, 0.6)):
        reads = Reads(design_for(*size), 7, 5, density, counted=True)
        play(reads, int(60 + 6 * len(reads.reads) / min(density)))
        check(reads)


@pytest.mark.parametrize("size", [(5, 8), *in_full((3, 2), (3, 4))])
def test_after_a_pause_a_beat_is_there_in_every_cycle(size: tuple[int, int]) -> None:
    """The pause comes when reads were late as well: all but the last beat of some were used.

    What is read in it must do for a kernel's last read, which may have too little for a beat.
    """
    design = design_for(*size)
    pause = range(40, 46)
    for early in range(1, 8 * design.gradient_reads):
        reads = Reads(design, kernels=9, biases=1)
        kernels, parts = divmod(early, design.gradient_reads)
        elements = kernels * design.taps + parts * design.gradient_read
        before = elements // design.kernel_port - 1

        def drive(
            cycle: int, seen: Sample, reads: Reads = reads, early: int = early, before: int = before
        ) -> dict[str, int]:
            values = reads.drive(cycle, seen)
            del values["take"]
            if cycle < pause.start and reads.at >= early:
                values["read_valid"] = 0
            wanted = cycle not in pause and (cycle >= pause.stop or len(reads.found) < before)
            return values | {"wanted": int(wanted)}

        args = bench_for(reads).args | {"wanted": flag()}
        BlockBench(wanted_gear, **args).run(drive, pause.stop + 60)
        check(reads)
        used = [cycle for cycle, _, _, tag in reads.found if not tag & 1]
        assert sum(cycle < pause.start for cycle in used) == max(before, 0)
        after = [cycle for cycle in used if cycle >= pause.stop]
        assert after == [*range(pause.stop, pause.stop + len(after))]


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("by_start", [False, True])
@pytest.mark.parametrize("reset_at", [1, 3, 4, 9, 14, 30, 35])
def test_it_is_empty_after_a_reset_and_after_start(
    reset_at: int, by_start: bool, counted: bool
) -> None:
    """Also while the last of the kernels' elements wait to leave, and those of the biases."""
    reads = Reads(design_for(3, 4), 5, 3, (1.0, 0.7), reset_at, by_start, counted)
    play(reads, 90)
    check(reads)


@pytest.mark.ghdl
def test_vhdl_agrees(replays: Replays) -> None:
    reads = Reads(design_for(3, 4), 7, 5, (0.7, 0.7))
    trace = play(reads, 130)
    check(reads)
    assert replays(trace) == 130
