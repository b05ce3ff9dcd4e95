"""Runs of a convolution module: random words, the golden sums, and a player for its streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from random import Random
from typing import Any, Self

import numpy as np

from merp.hdl.base.signals import flag
from merp.hdl.fcnn.fcnn_conv import ConvPorts, fcnn_conv
from merp.hdl.fcnn.stream_conv import ConvActivity, ConvConfig, ConvStreams, stream_conv
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
from merp.models.machines.fcnn.partial_sums import dilated, partial_sums
from merp.models.machines.fcnn.stream_order import (
    kernel_words,
    map_words,
    partial_words,
    sum_words,
)
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.fcnn.described import described
from merp.testbenches.fcnn.stream_player import StreamJob, StreamPlayer, joined
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
            "map_in": map_words(self.x, run.grid),
            "kernel": kernel_words(self.kernels, run.design).reshape(-1, 1),
            "bias": self.start.reshape(-1, 1) if run.takes_biases else none,
            "partial_in": partial_words(sums, run, begun),
            "sum_out": sum_words(sums, run.grid),
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
    flags = {name: flag() for name in ("clk", "rst", "start", "framing_error")}
    return {
        **flags, "config": ConvConfig(design), "streams": ConvStreams(design),
        "activity": ConvActivity(), "design": design,
    }  # fmt: skip


def top(design: StreamDesign) -> Top:
    """Create ``fcnn_conv``, with new signals."""
    describe = described(CONV, COUNTERS, WORDS)
    return Top.of(fcnn_conv, ConvPorts(design), {"design": design}, describe=describe)


def run_of(job: ConvJob, words: Mapping[str, Bits]) -> Run:
    """Return the run of a job on the top."""
    sent = {WORDS[name]: words[name].reshape(-1) for name in SINKS}
    return Run(config=registers(job.run), words=sent)


STREAMS = {
    "map_in": "sink_map", "kernel": "sink_kernel", "bias": "sink_bias",
    "partial_in": "sink_partial", "sum_out": "source",
}  # fmt: skip


@dataclass
class ConvPlayer(StreamPlayer):
    """Drives ``stream_conv``, which has no port for the end of a run."""

    def __post_init__(self) -> None:
        """Begin in front of the first run."""
        super().__post_init__()
        self._sent_all = False

    def ended(self, seen: Sample) -> bool:
        """Return whether the last sum has left and the walk has ended."""
        last = seen["source_valid"] and seen["source_ready"] and seen["source_last"]
        self._sent_all = bool(last) or (self._sent_all and not seen["start"])
        return self._sent_all and bool(seen["activity_drain"]) and not seen["start"]


def player(
    jobs: Sequence[ConvJob],
    rates: Mapping[str, float],
    seed: int,
    *,
    of_top: bool = False,
    words: Callable[[ConvJob], Mapping[str, Bits]] | None = None,
    wrong: Mapping[str, int] | None = None,
) -> StreamPlayer:
    """Drive ``stream_conv``, or the top, through jobs.

    Args:
        jobs: the jobs, all of one design.
        rates: of each port, by name.
        seed: of the pauses and the noise.
        of_top: whether the block is the top.
        words: gives the words of a job's ports, if they are not the golden ones.
        wrong: word of a stream, by name, at which last is inverted in the first job.
    """
    names = WORDS if of_top else STREAMS
    width = jobs[0].run.design.fmt.width

    def given(job: ConvJob, inverted: Mapping[str, int]) -> StreamJob:
        found = words(job) if words else job.words(job.sums)
        return StreamJob(
            registers(job.run),
            {names[name]: joined(found[name], width) for name in SINKS},
            {names[name]: found[name].shape[-1] * width for name in SINKS},
            {names[name]: {len(found[name]) - 1} ^ {at} for name, at in inverted.items()},
        )

    each = [given(job, {} if at else wrong or {}) for at, job in enumerate(jobs)]
    kind = StreamPlayer if of_top else ConvPlayer
    paces = {names[name]: rate for name, rate in rates.items()}
    return kind(each, (names["sum_out"],), "status_done", of_top, paces, seed)


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
    """Run the jobs in MyHDL, for ``cycles`` cycles; other arguments as in ``player``."""
    design = jobs[0].run.design

    def fresh() -> StreamPlayer:
        return player(jobs, rates, seed, of_top=of_top, words=words, wrong=wrong)

    args = dict(top(design).args) if of_top else arguments(design)
    function = fcnn_conv if of_top else stream_conv
    driven = tuple(fresh()(0, {}))
    return run_block(function, args, driven, fresh(), cycles, quick=True)
