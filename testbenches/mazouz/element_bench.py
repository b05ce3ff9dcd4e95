"""Test the convolution element: consecutive runs, with streams at chosen rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from merp.hdl.base.signals import Stream, flag
from merp.hdl.mazouz.convolution_element import convolution_element
from merp.hdl.mazouz.window_walk import ElementConfig
from merp.models.base.ordered_sum import ordered_sum
from merp.models.papers.mazouz.params.element import ElementDesign, ElementRun
from merp.models.papers.mazouz.params.element_registers import registers
from merp.testbenches.block.trace import Sample, Trace, run_block

FULL = (1.0, 1.0, 1.0)
"""Rates at which the words of the kernel and of the map are offered, and outputs are accepted."""

SLACK = 12  # extra cycles per run


@dataclass(frozen=True)
class ElementJob:
    """A map and a kernel, as words in stream order."""

    run: ElementRun
    map: Sequence[int]
    kernel: Sequence[int]


def arguments(design: ElementDesign) -> dict[str, Any]:
    """Create the ports of an element."""
    width = design.fmt.width
    streams = {name: Stream(width) for name in ("sink_kernel", "sink", "source")}
    flags = {name: flag() for name in ("clk", "rst", "start", "done", "framing_error")}
    return {**flags, **streams, "config": ElementConfig(design), "design": design}


def inputs(design: ElementDesign) -> tuple[str, ...]:
    """Return the names of the ports that a bench drives."""
    config = (f"config_{name}" for name in vars(ElementConfig(design)))
    streams = (
        f"{sink}_{each}" for sink in ("sink_kernel", "sink") for each in ("data", "valid", "last")
    )
    return ("rst", "start", *config, *streams, "source_ready")


class Player:
    """Drives an element through ``jobs``; a stream without a valid word carries noise."""

    def __init__(
        self, jobs: Sequence[ElementJob], rates: tuple[float, float, float], seed: int
    ) -> None:
        self.jobs = jobs
        self.offered, self.taken = {"sink_kernel": rates[0], "sink": rates[1]}, rates[2]
        self._rng = Random(seed)
        self._at = -1
        self._sent = {"sink_kernel": 0, "sink": 0}
        self._valid = {"sink_kernel": False, "sink": False}

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle: reset in cycle 0, a start in the cycle after each end."""
        begins = self._at + 1 < len(self.jobs) and (
            cycle == 1 or (cycle > 1 and self._at >= 0 and seen["done"] and not seen["start"])
        )
        for name in self._sent:
            if self._valid[name] and seen.get(f"{name}_ready"):
                self._sent[name] += 1
                self._valid[name] = False
        if begins:
            self._at += 1
            self._sent = dict.fromkeys(self._sent, 0)
        job = self.jobs[max(0, self._at)]
        values = {"rst": int(cycle == 0), "start": int(begins), **registers(job.run)}
        for name, words in (("sink_kernel", job.kernel), ("sink", job.map)):
            sent, rate = self._sent[name], self.offered[name]
            left = self._at >= 0 and sent < len(words)
            self._valid[name] = left and (self._valid[name] or self._rng.random() < rate)
            noise = self._rng.getrandbits(job.run.design.fmt.width)
            values |= {
                f"{name}_valid": int(self._valid[name]),
                f"{name}_data": words[sent] if self._valid[name] else noise,
                f"{name}_last": int(sent == len(words) - 1) if self._valid[name] else noise & 1,
            }
        return values | {"source_ready": int(self._rng.random() < self.taken)}


def play(
    jobs: Sequence[ElementJob], rates: tuple[float, float, float] = FULL, seed: int = 0
) -> Trace:
    """Run the jobs, all of one design, in MyHDL."""
    design = jobs[0].run.design
    alone = ordered_sum(
        design.taps / rates[0] + job.run.cycles / min(rates[1:]) + SLACK for job in jobs
    )
    cycles = int(alone if rates == FULL else 1.5 * alone)
    return run_block(
        convolution_element,
        arguments(design),
        inputs(design),
        Player(jobs, rates, seed),
        cycles,
        quick=True,
    )


def transfers(trace: Trace, stream: str) -> list[tuple[int, int, int]]:
    """Return cycle, word and last of each transfer."""
    names = ("valid", "ready", "data", "last")
    columns = zip(*(trace.column(f"{stream}_{name}") for name in names), strict=True)
    return [(t, data, last) for t, (on, off, data, last) in enumerate(columns) if on and off]
