"""Bench of un-pooling: a source of deltas, a source of the ReLU/pooling mask, and a reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from myhdl import StopSimulation

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.golden.state import State, packed
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import UNPOOL, unpool_registers
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.cnn_merp.cu_bench import joined

TAIL_CYCLES = 4


@dataclass(frozen=True)
class UnpoolBenchRun:
    """One run of un-pooling.

    Attributes:
        shape: the layer whose ReLU and pooling are undone.
        delta: (images, pooled_rows, pooled_columns, maps) words.
        state: the ReLU/pooling mask, of kind ``pooled``.
        offer, offer_state: cyclic; a word, or a byte of the mask, may be presented in this cycle.
        accept: cyclic; the reader of the output is ready in this cycle.
        reset_at: cycle, counted from start, in which the run is reset and begun again.
        lasts: positions of the words (or beats) with ``last``, and of the bytes of the mask with
            ``last``. None is the final one, which is correct.
    """

    shape: Shape
    delta: Bits
    state: State
    offer: Sequence[int] = (1,)
    offer_state: Sequence[int] = (1,)
    accept: Sequence[int] = (1,)
    reset_at: int | None = None
    lasts: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)


class _Feeder:
    """Presents words, or beats of several words, in order; holds each until the transfer."""

    def __init__(
        self,
        name: str,
        words: Sequence[int],
        pattern: Sequence[int],
        lasts: Sequence[int] | None,
        width: int = 0,
        lanes: int = 1,
    ) -> None:
        self._name, self._pattern, self._lanes = name, pattern, lanes
        parts = [words[at : at + lanes] for at in range(0, len(words), lanes)]
        words = [joined(part, width) for part in parts]
        self._words, self._sizes = words, [len(part) for part in parts]
        self._lasts = {len(words) - 1} if lasts is None else set(lasts)
        self._next, self._held = 0, False

    def drive(self, since: int, seen: Sample, values: dict[str, int]) -> None:
        """Update ``values`` with the stream's pins, ``since`` cycles after start."""
        name = self._name
        if self._held and seen[f"{name}_ready"]:
            self._held = False
            values[f"{name}_valid"] = 0
        if self._held or self._next == len(self._words):
            return
        if self._pattern[since % len(self._pattern)]:
            values |= {
                f"{name}_valid": 1,
                f"{name}_data": self._words[self._next],
                f"{name}_last": int(self._next in self._lasts),
            }
            if self._lanes > 1:
                values[f"{name}_keep"] = (1 << self._sizes[self._next]) - 1
            self._next += 1
            self._held = True


def unpool_args(design: UnpoolDesign, lanes: int = 1, kept: bool = True) -> dict[str, object]:
    """Create the arguments of the block.

    With several lanes, ``sink`` has ``keep`` with one bit per lane. If ``kept``, ``source`` has
    it, too.
    """
    sink, source = Stream(lanes * design.fmt.width), Stream(lanes * design.fmt.width)
    if lanes > 1:
        sink.keep = bits(lanes)
        if kept:
            source.keep = bits(lanes)
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "config": UnpoolConfig(design),
        "sink": sink, "sink_state": Stream(8), "source": source, "done": flag(),
        "framing_error": flag(), "design": design,
    }  # fmt: skip


def run_unpool(
    design: UnpoolDesign,
    runs: Sequence[UnpoolBenchRun],
    cycles: int,
    block: Callable[..., Any] = unpool,
    lanes: int = 1,
    kept: bool = True,
) -> Trace:
    """Play the runs back to back, and a few more cycles, but at most ``cycles``."""
    args = unpool_args(design, lanes, kept)
    registers = tuple(f"config_{name}" for name in vars(args["config"]))
    streams = tuple(f"{s}_{f}" for s in ("sink", "sink_state") for f in ("data", "valid", "last"))
    if lanes > 1:
        streams += ("sink_keep",)
    inputs = ("rst", "start", *registers, *streams, "source_ready")
    queue = [(run, run.reset_at) for run in runs]
    run: UnpoolBenchRun | None = None
    feeders: list[_Feeder] = []
    reset_at: int | None = None
    since = tail = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal run, feeders, reset_at, since, tail
        if cycle < 2:
            return {"rst": 1}
        values = {"rst": 0, "start": 0}
        if run is not None:
            since += 1
            if reset_at == since:
                queue.insert(0, (run, None))
                run = None
                return values | {"rst": 1, "sink_valid": 0, "sink_state_valid": 0}
            if seen["done"] and not seen["start"]:
                run = None
        if run is None:
            if not queue:
                tail += 1
                if tail > TAIL_CYCLES:
                    raise StopSimulation
                return values | {"sink_valid": 0, "sink_state_valid": 0}
            run, reset_at = queue.pop(0)
            since = 0
            words = [int(word) for word in run.delta.reshape(-1)]
            state = list(packed(run.state, run.shape, design.fmt))
            feeders = [
                _Feeder("sink", words, run.offer, run.lasts[0], design.fmt.width, lanes),
                _Feeder("sink_state", state, run.offer_state, run.lasts[1]),
            ]
            config = unpool_registers(run.shape, run.delta.shape[-1], len(run.delta), design)
            prefix = f"{UNPOOL.bundle}_"
            values |= {f"config_{name.removeprefix(prefix)}": v for name, v in config.items()}
            values |= {"start": 1, "sink_valid": 0, "sink_state_valid": 0}
        else:
            for feeder in feeders:
                feeder.drive(since, seen, values)
        values["source_ready"] = run.accept[since % len(run.accept)]
        return values

    return run_block(block, args, inputs, drive, cycles, quick=True)
