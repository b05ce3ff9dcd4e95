"""Weights of folded layers into delta propagation: each in its tap, one or several a beat."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import Stream, count
from merp.hdl.cnn_merp.kernel_loader.fold_beat_loader import fold_beat_loader
from merp.hdl.cnn_merp.kernel_loader.fold_delta_loader import fold_delta_loader
from merp.hdl.cnn_merp.ports.kernels import KernelWrite, LoadConfig
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.kernel_load import delta_load
from merp.models.machines.cnn_merp.params.design import EngineDesign

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do
WIDTH = BYTE.width


def design_for(k: int, n_cu: int, port: int) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=k, n_cu=n_cu, r=1, groups=3, kernel_words=9, max_maps=3, row_words=3,
        max_size=8, fifo_words=3, kernel_port=port, folded=True,
    )  # fmt: skip


DESIGNS = [
    *(design_for(2, 3, 1), design_for(3, 1, 1)),
    *(design_for(2, 3, 2), design_for(3, 4, 2), design_for(2, 6, 4), design_for(2, 2, 4)),
]
every_design = pytest.mark.parametrize(
    "design", DESIGNS, ids=lambda each: f"k{each.k}-{each.n_cu}cu-{each.kernel_port}"
)


@dataclass(frozen=True)
class Layer:
    """``lasts``: which beats have last, the right one if None."""

    inputs: int
    outputs: int
    lasts: tuple[int, ...] | None = None


def layers_for(design: EngineDesign) -> list[Layer]:
    """Kernels that are full and that lack taps; groups, and beats, that end anywhere."""
    most, taps = design.groups * design.n_cu, design.taps
    sizes = [
        *((1, 1), (most, 3 * taps), (1, 2 * taps + 1), (min(2, most), taps + 1), (most - 1, 2)),
        *((design.n_cu, taps), (design.n_cu + 1, taps - 1), (1, 3 * taps)),
    ]
    return [Layer(*size) for size in sizes]


class Memories:
    """The CUs' kernels by CU and address; what no tap was written of is noise."""

    def __init__(self, design: EngineDesign) -> None:
        self.design, self.words = design, dict[tuple[int, int], list[int]]()

    def write(self, seen: Sample) -> list[tuple[int, int]]:
        """Do what the pins say."""
        n_cu, taps, lanes = self.design.n_cu, self.design.taps, self.design.kernel_port
        places = [
            (cu, seen["kernel_addr"]) for cu in range(n_cu) if seen["kernel_enable"] >> cu & 1
        ]
        for cu, addr in places:
            kernel = self.words.setdefault((cu, addr), [-1] * taps)
            for tap in range(taps):
                word = seen["kernel_data"] >> WIDTH * tap
                if lanes > 1 and seen["kernel_places"] >> tap & 1:
                    word = seen["kernel_elements"] >> WIDTH * (cu % lanes)
                if seen["kernel_taps"] >> tap & 1:
                    kernel[tap] = word % (1 << WIDTH)
        return places


class Feeder:
    """Layers back to back as a drive; behind a layer's last beat others are offered."""

    def __init__(self, design: EngineDesign, layers: list[Layer], density: float) -> None:
        self.design, self.density, self.rng = design, density, Random(design.n_cu)
        self.words: list[list[int]] = []
        self.memories: list[Memories] = []
        self.spans: list[list[int]] = []  # cycles of start, writes, and loaded
        self.taken: list[int] = []
        self.errors: list[int] = []
        self._play = self._plan(layers)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self.cycle, self.seen = cycle, seen
        return next(self._play)

    def _plan(self, layers: list[Layer]) -> Iterator[dict[str, int]]:
        yield {"rst": 1}
        for layer in layers:
            yield from self._load(layer)
        while True:
            yield {"rst": 0, "start": 0, "sink_valid": 0}

    def _load(self, layer: Layer) -> Iterator[dict[str, int]]:
        design, rng, lanes = self.design, self.rng, self.design.kernel_port
        words = [rng.getrandbits(WIDTH) for _ in range(layer.inputs * layer.outputs)]
        beats = -(-len(words) // lanes)
        lasts = (beats - 1,) if layer.lasts is None else layer.lasts
        groups = -(-layer.inputs // design.n_cu)
        self.words.append(words)
        self.memories.append(Memories(design))
        self.spans.append([self.cycle])
        self.taken.append(0)
        # Also when it starts a beat is offered: none may be taken before.
        valid, before = 1, list[tuple[int, int]]()
        for since in range(10_000):
            at = self.taken[-1]
            beat = [*words[at * lanes : (at + 1) * lanes], *(rng.getrandbits(8) for _ in range(8))]
            yield {
                "rst": 0, "start": int(since == 0), "config_inputs": 1, "config_groups": groups,
                "config_last_cus": layer.inputs - (groups - 1) * design.n_cu,
                "elements": layer.outputs, "sink_valid": valid, "sink_last": int(at in lasts),
                "sink_data": sum(word << WIDTH * i for i, word in enumerate(beat[:lanes])),
            }  # fmt: skip
            seen = self.seen
            if since and seen["sink_valid"] and seen["sink_ready"]:
                self.taken[-1], valid = at + 1, 0
            valid = int(valid or rng.random() < self.density)
            places = self.memories[-1].write(seen) if since else []
            assert not set(places) & set(before), "a word in two cycles in a row"
            before = places
            if places:
                self.spans[-1].append(self.cycle - 1)
            if since and seen["loaded"]:
                self.spans[-1].append(self.cycle - 1)
                self.errors.append(seen["framing_error"])
                return


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        block_of(design), "clk rst start loaded framing_error", config=LoadConfig(design),
        elements=count(design.kernel_words * design.taps), sink=Stream(design.kernel_port * WIDTH),
        kernel=KernelWrite(design, by_tap=True), design=design,
    )  # fmt: skip


def block_of(design: EngineDesign) -> Any:
    return fold_beat_loader if design.kernel_port > 1 else fold_delta_loader


def play(design: EngineDesign, layers: list[Layer], density: float = 1.0) -> Feeder:
    feeder = Feeder(design, layers, density)
    words = sum(2 * each.inputs * each.outputs + 20 for each in layers)
    bench_for(design).run(feeder.drive, int(words / density))
    return feeder


def check(layers: list[Layer], feeder: Feeder) -> None:
    """Every weight is in its tap, and +0 in those without one; nothing else is taken."""
    design, taps = feeder.design, feeder.design.taps
    assert len(feeder.errors) == len(layers)
    for layer, words, memories, taken in zip(
        layers, feeder.words, feeder.memories, feeder.taken, strict=True
    ):
        groups = -(-layer.inputs // design.n_cu)
        wanted = {
            (j % design.n_cu, block * groups + j // design.n_cu): [0] * taps
            for j in range(layer.inputs)
            for block in range(-(-layer.outputs // taps))
        }
        for at, word in enumerate(words):
            o, j = divmod(at, layer.inputs)
            wanted[j % design.n_cu, o // taps * groups + j // design.n_cu][o % taps] = word
        found = memories.words
        assert {place: found.get(place) for place in wanted} == wanted, layer
        # CUs behind the last input have no work: they may take what lies behind it in a beat.
        assert {addr for _, addr in found} == {addr for _, addr in wanted}
        assert taken == -(-len(words) // design.kernel_port), layer


@every_design
@pytest.mark.parametrize("density", [1.0, 0.5])
def test_every_weight_is_in_its_tap(design: EngineDesign, density: float) -> None:
    layers = layers_for(design)
    feeder = play(design, layers, density)
    check(layers, feeder)
    assert not any(feeder.errors)
    for layer, (start, *writes, loaded) in zip(layers, feeder.spans, strict=True):
        assert loaded == writes[-1] + 1
        if density == 1:
            shape = Shape(n=layer.inputs, m=layer.outputs, k=1, rows=1, columns=1)
            assert loaded - start == delta_load(shape, design).cycles + 2, layer
            assert [after - before for before, after in pairwise(writes)] == [
                1 + (layer.inputs <= min(design.kernel_port, design.n_cu))
            ] * (len(writes) - 1)


@every_design
def test_a_misplaced_last_is_told_until_the_next_start(design: EngineDesign) -> None:
    lanes, most = design.kernel_port, min(3, design.n_cu)
    beats = -(-most * 6 // lanes)
    wrong = [(), (0,), (beats - 2,), (0, beats - 1)]
    layers = [each for lasts in wrong for each in (Layer(most, 6, lasts), Layer(most, 6))]
    feeder = play(design, layers)
    check(layers, feeder)
    assert feeder.errors == [1, 0] * len(wrong)


@pytest.mark.sample(2)
@pytest.mark.parametrize("design", DESIGNS[::2], ids=lambda each: f"{each.kernel_port}")
@pytest.mark.parametrize("broken_off", [1, 5])
def test_after_a_reset_it_is_as_new(design: EngineDesign, broken_off: int) -> None:
    """In the middle of an output, of a kernel, between the words of one input, and at the end."""

    def config(inputs: int) -> dict[str, int]:
        groups = -(-inputs // design.n_cu)
        last = inputs - (groups - 1) * design.n_cu
        layer = {"config_inputs": 1, "config_groups": groups, "config_last_cus": last}
        return layer | {"elements": 7}

    flags = {"sink_valid": (0.8, 1.0), "sink_last": 0.1}
    words = {"sink_data": design.kernel_port * WIDTH}
    session = at_random(flags, words, (config(broken_off), config(5)))
    several = "kernel_elements kernel_places" if design.kernel_port > 1 else "kernel_data"
    payload = {"kernel_enable": f"kernel_addr kernel_taps {several}"}
    bench_for(design).as_new_after_reset(session, range(1, 55, 3), 56, payload=payload)
