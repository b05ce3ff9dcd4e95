"""The update unit of several elements a cycle: bits, packing, keep, rate, momentum, no biases."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest
from update_pins import BIAS_READ, EXTENT, MAP, READ, STREAMS, passage, sink, source

from block_bench import BlockBench, Recorded, Replays, Sample
from marks import few, rows_in_full
from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientAccess,
    UpdateProgress,
    UpdateRegisters,
)
from merp.hdl.cnn_merp.update_unit.update_unit import update_unit
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.golden.kernel_update import update
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    UpdateRun,
    gradient_latency,
    update_table,
)
from merp.models.machines.cnn_merp.params.latencies import (
    GRADIENT_GEAR,
    GRADIENT_READ,
    SLOT,
    UPDATE_ENTRY,
)

MOMENTUM, DECAY = UpdateRule(momentum=True), UpdateRule(weight_decay=True)
BOTH = UpdateRule(momentum=True, weight_decay=True)
RULES = {"plain": PLAIN, "momentum": MOMENTUM, "decay": DECAY, "both": BOTH}


def design_for(k: int, port: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        fmt=BFLOAT16, k=k, n_cu=2, r=1, groups=2, kernel_words=4, row_words=4, max_size=4,
        max_maps=2, fifo_words=2, mul_latency=1, add_latency=2, kernel_port=port,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


@dataclass
class Update:
    """One run; words of every kind per element, kernels and then biases; a stream that is slow."""

    design: EngineDesign
    m: int
    n: int
    rule: UpdateRule = PLAIN
    update: bool = True
    pressure: float = 1.0
    reset_at: int | None = None
    biases: bool = True
    slow: str = ""
    size: int = 0  # rows and columns of a kernel, where fewer than k
    lacking: int = 0  # taps that the last input map lacks
    sent: dict[str, list[tuple[int, int, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = Random(self.m * 7 + self.n)
        self.fmt = self.design.fmt
        self.first = [0]  # element of every kernel, and the end
        for _ in range(self.m):
            for i in range(self.n):
                self.first.append(self.first[-1] + len(self.taps(i)))
        self.kernels = self.first[-1]
        size = self.kernels + self.m
        self.gradients, self.old, self.past = (
            [self._word() for _ in range(size)] for _ in range(3)
        )
        one = self.fmt.one
        self.rates = Rates(
            rate=one - (3 << self.fmt.frac_bits),
            momentum=one - 1 if self.rule.momentum else 0,
            weight_decay=one - (2 << self.fmt.frac_bits) + 3 if self.rule.weight_decay else 0,
        )
        self.groups = -(-self.m // self.design.n_cu)

    def taps(self, channel: int) -> list[int]:
        """Taps of a kernel that have elements."""
        k = self.design.k
        own = self.size or k
        found = [row * k + column for row in range(own) for column in range(own)]
        return found[: len(found) - self.lacking * (channel == self.n - 1)]

    def _word(self) -> int:
        fmt = self.fmt
        exponent = fmt.bias + self.rng.randrange(-2, 3)
        sign = self.rng.getrandbits(1) * fmt.sign_bit
        return sign | exponent << fmt.frac_bits | self.rng.getrandbits(fmt.frac_bits)

    def split(self, words: list[int]) -> list[list[int]]:
        return [words[: self.kernels], words[self.kernels :] if self.biases else []]

    def golden(self) -> dict[str, list[int]]:
        if not self.update:
            return dict(zip(STREAMS, [*self.split(self.gradients), [], []], strict=True))
        old, past, gradients = (
            np.array(words, np.uint32) for words in (self.old, self.past, self.gradients)
        )
        past = past if self.rule.momentum else np.zeros_like(past)
        new, velocity = update(old, past, gradients, self.rates, self.fmt)
        found = [*self.split(new.tolist()), *self.split(velocity.tolist())]
        return dict(zip(STREAMS, found, strict=True))

    def read(self, addr: int, part: int, cu: int) -> int:
        """Gradients at an address of a CU, from a part of the word on, noise between."""
        channel, group = divmod(addr, self.groups)
        first = self.first[(group * self.design.n_cu + cu) * self.n + channel]
        element = {tap: first + at for at, tap in enumerate(self.taps(channel))}
        each = self.design.gradient_read
        words = [
            self.gradients[element[tap]] if tap in element else self.rng.getrandbits(self.fmt.width)
            for tap in range(part * each, (part + 1) * each)
        ]
        return sum(word << self.fmt.width * i for i, word in enumerate(words))


class Driver:
    """Plays runs back to back: packed sources, sinks, and memories that answer reads.

    In a run that does not update, the sources are ahead: they offer what the next one reads.
    """

    def __init__(self, runs: list[Update]) -> None:
        self.queue, self.run = list(runs), None
        self.names = STREAMS if runs[0].rule.momentum else STREAMS[:2]
        self.lanes, self.width = runs[0].design.kernel_port, runs[0].fmt.width
        self.ends: list[int] = []

    def _begin(self, run: Update) -> dict[str, int]:
        self.run, self.since, self.answers = run, 0, dict[int, tuple[str, int]]()
        reader = next((each for each in (run, *self.queue) if each.update), run)
        kinds = [*reader.split(reader.old), *reader.split(reader.past)]
        self.left = {
            name: list(words)
            for name, words in zip(STREAMS, kinds, strict=True)
            if name in self.names
        }
        self.valid = dict.fromkeys(self.names, 0)
        run.sent = {name: [] for name in self.names}
        values = {
            f"{MAP}_inputs": run.n, f"{MAP}_groups": run.groups,
            f"{MAP}_last_cus": run.m - (run.groups - 1) * run.design.n_cu,
            "start": 1, f"{EXTENT}_with_biases": int(run.biases),
            f"{EXTENT}_filling": run.lacking, f"{EXTENT}_size": run.size or run.design.k,
        }  # fmt: skip
        written, table = UpdateRun(run.update, run.rates), update_table(run.rule)
        return values | {
            f"config_rule_{each.name}": each.value(written) for each in table.registers
        }

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        quiet = {"rst": 0, "start": 0, "final_issue": 0}
        if cycle < 2:
            return {"rst": int(cycle == 0)}
        if self.run is not None:
            run = self.run
            self.since += 1
            self._watch(cycle - 1, seen, run)
            if self.since == run.reset_at:
                self.run = None
                return quiet | {"rst": 1} | {f"{sink(name)}_valid": 0 for name in self.names}
            if seen["progress_done"] and not seen["start"]:
                self.run = None
        if self.run is None:
            if not self.queue:
                return quiet | {f"{source(name)}_ready": 1 for name in self.names}
            return quiet | self._begin(self.queue.pop(0))
        return quiet | self._offer(cycle, self.run)

    def _offer(self, cycle: int, run: Update) -> dict[str, int]:
        rng = run.rng
        values = {"final_issue": int(self.since == 3)}
        for name in self.names:
            left = self.left[name]
            self.valid[name] = int(self.valid[name] or (left and rng.random() < run.pressure) or 0)
            beat = [*left[: self.lanes], *(rng.getrandbits(self.width) for _ in range(self.lanes))]
            if self.valid[name] and not values.get(f"{sink(name)}_data"):
                values[f"{sink(name)}_data"] = sum(
                    word << self.width * i for i, word in enumerate(beat[: self.lanes])
                )
            values[f"{sink(name)}_last"] = int(len(left) <= self.lanes)
            values[f"{sink(name)}_valid"] = self.valid[name]
            ready = 0.2 if name == run.slow else run.pressure
            values[f"{source(name)}_ready"] = int(rng.random() < ready)
        kind, word = self.answers.pop(cycle, ("", 0))
        noise = rng.getrandbits(self.width)
        values["gradients_kernel"] = word if kind == "kernel" else noise
        values["gradients_bias"] = word if kind == "bias" else noise
        return values

    def _watch(self, cycle: int, seen: Sample, run: Update) -> None:
        for name in self.names:
            if seen[f"{sink(name)}_valid"] and seen[f"{sink(name)}_ready"]:
                assert run.update, f"{name} was read, and is not there for the next run"
                del self.left[name][: self.lanes]
                self.valid[name] = 0
            if seen[f"{source(name)}_valid"] and seen[f"{source(name)}_ready"]:
                pins = (seen[f"{source(name)}_{pin}"] for pin in ("data", "keep", "last"))
                run.sent[name].append((cycle, *pins))  # type: ignore[arg-type]
        if seen["progress_ends"]:
            self.ends.append(cycle)
        if seen[f"{READ}_enable"]:
            word = run.read(
                seen[f"{READ}_addr"], seen[f"{READ}_tap_shift"], seen[f"{READ}_cu_shift"]
            )
            self.answers[cycle + GRADIENT_READ] = ("kernel", word)
        elif seen[f"{BIAS_READ}_enable"] and run.biases:
            word = run.gradients[run.kernels + seen[f"{BIAS_READ}_index"]]
            self.answers[cycle + GRADIENT_READ] = ("bias", word)


def play(runs: list[Update], cycles: int, optional: bool = False) -> tuple[Recorded, Driver]:
    design = runs[0].design
    width = design.fmt.width
    driver = Driver(runs)
    chosen: dict[str, Any] = {"with_biases": flag()} if optional else {}
    chosen |= {"filling": count(design.taps - 1)} if design.folded else {}
    chosen |= {"size": count(design.k)} if design.widened else {}
    extent = Extent(GradientMapConfig(design), **chosen)
    momentum = runs[0].rule.momentum
    args: dict[str, Any] = {
        "clk": flag(), "rst": flag(), "start": flag(), "final_issue": flag(),
        "config": UpdateRegisters(extent, UpdateConfig(design, runs[0].rule)),
        "gradients": GradientAccess(design), "parameters": passage(width, design.kernel_port),
        "velocities": passage(width, design.kernel_port) if momentum else None,
        "progress": UpdateProgress(), "design": design,
    }  # fmt: skip

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = driver.drive(cycle, seen)
        for name in {"with_biases", "filling", "size"} - chosen.keys():
            values.pop(f"{EXTENT}_{name}", None)
        return values

    return BlockBench(update_unit, **args).run(drive, cycles), driver


def check(runs: list[Update], driver: Driver) -> None:
    """Every element, packed; ``keep`` of what counts; last with a stream's last beat; the end."""
    lanes = driver.lanes
    ends = []
    for run in runs:
        if run.reset_at is not None:
            continue
        for name, words in run.golden().items():
            if name not in driver.names:
                continue
            found = [
                word
                for _, data, keep, _ in run.sent[name]
                for word in _kept(data, keep, lanes, driver.width)
            ]
            assert found == words, name
            counts = [keep.bit_count() * 8 // driver.width for *_, keep, _ in run.sent[name]]
            assert counts[:-1] == [lanes] * (len(counts) - 1)
            lasts = [last for *_, last in run.sent[name]]
            assert lasts == [*[0] * (len(lasts) - 1), 1][: len(lasts)]
        ends.append(max(sent[-1][0] for sent in run.sent.values() if sent))
    assert driver.ends == ends


def _kept(data: int, keep: int, lanes: int, width: int) -> list[int]:
    each = width // 8
    return [
        data >> width * i & (1 << width) - 1
        for i in range(lanes)
        if keep >> i * each & (1 << each) - 1
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize(
    ("k", "port"), [(3, 4), *rows_in_full((3, 2), (2, 4), (5, 8), (1, 2), (3, 8))]
)
def test_words_match_golden_under_pressure(k: int, port: int, rule: UpdateRule) -> None:
    design = design_for(k, port)
    runs = [
        Update(design, 4, 2, rule),
        Update(design, 3, 1, rule, pressure=0.5),
        Update(design, 1, 2, rule, update=False, pressure=0.7),
        Update(design, 2, 1, rule, pressure=0.5, reset_at=24),
        Update(design, 3, 2, rule, pressure=0.8),
    ]
    trace, driver = play(runs, 400 + 12 * design.taps)
    check(runs, driver)
    assert driver.run is None
    assert not driver.queue
    assert not any(trace.column("progress_framing_error"))


@pytest.mark.parametrize("rule", [PLAIN, DECAY])
def test_from_rest_a_gradient_of_minus_zero_gives_a_velocity_of_plus_zero(rule: UpdateRule) -> None:
    """It is +0 + g, so that a kernel of -0 stays -0."""
    run = Update(design_for(3, 4), 2, 1, rule)
    minus = run.fmt.sign_bit
    size = len(run.old)
    run.gradients, run.old = [minus, 0] * (size // 2), [minus, minus, 0, 0] * (size // 4)
    _, driver = play([run], 60)
    check([run], driver)
    assert driver.run is None


def test_products_with_one_dsp_block_match_golden() -> None:
    """Of binary32, where fused products have one, too."""
    design = design_for(3, 4, fmt=BINARY32, cu_kind="fused")
    assert design.beside
    runs = [Update(design, 4, 2, BOTH), Update(design, 3, 1, BOTH, pressure=0.6)]
    _, driver = play(runs, 200)
    check(runs, driver)
    assert driver.run is None


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_beat_of_kernels_and_a_bias_leave_in_every_cycle(rule: UpdateRule) -> None:
    design = design_for(3, 4)
    run = Update(design, 4, 2, rule)
    trace, driver = play([run], 90)
    check([run], driver)
    issued = trace.column("final_issue").index(1)
    step = design.mul_latency + design.add_latency
    # A read is chosen from, goes through the gear, is used, and takes two cycles to its stream.
    first = issued + SLOT + gradient_latency(design) + 1 + GRADIENT_READ + 1 + GRADIENT_GEAR
    first += UPDATE_ENTRY + step * (1 + sum(rule)) + 2
    cycles = [cycle for cycle, *_ in run.sent["kernel"]]
    assert cycles == list(range(cycles[0], cycles[0] + 18))
    assert cycles[0] == first
    biases = [cycle for cycle, *_ in run.sent["bias"]]
    assert biases[-1] - cycles[-1] == 4  # as long as they take to be read one by one


@pytest.mark.sample(2)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_runs_without_biases_end_with_the_kernels(rule: UpdateRule) -> None:
    """Between runs with them: nothing that was read ahead is left for the next one."""
    design = design_for(3, 4)
    runs = [
        Update(design, 3, 1, rule, biases=False),
        Update(design, 2, 1, rule, biases=False, slow="kernel_velocity"),
        Update(design, 2, 1, rule, biases=False, slow="kernel"),
        Update(design, 3, 2, rule),
        Update(design, 1, 1, rule, biases=False, pressure=0.5),
        Update(design, 4, 1, rule, biases=False, update=False),
        Update(design, 2, 2, rule, pressure=0.6),
    ]
    _, driver = play(runs, 620, optional=True)
    check(runs, driver)
    assert driver.run is None


@pytest.mark.parametrize("stream", ["kernel", "kernel_velocity"])
def test_the_slower_reader_stops_both_streams(stream: str) -> None:
    """A stream takes no more words than it has places for, however fast the other one leaves."""
    design = design_for(3, 2, kernel_words=6, max_maps=3)
    runs = [Update(design, 4, 3, MOMENTUM, slow=stream)]
    _, driver = play(runs, 900)
    check(runs, driver)
    assert driver.run is None


UNEVEN = [(3, 4), (3, 2), *rows_in_full((5, 4), (2, 8), (5, 2), (4, 8))]


@pytest.mark.sample(1)
@pytest.mark.parametrize("optional", few([False, True], True))
@pytest.mark.parametrize(("k", "port"), UNEVEN)
def test_the_last_maps_kernels_end_earlier(k: int, port: int, optional: bool) -> None:
    """By every number of taps, back to back; with other runs between them, and without biases."""
    design, rule = design_for(k, port, folded=True), UpdateRule(optional, optional)
    runs = [
        Update(design, 3, 1 + lacking % 2, rule, lacking=lacking, pressure=1 - lacking % 3 / 5,
               biases=not optional or lacking % 4 != 1)
        for lacking in range(design.taps)
    ]  # fmt: skip
    runs += [
        Update(design, 2, 2, rule, lacking=1, reset_at=27),
        Update(design, 3, 2, rule),
        Update(design, 2, 2, rule, lacking=design.taps - 1, slow="kernel"),
    ]
    trace, driver = play(runs, 130 * len(runs) + 20 * design.taps, optional)
    check(runs, driver)
    assert driver.run is None
    assert not any(trace.column("progress_framing_error"))


def uneven_runs(design: EngineDesign, rule: UpdateRule = PLAIN) -> list[Update]:
    """Kernels of every size, and of folded layers where the design has any."""
    sizes = range(1, design.k + 1)
    runs = [Update(design, 3, 2, rule, size=k, pressure=1 - k % 3 / 5) for k in sizes]
    if design.folded:
        runs[1:1] = [Update(design, 3, 2, rule, lacking=design.taps - 2)]
    left = Update(design, 2, 1, rule, size=1, reset_at=26)
    return [*runs, left, Update(design, 3, 1, rule, size=design.k)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize(("k", "port"), UNEVEN)
def test_elements_of_smaller_kernels_are_put_together(k: int, port: int, folded: bool) -> None:
    design = design_for(k, port, folded=folded, widened=True)
    runs = uneven_runs(design, UpdateRule(folded, not folded))
    _, driver = play(runs, 160 * len(runs) + 20 * design.taps)
    check(runs, driver)
    assert driver.run is None


@pytest.mark.ghdl
def test_vhdl_agrees(replays: Replays) -> None:
    design = design_for(3, 2, folded=True, widened=True)
    runs = uneven_runs(design, BOTH)
    trace, driver = play(runs, 700)
    check(runs, driver)
    assert replays(trace) == 700
