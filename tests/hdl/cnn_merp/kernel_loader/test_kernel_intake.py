"""Kernels several elements to a beat, whole, smaller or lacking some: taps, lasts, resets."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Sample, at_random
from marks import in_full
from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.kernel_loader.kernel_loader import kernel_loader
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite, LoadConfig
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do
WIDTH = BYTE.width
CONFIG = ("config_inputs", "config_groups", "config_last_cus", "config_size", "config_filling")


def design_for(k: int, port: int, **changes: Any) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=k, n_cu=2, r=1, groups=2, kernel_words=6, max_maps=3, row_words=3, max_size=8,
        fifo_words=2, kernel_port=port, **changes,
    )  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A loader: of forward propagation, or the one that turns kernels; its options by name."""

    design: EngineDesign
    turns: bool = False

    @property
    def filled(self) -> bool:
        return self.design.folded and not self.turns

    @property
    def streams(self) -> tuple[str, ...]:
        return ("sink",) if self.turns else ("sink_kernel", "sink_bias")

    def bench(self) -> BlockBench:
        design = self.design
        beat = design.kernel_port * WIDTH
        options = {"size": count(design.k)} if design.widened else {}
        options |= {"filling": count(design.taps - 1)} if self.filled else {}
        return BlockBench(
            delta_loader if self.turns else kernel_loader, "clk rst start",
            config=LoadConfig(design).also(**options), kernel=KernelWrite(design),
            bias=BiasWrite(design), loading=Loading(flag(), flag()), design=design,
            **{each: Stream(beat) for each in self.streams},
        )  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """Output and input maps, rows and columns of a kernel, elements that those of the last input
    map lack; ``lasts``: which beats of kernels have last, the right one if None.
    """

    m: int
    n: int
    size: int
    lacking: int = 0
    lasts: tuple[int, ...] | None = None


class Feeder:
    """Layers back to back as a drive; behind a layer's last beats others are offered."""

    def __init__(self, case: Case, layers: list[Layer], density: float) -> None:
        self.case, self.density, self.rng = case, density, Random(case.design.taps)
        self.found: list[dict[tuple[str, int, int], int]] = []
        self.wanted: list[dict[tuple[str, int, int], int]] = []
        self.cycles: list[int] = []
        self.errors: list[int] = []
        self._play = self._plan(layers)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self.cycle, self.seen = cycle, seen
        values = next(self._play)
        return {name: value for name, value in values.items() if name in self.case.bench().ports}

    def _plan(self, layers: list[Layer]) -> Iterator[dict[str, int]]:
        yield {"rst": 1}
        for layer in layers:
            yield from self._load(layer)
        while True:
            yield {"rst": 0, "start": 0} | {f"{each}_valid": 0 for each in self.case.streams}

    def _words(self, layer: Layer) -> tuple[list[list[int]], dict[tuple[str, int, int], int]]:
        """Elements of each stream; what CUs hold at the end, by memory, CU and address."""
        k, n_cu, turns, rng = self.case.design.k, self.case.design.n_cu, self.case.turns, self.rng
        columns = layer.n if turns else layer.m
        groups = -(-columns // n_cu)
        kernels, biases = list[int](), list[int]()
        wanted = {}
        for o in range(layer.m):
            for i in range(layer.n):
                word = 0
                elements = layer.size**2 - layer.lacking * (i == layer.n - 1)
                for at in range(elements):
                    kernels.append(rng.randrange(1, 1 << WIDTH))
                    place = elements - 1 - at if turns else at
                    tap = place // layer.size * k + place % layer.size
                    word |= kernels[-1] << WIDTH * tap
                column, row = (i, o) if turns else (o, i)
                wanted["kernel", column % n_cu, row * groups + column // n_cu] = word
        for column in range(columns):
            biases.append(rng.randrange(1, 1 << WIDTH))
            wanted["bias", column % n_cu, column // n_cu] = 0 if turns else biases[-1]
        if turns:  # every unit's bias is +0
            wanted |= {("bias", cu, group): 0 for cu in range(n_cu) for group in range(groups)}
        return [kernels, biases], wanted

    def _load(self, layer: Layer) -> Iterator[dict[str, int]]:
        design, rng, lanes = self.case.design, self.rng, self.case.design.kernel_port
        words, wanted = self._words(layer)
        streams = dict(zip(self.case.streams, words, strict=False))
        columns, rows = (layer.n, layer.m) if self.case.turns else (layer.m, layer.n)
        groups = -(-columns // design.n_cu)
        found: dict[tuple[str, int, int], int] = {}
        taken, valid = dict.fromkeys(streams, 0), dict.fromkeys(streams, 1)
        begin = self.cycle
        for since in range(10_000):
            values = {
                "rst": 0, "start": int(since == 0), "config_inputs": rows,
                "config_size": layer.size, "config_groups": groups,
                "config_filling": layer.lacking,
                "config_last_cus": columns - (groups - 1) * design.n_cu,
            }  # fmt: skip
            for name, elements in streams.items():
                at, beats = taken[name], -(-len(elements) // lanes)
                beat = [*elements[at * lanes : (at + 1) * lanes], *rng.randbytes(lanes)][:lanes]
                lasts = None if name == "sink_bias" else layer.lasts
                values |= {
                    f"{name}_valid": valid[name],
                    f"{name}_last": int(at in ((beats - 1,) if lasts is None else lasts)),
                    f"{name}_data": sum(word << WIDTH * i for i, word in enumerate(beat)),
                }
            yield values
            seen = self.seen
            for name in streams:
                if since and seen[f"{name}_valid"] and seen[f"{name}_ready"]:
                    taken[name], valid[name] = taken[name] + 1, 0
                valid[name] = int(valid[name] or rng.random() < self.density)
            for memory in ("kernel", "bias") if since else ():
                for cu in range(design.n_cu):
                    if seen[f"{memory}_enable"] >> cu & 1:
                        place = memory, cu, seen[f"{memory}_addr"]
                        assert place not in found, f"{place} is written twice"
                        found[place] = seen[f"{memory}_data"]
            if since and seen["loading_loaded"]:
                break
        assert taken == {name: -(-len(each) // lanes) for name, each in streams.items()}, layer
        self.found.append(found)
        self.wanted.append(wanted)
        self.cycles.append(self.cycle - 1 - begin)
        self.errors.append(self.seen["loading_framing_error"])


def play(case: Case, layers: list[Layer], density: float = 1.0) -> Feeder:
    feeder = Feeder(case, layers, density)
    words = sum(each.m * each.n * each.size**2 + 12 for each in layers)
    case.bench().run(feeder.drive, int(words / density))
    return feeder


def layers_for(case: Case) -> list[Layer]:
    """Of each size, with a last group that is full or not; and kernels that lack elements."""
    k = case.design.k
    maps = (2, 3) if case.turns else (3, 2)
    layers = [Layer(*maps, k), Layer(1, 1, k), Layer(2, 1, k)]
    if case.design.widened:
        layers[1:1] = [Layer(*maps, size) for size in range(1, k)]
    if case.filled:
        layers[1:1] = [Layer(2 + lack % 2, 1 + lack % 3, k, lack) for lack in range(1, k * k, 2)]
    return layers


CASES = [
    *(Case(design_for(2, 2)), Case(design_for(3, 4)), Case(design_for(2, 8), turns=True)),
    *(Case(design_for(3, 2), turns=True), Case(design_for(3, 2, widened=True))),
    *(Case(design_for(3, 4, widened=True), turns=True), Case(design_for(2, 8, widened=True))),
    Case(design_for(3, 4, widened=True, folded=True)),
    Case(design_for(2, 2, widened=True, folded=True)),
]


def named(case: Case) -> str:
    design = case.design
    words = ("turned", case.turns), ("widened", design.widened), ("filled", case.filled)
    return "-".join(
        [f"k{design.k}", str(design.kernel_port), *(word for word, there in words if there)]
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", [*CASES[:4], *in_full(CASES[4]), *CASES[5:]], ids=named)
@pytest.mark.parametrize("density", [0.5, *in_full(1.0)])
def test_every_element_is_in_its_tap(case: Case, density: float) -> None:
    """And +0 in those without one; to the cycle where a beat is always offered."""
    layers = layers_for(case)
    feeder = play(case, layers, density)
    assert feeder.found == feeder.wanted
    assert feeder.errors == [0] * len(layers)
    for layer, cycles in zip(layers, feeder.cycles, strict=True):
        lanes = case.design.kernel_beat
        kernels = [layer.size**2] * (layer.n - 1) + [layer.size**2 - layer.lacking]
        if case.design.widened:  # a kernel begins with a piece of its own
            most = layer.m * sum(-(-each // case.design.kernel_port) for each in kernels)
        else:
            most = -(-layer.m * sum(kernels) // lanes)
        if density == 1:
            assert cycles == max(most, 1 if case.turns else layer.m) + 2, layer


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", [CASES[1], CASES[5], CASES[7]], ids=named)
def test_a_misplaced_last_is_told_until_the_next_start(case: Case) -> None:
    beats = -(-4 * case.design.taps // case.design.kernel_port)
    wrong = [(), (0,), (beats - 2,), (0, beats - 1)]
    good = Layer(2, 2, case.design.k)
    bad = [Layer(2, 2, case.design.k, lasts=lasts) for lasts in wrong]
    feeder = play(case, [each for one in bad for each in (one, good)])
    assert feeder.found == feeder.wanted
    assert feeder.errors == [1, 0] * len(wrong)


@pytest.mark.parametrize("case", [CASES[1], CASES[7]], ids=named)
def test_after_a_reset_it_is_as_new(case: Case) -> None:
    """In the middle of a kernel, of a beat, and when all is there."""
    config = dict(zip(CONFIG, (2, 2, 1, 3, 4), strict=True))
    config = {name: value for name, value in config.items() if name in case.bench().ports}
    flags = {f"{each}_valid": 0.8 for each in case.streams}
    flags |= {f"{each}_last": 0.1 for each in case.streams}
    beat = case.design.kernel_port * WIDTH
    session = at_random(flags, {f"{each}_data": beat for each in case.streams}, config)
    payload = {f"{port}_enable": f"{port}_addr {port}_data" for port in ("kernel", "bias")}
    case.bench().as_new_after_reset(session, range(1, 40, 4), 40, payload=payload)
