"""The walk through a layer's gradients: every place in its order, paused, broken off, reset."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from myhdl import always, always_comb, block

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, map_config
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientPlace,
    KernelEnd,
    ListedElement,
)
from merp.hdl.cnn_merp.update_unit.update_walk import update_walk
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import gradient_latency
from merp.models.machines.cnn_merp.params.latencies import SLOT

OPTIONS = ("filling", "size", "reads", "final_reads")


def settle(design: EngineDesign) -> int:
    """Cycles from the last slot's issue to its gradients."""
    return SLOT + gradient_latency(design)


def design_for(k: int, n_cu: int = 2, **changes: Any) -> EngineDesign:
    return EngineDesign(
        k=k, n_cu=n_cu, r=1, groups=3, kernel_words=9, max_maps=3,
        row_words=3, max_size=8, fifo_words=3, **changes,
    )  # fmt: skip


@block
def used_walk(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    config: GradientMapConfig,
    wanted: Bit,
    walking: Bit,
    biases: Bit,
    last: Bit,
    read: GradientRead,
    bias_read: Bit,
    bias_index: Word,
    design: EngineDesign,
    options: dict[str, Any],
    filling: Word,
    size: Word,
    reads: Word,
    final_reads: Word,
) -> Any:
    """The walk, an element used in the very cycle in which it is there and wanted.

    reads, final_reads: of a kernel, and of one of the last input map; in place of filling and size.
    """
    advance, ends, final_input = flag(), flag(), flag()
    part = count(15)

    @always_comb
    def use() -> None:
        advance.next = walking and wanted

    @always_comb
    def end() -> None:
        ends.next = part + 1 == (final_reads if final_input else reads)

    @always(clk.posedge)
    def tally() -> None:
        if advance and not biases:
            part.next = 0 if ends else part + 1
        if start or rst:
            part.next = 0

    chosen: dict[str, Any] = {"filling": filling, "size": size}
    chosen = {name: signal for name, signal in chosen.items() if name in options}
    kernel_end = KernelEnd()
    kernel_end.ends, kernel_end.final_input = ends, final_input
    element, place = ListedElement(), GradientPlace(design)
    element.valid, element.biases, element.last = walking, biases, last
    place.kernel, place.bias.enable, place.bias.index = read, bias_read, bias_index
    return use, end, tally, update_walk(
        clk, rst, start, final_issue=final_issue, extent=Extent(config, **chosen),
        advance=advance, element=element, place=place, design=design,
        reads=kernel_end if "reads" in options else None,
    )  # fmt: skip


def bench_for(design: EngineDesign, options: tuple[str, ...]) -> BlockBench:
    names = ("rst", "start", "final_issue", "wanted", "walking", "biases", "last", "bias_read")
    return BlockBench(
        used_walk, "clk", config=map_config(design), read=GradientRead(design),
        bias_index=count(design.groups * design.n_cu - 1), design=design,
        options=dict.fromkeys(options), filling=count(design.taps - 1), size=count(design.k),
        reads=count(15), final_reads=count(15), **{name: flag() for name in names},
    )  # fmt: skip


@dataclass(frozen=True)
class Run:
    """Maps of a layer; rows and columns of a kernel, and taps that the last input map lacks.

    ``cut``: the next run begins when so many elements have been used.
    """

    m: int
    n: int
    size: int
    lacking: int = 0
    cut: int | None = None


Place = tuple[int, ...]


def places(design: EngineDesign, run: Run, by_reads: bool) -> list[tuple[Place, int]]:
    """What is at hand, one after the other, each with the cycles that it is not there before.

    Of a kernel's element 0, whether it is its kind's last, and address, place and CU of the read;
    of a bias 1, that, and its index.
    """
    k, width, lanes = design.k, design.fmt.width, design.gradient_lanes
    groups = -(-run.m // design.n_cu)
    found = []
    for o in range(run.m):
        group, cu = divmod(o, design.n_cu)
        for i in range(run.n):
            inside = [tap for tap in range(k * k) if max(tap // k, tap % k) < run.size]
            inside = inside[: len(inside) - run.lacking * (i == run.n - 1)]
            base, before = i * groups + group, -1
            if by_reads:
                each, row = design.gradient_read, design.ku_kind == "row"
                inside = list(range(inside[-1] // each + 1))
            for tap in inside:
                last = int((o, i, tap) == (run.m - 1, run.n - 1, inside[-1]))
                if by_reads:
                    step, place = (tap, 0) if row else (0, tap)
                    read = (base + step * design.kernel_words, place, cu)
                else:
                    step, lane = divmod(tap, lanes)
                    read = (base + step * design.kernel_words, lane * width, cu * width)
                found.append(((0, last, *read), tap - before - 1))
                before = tap
    return found + [((1, int(o == run.m - 1), o), 0) for o in range(run.m)]


class Feeder:
    """Runs back to back as a drive."""

    def __init__(self, design: EngineDesign, runs: list[Run], density: float) -> None:
        self.design, self.density, self.rng = design, density, Random(design.k)
        self.found: list[list[Place]] = []
        self.cycles: list[list[int]] = []  # of final_issue, and of every use
        self._play = self._plan(runs)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self.cycle, self.seen = cycle, seen
        return next(self._play)

    def _plan(self, runs: list[Run]) -> Iterator[dict[str, int]]:
        yield {"rst": 1}
        for run in runs:
            yield from self._run(run)
        while True:
            yield {"rst": 0, "start": 0, "final_issue": 0, "wanted": 1}

    def _run(self, run: Run) -> Iterator[dict[str, int]]:
        groups, each = -(-run.m // self.design.n_cu), self.design.gradient_read
        taps = [run.size * run.size - lacking for lacking in (0, run.lacking)]
        if run.size < self.design.k:
            taps = [(run.size - 1) * (self.design.k + 1) + 1] * 2
        yield {
            "rst": 0, "start": 1, "wanted": 1, "config_inputs": run.n, "config_groups": groups,
            "config_last_cus": run.m - (groups - 1) * self.design.n_cu, "filling": run.lacking,
            "size": run.size, "reads": -(-taps[0] // each), "final_reads": -(-taps[1] // each),
        }  # fmt: skip
        self.found.append([])
        self.cycles.append([self.cycle + 1])
        wanted = len(places(self.design, run, True)) if run.cut is None else run.cut
        for since in range(10_000):
            seen = self.seen
            if since and seen["walking"] and seen["wanted"]:
                self._note()
            if (
                since > settle(self.design) + 4
                and not seen["walking"]
                and run.cut is None
                and self._over
            ):
                return
            if run.cut is not None and len(self.found[-1]) == wanted:
                return
            yield {
                "start": 0, "final_issue": int(since == 1),
                "wanted": int(self.rng.random() < self.density),
            }  # fmt: skip

    def _note(self) -> None:
        seen = self.seen
        place: Place = (1, seen["last"], seen["bias_index"])
        if not seen["biases"]:
            place = (
                0,
                seen["last"],
                *(seen[f"read_{n}"] for n in ("addr", "tap_shift", "cu_shift")),
            )
        assert (seen["read_enable"], seen["bias_read"]) == (not place[0], place[0])
        self.found[-1].append(place)
        self.cycles[-1].append(self.cycle - 1)

    @property
    def _over(self) -> bool:
        return bool(self.found[-1]) and self.found[-1][-1][:2] == (1, 1)


@dataclass(frozen=True)
class Case:
    """A design, and what of it the walk is told."""

    design: EngineDesign
    options: tuple[str, ...] = ()

    def runs(self) -> list[Run]:
        k = self.design.k
        sizes = range(1, k + 1) if {"size", "reads"} & {*self.options} else (k,)
        runs = [Run(5, 2, size) for size in sizes] + [Run(1, 1, k), Run(4, 3, k), Run(2, 1, 1)]
        if {"filling", "reads"} & {*self.options}:
            runs[1:1] = [Run(3, 1 + lacking % 2, k, lacking) for lacking in range(1, k * k)]
        runs = [Run(3, 3, k, cut=k * k + 1), *runs, Run(3, 1, k, cut=1), Run(1, 2, k)]
        most = self.design.groups * self.design.n_cu
        return [run for run in runs if run.size in sizes and run.m <= most]


ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row", "ku_lanes": 2}
CASES = {
    "plain": Case(design_for(2, 3)),
    "one unit of one tap": Case(design_for(1, 1)),
    "words": Case(design_for(3, **ROW)),
    "filling": Case(design_for(2, folded=True), ("filling",)),
    "size": Case(design_for(3, widened=True), ("size",)),
    "both": Case(design_for(3, widened=True, folded=True, **ROW), ("filling", "size")),
    "beats": Case(design_for(3, kernel_port=2), ("reads",)),
    "beats of words": Case(design_for(3, kernel_port=2, **ROW), ("reads",)),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def inputs_of(case: Case) -> tuple[str, ...]:
    config = ("config_inputs", "config_groups", "config_last_cus")
    return ("rst", "start", "final_issue", "wanted", *config, *OPTIONS)


@every_case
@pytest.mark.parametrize("density", [1.0, 0.5])
def test_every_gradient_in_the_order_of_the_streams(case: Case, density: float) -> None:
    """The first once gradients have settled, then one in each cycle but for taps without one."""
    runs = case.runs()
    wanted = [places(case.design, run, "reads" in case.options) for run in runs]
    wanted = [each[: run.cut] for each, run in zip(wanted, runs, strict=True)]
    feeder = Feeder(case.design, runs, density)
    cycles = sum(20 + settle(case.design) + sum(1 + gap for _, gap in each) for each in wanted)
    bench_for(case.design, case.options).run(feeder.drive, int(cycles / density + 60))
    assert feeder.found == [[place for place, _ in each] for each in wanted]
    settled = settle(case.design)
    for each, (issued, *used) in zip(wanted, feeder.cycles, strict=True):
        gaps = [0 if "reads" in case.options else gap for _, gap in each]
        due = [issued + settled + sum(gaps[: at + 1]) + at + 1 for at in range(len(gaps))]
        assert used == due or (density < 1 and all(u >= d for u, d in zip(used, due, strict=True)))


@pytest.mark.sample(3)
@every_case
@pytest.mark.parametrize("inputs", [1, 2])
def test_after_a_reset_it_is_as_new(case: Case, inputs: int) -> None:
    """While gradients settle, in the middle of a kernel, of a group, and of the biases.

    Of one input map the first kernel already lacks taps, so they count from the first tap on.
    """
    config = {"config_inputs": inputs, "config_groups": 2, "config_last_cus": 1, "filling": 1}
    config |= {"size": min(2, case.design.k), "reads": 2, "final_reads": 1}
    # The last one so late that gradients that settled before it would show.
    pulses = {"rst": 0, "start": 1, "final_issue": (3, 9)}
    session = at_random({"wanted": 0.7}, fixed=config, pulses=pulses)
    payload = {
        "read_enable": "read_addr read_tap_shift read_cu_shift",
        "bias_read": "bias_index",
        "walking": "last biases",
    }
    bench_for(case.design, case.options).as_new_after_reset(
        session, (4, *range(1, 70, 6)), 50, payload=payload
    )
