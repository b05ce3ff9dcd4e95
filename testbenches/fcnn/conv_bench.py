"""Runs of a convolution module: random words, the golden sums, and a player for its streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from random import Random
from typing import Any, Self

import numpy as np

from merp.hdl.base.signals import Stream, flag
from merp.hdl.fcnn.fcnn_conv import ConvPorts, fcnn_conv
from merp.hdl.fcnn.stream_conv import ConvActivity, ConvConfig, stream_conv
from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.conv_registers import (
    CONV,
    COUNTERS,
    WORDS,
    StreamRun,
    registers,
)
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.partial_sums import (
    dilated,
    kernel_words,
    map_words,
    partial_sums,
    partial_words,
    sum_words,
)
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.fcnn.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

SINKS = ("map_in", "kernel", "bias", "partial_in")
FULL = dict.fromkeys((*SINKS, "sum_out"), 1.0)
"""Rates at which words are offered, and at which sums are accepted."""


@dataclass(frozen=True, eq=False)
class ConvJob:
    """A run with its words, and the golden sums after each input map.

    Attributes:
        run: the run.
        x: (images, rows, columns, n) words as the port has them, without blanks.
        kernels: (m, n, k, k) words, as the module applies them.
        start: (m,) biases, or (images, out_rows, out_columns, m) sums of the run before.
    """

    run: StreamRun
    x: Bits
    kernels: Bits
    start: Bits

    @classmethod
    def drawn(cls, run: StreamRun, draw: Callable[[int], Sequence[int]]) -> Self:
        """Return a run with words from ``draw(count)``."""
        grid, shape = run.grid, run.grid.shape

        def words(*size: int) -> Bits:
            return np.array(draw(prod(size)), np.uint32).reshape(size)

        sums = (grid.images, shape.out_rows, shape.out_columns, shape.m)
        return cls(
            run,
            words(grid.images, grid.sent_rows, grid.sent_columns, shape.n),
            words(shape.m, shape.n, shape.k, shape.k),
            words(*sums) if run.begun else words(shape.m),
        )

    @cached_property
    def sums(self) -> Bits:
        """Sums after each input map: (n, images, out_rows, out_columns, m) words."""
        run = self.run
        start = self.start if run.biased or run.begun else np.zeros(1, np.uint32)
        fmt, maps = run.design.fmt, dilated(self.x, run)
        found = partial_sums(maps, self.kernels, start, run.grid.shape, fmt)
        return np.array(list(found))

    def words(self, sums: Bits) -> dict[str, Bits]:
        """Return the elements of each port in stream order, (words, elements of a word)."""
        run, none = self.run, np.zeros((0, 1), np.uint32)
        begun = self.start if run.begun else None
        return {
            "map_in": map_words(self.x, run),
            "kernel": kernel_words(self.kernels, run).reshape(-1, 1),
            "bias": self.start.reshape(-1, 1) if run.takes_biases else none,
            "partial_in": partial_words(sums, run, begun),
            "sum_out": sum_words(sums, run),
        }


def random_run(design: StreamDesign, rng: Random, most: int = 6, maps: int = 4) -> StreamRun:
    """Return a run that fits the design: forward or delta propagation, maybe begun before.

    Maps have up to ``most`` rows and columns; there are up to ``maps`` of them.
    """
    k = design.k
    while True:
        top, left, bottom, right = (rng.randrange(k) for _ in range(4))
        pad = (top, left, bottom, right) if rng.random() < 0.7 else top
        images = design.lanes * rng.randint(1, design.max_step)
        begun = rng.random() < 0.3
        try:
            shape = Shape(
                n=rng.randint(1, maps), m=rng.randint(1, maps), k=k, rows=rng.randint(1, most),
                columns=rng.randint(1, most), stride=rng.randint(1, design.max_stride), pad=pad,
            )  # fmt: skip
            if rng.random() < 0.4:
                return StreamRun.deltas(shape, images, design, begun=begun)
            return StreamRun.forward(shape, images, design, begun=begun)
        except ValueError:  # the kernel exceeds the map, or the map the design
            continue


def arguments(design: StreamDesign) -> dict[str, Any]:
    """Create the ports of ``stream_conv``."""
    width = design.fmt.width
    streams = {
        "sink_map": Stream(design.map_width), "sink_kernel": Stream(width),
        "sink_bias": Stream(width), "sink_partial": Stream(design.sum_width),
        "source": Stream(design.sum_width),
    }  # fmt: skip
    flags = {name: flag() for name in ("clk", "rst", "start", "framing_error")}
    return {
        **flags, **streams, "config": ConvConfig(design), "activity": ConvActivity(),
        "design": design,
    }  # fmt: skip


def top(design: StreamDesign) -> Top:
    """Create ``fcnn_conv``, with new signals."""
    describe = described(CONV, COUNTERS, WORDS)
    return Top.of(fcnn_conv, ConvPorts(design), {"design": design}, describe=describe)


def run_of(job: ConvJob, words: Mapping[str, Bits]) -> Run:
    """Return the run of a job on the top."""
    sent = {WORDS[name]: words[name].reshape(-1) for name in SINKS}
    return Run(config=registers(job.run), words=sent)


def packed(words: Bits, width: int) -> list[int]:
    """Return words of several elements of ``width`` bits as numbers, element 0 lowest."""
    return [sum(each << i * width for i, each in enumerate(word)) for word in words.tolist()]


STREAMS = {
    "map_in": "sink_map", "kernel": "sink_kernel", "bias": "sink_bias",
    "partial_in": "sink_partial", "sum_out": "source",
}  # fmt: skip


class Player:
    """Drives ``stream_conv`` or the top through jobs; a stream without a valid word has noise."""

    def __init__(
        self,
        jobs: Sequence[tuple[ConvJob, Mapping[str, Bits]]],
        rates: Mapping[str, float],
        seed: int,
        *,
        of_top: bool = False,
        wrong: Mapping[str, int] | None = None,
    ) -> None:
        """``wrong``: word of a stream, by name, at which last is inverted in the first job."""
        self._rates, self._rng, self._wrong = rates, Random(seed), dict(wrong or {})
        self._jobs = list(jobs)
        self._names = WORDS if of_top else STREAMS
        self._t = "t" if of_top else ""
        self._at = -1
        self._sent = dict.fromkeys(SINKS, 0)
        self._valid = dict.fromkeys(SINKS, False)
        self._words = [
            {name: packed(words[name], job.run.design.fmt.width) for name in SINKS}
            for job, words in jobs
        ]
        self._over = True
        self._of_top = of_top

    def _ends(self, seen: Sample) -> bool:
        """Whether the run of the cycle before is over."""
        if self._of_top:
            return bool(seen["status_done"] and not seen["start"])
        last = seen["source_valid"] and seen["source_ready"] and seen["source_last"]
        self._over |= bool(last)
        return self._over and bool(seen["activity_drain"]) and not seen["start"]

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle: reset in cycle 0, a start after each end."""
        if cycle < 2:
            seen = {}  # of a run before a reset
        over = cycle == 1 or (cycle > 1 and self._at >= 0 and self._ends(seen))
        for name in SINKS:
            if self._valid[name] and seen.get(f"{self._names[name]}_{self._t}ready"):
                self._sent[name] += 1
                self._valid[name] = False
        begins = over and self._at + 1 < len(self._jobs)
        if begins:
            self._at += 1
            self._over = False
            self._sent = dict.fromkeys(SINKS, 0)
            self._valid = dict.fromkeys(SINKS, False)
        job, _ = self._jobs[max(0, self._at)]
        values = {"rst": int(cycle == 0), "start": int(begins), **registers(job.run)}
        for name in SINKS:
            values |= self._offer(name, job)
        ready = int(self._rng.random() < self._rates["sum_out"])
        return values | {f"{self._names['sum_out']}_{self._t}ready": ready}

    def _offer(self, name: str, job: ConvJob) -> Iterator[tuple[str, int]]:
        stream, t = self._names[name], self._t
        words = self._words[max(0, self._at)][name]
        sent = self._sent[name]
        left = self._at >= 0 and sent < len(words)
        on = left and (self._valid[name] or self._rng.random() < self._rates[name])
        self._valid[name] = on
        noise = self._rng.getrandbits(job.run.design.fmt.width)
        last = sent == len(words) - 1
        if not self._at and self._wrong.get(name) == sent:
            last = not last
        yield f"{stream}_{t}valid", int(on)
        yield f"{stream}_{t}data", words[sent] if on else noise
        yield f"{stream}_{t}last", int(last) if on else noise & 1


def play(
    jobs: Sequence[ConvJob],
    rates: Mapping[str, float] = FULL,
    seed: int = 0,
    *,
    cycles: int,
    of_top: bool = False,
    words: Callable[[ConvJob], Mapping[str, Bits]] | None = None,
    wrong: Mapping[str, int] | None = None,
) -> Trace:
    """Run the jobs, all of one design, in MyHDL, for ``cycles`` cycles.

    ``words`` gives the words of a job's ports, if they are not the golden ones.
    """
    design = jobs[0].run.design
    given = words or (lambda job: job.words(job.sums))
    player = Player([(job, given(job)) for job in jobs], rates, seed, of_top=of_top, wrong=wrong)
    args = dict(top(design).args) if of_top else arguments(design)
    function = fcnn_conv if of_top else stream_conv
    driven = tuple(player(0, {}))
    fresh = Player([(job, given(job)) for job in jobs], rates, seed, of_top=of_top, wrong=wrong)
    return run_block(function, args, driven, fresh, cycles, quick=True)
