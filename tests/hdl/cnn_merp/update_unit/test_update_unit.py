"""The update unit against golden: bits, order, rate, momentum built or not, gradients alone."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest
from update_pins import BIAS_READ, MAP, READ, STREAMS, passage, sink, source

from block_bench import BlockBench, Recorded, Replays, Sample
from marks import few_rows
from merp.hdl.base.signals import flag
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.update_ports import (
    Extent,
    GradientAccess,
    UpdateProgress,
    UpdateRegisters,
)
from merp.hdl.cnn_merp.update_unit.update_unit import update_unit
from merp.hdl.conversion.entity import behavioural
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.golden.kernel_update import update
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    UpdateRun,
    gradient_latency,
    update_table,
)
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ, SLOT
from merp.testbenches.arithmetic.fp_bench import corner_values

RULES = {
    "plain": PLAIN,
    "momentum": UpdateRule(momentum=True),
    "decay": UpdateRule(weight_decay=True),
    "both": UpdateRule(momentum=True, weight_decay=True),
}


def design_for(k: int, n_cu: int, groups: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, groups=groups, kernel_words=2 * groups, row_words=4, max_size=4,
        max_maps=2, fifo_words=groups, mul_latency=1, add_latency=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


@dataclass
class Update:
    """One run: sizes, words of every kind per element (kernels, then biases), pressure."""

    design: EngineDesign
    m: int
    n: int
    rule: UpdateRule
    seed: int
    update: bool = True
    pressure: float = 1.0
    reset_at: int | None = None
    gradients: list[int] = field(init=False)
    old: list[int] = field(init=False)
    past: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        fmt = self.design.fmt
        self.kernels = self.m * self.n * self.design.taps
        corners = corner_values(fmt)
        # Gradients are sums, so neither subnormal nor a NaN other than the canonical one.
        sums = [c for c in corners if not self._odd(c)]
        size = self.kernels + self.m
        self.gradients = [self._word(sums) for _ in range(size)]
        self.old, self.past = ([self._word(corners) for _ in range(size)] for _ in range(2))
        self.rates = Rates(
            rate=fmt.one - (3 << fmt.frac_bits),
            momentum=fmt.one - 1 if self.rule.momentum else 0,
            weight_decay=fmt.one - (2 << fmt.frac_bits) + 3 if self.rule.weight_decay else 0,
        )

    def _odd(self, word: int) -> bool:
        fmt = self.design.fmt
        exponent, fraction = word >> fmt.frac_bits & fmt.exp_max, word & (1 << fmt.frac_bits) - 1
        subnormal = exponent == 0 and fraction != 0
        return subnormal or (exponent == fmt.exp_max and fraction != 0 and word != fmt.nan)

    def _word(self, corners: Sequence[int]) -> int:
        fmt = self.design.fmt
        if self.rng.random() < 0.3:
            return self.rng.choice(corners)
        exponent = fmt.bias + self.rng.randrange(-2, 3)
        sign = self.rng.getrandbits(1) * fmt.sign_bit
        return sign | exponent << fmt.frac_bits | self.rng.getrandbits(fmt.frac_bits)

    def config(self) -> dict[str, int]:
        groups = -(-self.m // self.design.n_cu)
        values = {
            f"{MAP}_inputs": self.n, f"{MAP}_groups": groups,
            f"{MAP}_last_cus": self.m - (groups - 1) * self.design.n_cu,
        }  # fmt: skip
        run, table = UpdateRun(self.update, self.rates), update_table(self.rule)
        return values | {f"config_rule_{each.name}": each.value(run) for each in table.registers}

    def gradient_at(self, addr: int, tap: int, cu: int) -> int:
        """What the gradient memories hold."""
        groups = -(-self.m // self.design.n_cu)
        channel, group = divmod(addr, groups)
        output = group * self.design.n_cu + cu
        return self.gradients[(output * self.n + channel) * self.design.taps + tap]

    def split(self, words: Sequence[int]) -> tuple[list[int], list[int]]:
        return list(words[: self.kernels]), list(words[self.kernels :])

    def golden(self) -> dict[str, list[int]]:
        if not self.update:
            return dict(zip(STREAMS, (*self.split(self.gradients), [], []), strict=True))
        arrays = [np.array(w, np.uint32) for w in (self.old, self.past, self.gradients)]
        if not self.rule.momentum:
            arrays[1][:] = 0
        new, velocity = update(*arrays, self.rates, self.design.fmt)
        out = [*self.split(new.tolist()), *self.split(velocity.tolist())]
        return dict(zip(STREAMS, out, strict=True))


class Driver:
    """Plays runs back to back: sources, sinks, and the memories that answer reads."""

    def __init__(self, runs: Sequence[Update]) -> None:
        self.queue = list(runs)
        self.run: Update | None = None
        self.names = STREAMS if runs[0].rule.momentum else STREAMS[:2]
        self.results: list[tuple[Update, dict[str, list[tuple[int, int, int]]]]] = []
        self.begins: list[int] = []
        self.ends: list[int] = []

    def _begin(self, cycle: int, run: Update) -> None:
        self.run, self.since = run, 0
        kinds = (*run.split(run.old), *run.split(run.past))
        self.left = {
            name: list(words) if run.update else []
            for name, words in zip(STREAMS, kinds, strict=True)
            if name in self.names
        }
        self.held = dict.fromkeys(self.names, False)
        self.got: dict[str, list[tuple[int, int, int]]] = {name: [] for name in self.names}
        self.answers: dict[int, tuple[str, int]] = {}
        self.begins.append(cycle)

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle < 2:
            return {"rst": int(cycle == 0)}
        run = self.run
        values = {"start": 0, "rst": 0, "final_issue": 0}
        if run is not None and self.since >= 0:
            self._watch(cycle - 1, seen, run)
            if seen["progress_ends"]:
                self.ends.append(cycle - 1)
            self.since += 1
            if self.since == run.reset_at:
                self.run = None
                return values | {"rst": 1} | {f"{sink(n)}_valid": 0 for n in self.names}
            if seen["progress_done"] and not seen["start"]:
                self.results.append((run, self.got))
                self.run = None
        if self.run is None:
            if not self.queue:
                return values | {f"{source(n)}_ready": 1 for n in self.names}
            self._begin(cycle, self.queue.pop(0))
            assert self.run is not None
            return values | self.run.config() | {"start": 1}
        assert run is not None
        values["final_issue"] = int(self.since == 3)
        for name in self.names:
            if not self.held[name] and self.left[name] and run.rng.random() < run.pressure:
                self.held[name] = True
                values[f"{sink(name)}_data"] = self.left[name][0]
                values[f"{sink(name)}_last"] = int(len(self.left[name]) == 1)
            values[f"{sink(name)}_valid"] = int(self.held[name])
            values[f"{source(name)}_ready"] = int(run.rng.random() < run.pressure)
        noise = run.rng.getrandbits(run.design.fmt.width)
        kind, word = self.answers.pop(cycle, ("", noise))
        values["gradients_kernel"] = word if kind == "kernel" else noise
        values["gradients_bias"] = word if kind == "bias" else noise
        return values

    def _watch(self, cycle: int, seen: Sample, run: Update) -> None:
        """What happened in ``cycle``."""
        width = run.design.fmt.width
        for name in self.names:
            if seen[f"{sink(name)}_valid"] and seen[f"{sink(name)}_ready"]:
                self.left[name].pop(0)
                self.held[name] = False
            if seen[f"{source(name)}_valid"] and seen[f"{source(name)}_ready"]:
                word = seen[f"{source(name)}_data"]
                self.got[name].append((cycle, word, seen[f"{source(name)}_last"]))
        if seen[f"{READ}_enable"]:
            tap, cu = seen[f"{READ}_tap_shift"] // width, seen[f"{READ}_cu_shift"] // width
            word = run.gradient_at(seen[f"{READ}_addr"], tap, cu)
            self.answers[cycle + GRADIENT_READ] = ("kernel", word)
        elif seen[f"{BIAS_READ}_enable"]:
            word = run.gradients[run.kernels + seen[f"{BIAS_READ}_index"]]
            self.answers[cycle + GRADIENT_READ] = ("bias", word)


def play(
    design: EngineDesign, runs: Sequence[Update], cycles: int, array: str = "rtl"
) -> tuple[Driver, Recorded]:
    driver = Driver(runs)
    rule, width = runs[0].rule, design.fmt.width
    extent = Extent(GradientMapConfig(design))
    args: dict[str, Any] = {
        "clk": flag(), "rst": flag(), "start": flag(), "final_issue": flag(),
        "config": UpdateRegisters(extent, UpdateConfig(design, rule)),
        "gradients": GradientAccess(design), "parameters": passage(width),
        "velocities": passage(width) if rule.momentum else None,
        "progress": UpdateProgress(), "design": design,
    }  # fmt: skip
    with behavioural() if array == "behavioural" else nullcontext():
        return driver, BlockBench(update_unit, **args).run(driver.drive, cycles)


def check(driver: Driver, runs: Sequence[Update]) -> None:
    finished = [run for run in runs if run.reset_at is None]
    assert [run for run, _ in driver.results] == finished
    for run, got in driver.results:
        golden = run.golden()
        for name in driver.names:
            assert [word for _, word, _ in got[name]] == golden[name], name
            lasts = [last for *_, last in got[name]]
            assert lasts == [*[0] * (len(lasts) - 1), 1][: len(lasts)]
    assert len(driver.ends) == len(finished)
    for (_, got), end in zip(driver.results, driver.ends, strict=True):
        assert end == max(words[-1][0] for words in got.values() if words)


LATENCIES = [(1, 1), (2, 3), (3, 4)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize(("mul", "add"), few_rows(LATENCIES, (2, 3)))
def test_words_match_golden_under_pressure(mul: int, add: int, rule: UpdateRule) -> None:
    k = mul
    design = design_for(k, 2, 2, mul_latency=mul, add_latency=add, fmt=FloatFormat(5, 7))
    found = []
    for array in ("rtl", "behavioural"):
        runs = [
            Update(design, 4, 1, rule, 0),
            Update(design, 3, 2, rule, 1, pressure=0.5),
            Update(design, 1, 2, rule, 2, update=False, pressure=0.7),
            Update(design, 2, 1, rule, 3, pressure=0.4, reset_at=30),
            Update(design, 2, 1, rule, 4, pressure=0.8),
        ]
        driver, trace = play(design, runs, 200 + 12 * (7 + 8 * k * k + 20), array)
        check(driver, runs)
        assert not any(trace.column("progress_framing_error"))
        found.append(([got for _, got in driver.results], driver.ends))
    assert found[0] == found[1]  # the same words in the same cycles


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_begin_and_rate(rule: UpdateRule) -> None:
    """The first read in the cycle in which the last gradient is there; then one in each cycle."""
    design = design_for(2, 2, 2, mul_latency=2, add_latency=3, fmt=BFLOAT16)
    runs = [Update(design, 4, 2, rule, 0)]
    driver, trace = play(design, runs, 120)
    check(driver, runs)
    first = trace.column("final_issue").index(1) + SLOT + gradient_latency(design) + 1
    reads = [t for t, on in enumerate(trace.column(f"{READ}_enable")) if on]
    biases = [t for t, on in enumerate(trace.column(f"{BIAS_READ}_enable")) if on]
    assert reads + biases == list(range(first, first + 4 * 2 * 4 + 4))
    for name in driver.names[::2]:
        cycles = [cycle for cycle, *_ in driver.results[0][1][name]]
        assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


@pytest.mark.parametrize("rule", [RULES["plain"], RULES["decay"]])
def test_zero_velocity_has_no_sign(rule: UpdateRule) -> None:
    """Without momentum v = RN(+0 + g): a gradient of -0 must leave w = -0 as it is."""
    design = design_for(1, 1, 1, fmt=BINARY32)
    runs = [Update(design, 1, 1, rule, 0)]
    minus_zero = design.fmt.sign_bit
    runs[0].gradients, runs[0].old = [minus_zero] * 2, [minus_zero] * 2
    driver, _ = play(design, runs, 60)
    check(driver, runs)
    assert runs[0].golden()["kernel"] == [minus_zero]


def test_every_pair_of_a_small_format_decays_as_golden() -> None:
    """Without momentum +0 is added to the gradient and not to d: whatever both are, w is right."""
    design = design_for(1, 1, 1, fmt=FloatFormat(3, 2), kernel_words=4096, max_maps=4096)
    words, odd = range(1 << design.fmt.width), Update(design, 1, 1, PLAIN, 0)._odd
    pairs = [(w, g) for g in words if not odd(g) for w in words]
    run = Update(design, 1, len(pairs), RULES["decay"], 0)
    run.old, run.gradients = ([*each, 0] for each in zip(*pairs, strict=True))
    driver, _ = play(design, [run], len(pairs) + 60)
    check(driver, [run])


@pytest.mark.parametrize("stream", ["kernel", "bias_velocity"])
def test_framing_error_of_a_missing_last(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_for(1, 2, 1, fmt=BFLOAT16)
    runs = [Update(design, 2, 1, UpdateRule(momentum=True), seed) for seed in (0, 1)]
    drive = Driver.drive

    def spoil(self: Driver, cycle: int, seen: Sample) -> dict[str, int]:
        values = drive(self, cycle, seen)
        if self.run is runs[0] and f"{sink(stream)}_last" in values:
            values[f"{sink(stream)}_last"] = 0
        return values

    monkeypatch.setattr(Driver, "drive", spoil)
    driver, trace = play(design, runs, 120)
    errors = trace.column("progress_framing_error")
    assert errors[driver.begins[1]] == 1
    assert not any(errors[driver.begins[1] + 1 :])


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_update_unit_vhdl(rule: UpdateRule, replays: Replays) -> None:
    design = design_for(2, 2, 2, mul_latency=2, add_latency=2, fmt=BFLOAT16)
    runs = [
        Update(design, 3, 2, rule, 0, pressure=0.6),
        Update(design, 4, 1, rule, 1, update=False),
        Update(design, 2, 1, rule, 2),
    ]
    driver, trace = play(design, runs, 320)
    check(driver, runs)
    assert replays(trace, lint=True) == 320
