"""Test the modules of activation and pooling: their tops, and runs with random maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from merp.hdl.base.signals import BYTE
from merp.hdl.fcnn.fcnn_pool import FcnnPoolPorts, fcnn_pool
from merp.hdl.fcnn.fcnn_unpool import FcnnUnpoolPorts, fcnn_unpool
from merp.models.base.bits import Bits
from merp.models.machines.fcnn.activated_pool import activated_pool, activated_unpool
from merp.models.machines.fcnn.params.pool_design import PoolDesign, PoolRun
from merp.models.machines.fcnn.params.pool_registers import (
    POOL,
    POOL_COUNTERS,
    POOL_WORDS,
    UNPOOL,
    UNPOOL_WORDS,
)
from merp.testbenches.block.trace import Sample
from merp.testbenches.fcnn.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top


def pool_top(design: PoolDesign) -> Top:
    """Return the top of forward propagation, with signals of its own."""
    describe = described(POOL, POOL_COUNTERS, POOL_WORDS)
    return Top.of(fcnn_pool, FcnnPoolPorts(design), {"design": design}, describe=describe)


def unpool_top(design: PoolDesign) -> Top:
    """Return the top of backward propagation, with signals of its own."""
    describe = described(UNPOOL, POOL_COUNTERS, UNPOOL_WORDS)
    return Top.of(fcnn_unpool, FcnnUnpoolPorts(design), {"design": design}, describe=describe)


def streamed(maps: Bits) -> Bits:
    """Return maps (images, rows, columns, maps) as words in the order of a stream: map, row,
    column, image.
    """
    return np.ascontiguousarray(maps.transpose(3, 1, 2, 0)).reshape(-1)


def maps_of(words: Bits, rows: int, columns: int, images: int) -> Bits:
    """Return the words of a stream as maps (images, rows, columns, maps)."""
    return words.reshape(-1, rows, columns, images).transpose(3, 1, 2, 0)


def random_words(size: tuple[int, ...], design: PoolDesign, rng: Random) -> Bits:
    """Return words that the arithmetic delivers, with many ties, zeros, infinities and NaN."""
    fmt, noise = design.fmt, np.random.default_rng(rng.getrandbits(32))
    common = [0, fmt.sign_bit, fmt.one, fmt.one | fmt.sign_bit, fmt.inf, fmt.nan]
    few = np.array([*common, fmt.inf | fmt.sign_bit, fmt.one + 1, 1 << fmt.frac_bits], np.uint32)
    exponent = noise.integers(max(1, fmt.bias - 10), fmt.bias + 4, size)
    sign = noise.integers(0, 2, size) << fmt.width - 1
    drawn = (sign | exponent << fmt.frac_bits | noise.integers(0, 1 << fmt.frac_bits, size)).astype(
        np.uint32
    )
    return np.where(noise.random(size) < 0.4, noise.choice(few[: rng.randint(2, 9)], size), drawn)


@dataclass(frozen=True, eq=False)
class PoolJob:
    """A run with its maps and deltas; the golden models give the outputs.

    Attributes:
        run: the sizes.
        x: maps before pooling, (images, rows, columns, maps) words.
        delta: deltas of the pooled maps.
    """

    run: PoolRun
    x: Bits
    delta: Bits

    @classmethod
    def random(cls, run: PoolRun, rng: Random) -> PoolJob:
        """Return a run with random words."""
        x = random_words((run.images, run.rows, run.columns, run.maps), run.design, rng)
        pooled = run.images, run.pooled_rows, run.pooled_columns, run.maps
        return cls(run, x, random_words(pooled, run.design, rng))

    def _present(self, streams: dict[str, tuple[Bits, bool]]) -> dict[str, Bits]:
        return {name: streamed(words) for name, (words, there) in streams.items() if there}

    def forward(self, **settings: Any) -> tuple[Run, dict[str, Bits]]:
        """Return the run of forward propagation, and the words that must leave."""
        design = self.run.design
        y, state = activated_pool(self.x, design)
        run = Run(POOL.values(self.run), {"s_axis_map": streamed(self.x)}, **settings)
        leaves = {"m_axis_map": (y, True), "m_axis_state": (state, design.keeps_state)}
        return run, self._present(leaves)

    def backward(self, **settings: Any) -> tuple[Run, dict[str, Bits]]:
        """Return the run of backward propagation, and the words that must leave."""
        design, run = self.run.design, self.run
        y, state = activated_pool(self.x, design)
        enters = {
            "s_axis_delta": (self.delta, True), "s_axis_state": (state, design.keeps_state),
            "s_axis_map": (y, design.keeps_map),
        }  # fmt: skip
        wanted = activated_unpool(self.delta, state, y, run.rows, run.columns, design)
        given = Run(UNPOOL.values(run), self._present(enters), **settings)
        return given, {"m_axis_delta": streamed(wanted)}


def beats_of(words: Bits, lanes: int, width: int) -> list[int]:
    """Return the beats of words: the first word of a beat is lowest."""
    rows = words.reshape(-1, lanes).tolist()
    return [sum(word << lane * width for lane, word in enumerate(row)) for row in rows]


@dataclass(frozen=True)
class Session:
    """A run as beats, for a bench without an engine.

    Attributes:
        config: registers by flattened name.
        enters, leaves: beats of each stream.
    """

    config: Mapping[str, int]
    enters: Mapping[str, Sequence[int]]
    leaves: Mapping[str, Sequence[int]]

    @classmethod
    def of(
        cls, design: PoolDesign, given: tuple[Run, dict[str, Bits]], names: Mapping[str, str]
    ) -> Session:
        """Return a run of ``PoolJob`` whose streams have other ``names``."""

        def beats(streams: Mapping[str, Bits]) -> dict[str, list[int]]:
            width = {name: BYTE if "state" in name else design.fmt.width for name in streams}
            return {
                names.get(name, name): beats_of(words, design.lanes, width[name])
                for name, words in streams.items()
            }

        run, leaves = given
        return cls(run.config, beats(run.words), beats(leaves))


class SessionPlayer:
    """Drives a block through sessions: each starts in the cycle after the end of the one before.

    A stream without a valid word carries noise.

    Args:
        sessions: the runs.
        rates: how often the word of a stream is offered or taken; 1 without an entry.
        seed: of the choice of these cycles.
        done: output that is high after a run.
        prefix: in front of the names of the fields: "t" of AXI4-Stream.
        early: input streams whose last comes a beat too early.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        rates: Mapping[str, float],
        seed: int,
        done: str = "progress_done",
        prefix: str = "",
        early: Sequence[str] = (),
    ) -> None:
        self._sessions, self._rates, self._prefix, self._done = sessions, rates, prefix, done
        self._rng, self._at, self._early = Random(seed), -1, early
        self._sent = dict.fromkeys(sessions[0].enters, 0)
        self._valid = dict.fromkeys(sessions[0].enters, False)

    def _runs(self, name: str) -> bool:
        return self._rng.random() < self._rates.get(name, 1.0)

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle: reset in cycle 0, the first start in cycle 1."""
        begins = self._at + 1 < len(self._sessions) and (
            cycle == 1 or (cycle > 1 and self._at >= 0 and seen[self._done] and not seen["start"])
        )
        for name, offered in self._valid.items():
            if offered and seen.get(f"{name}_{self._prefix}ready"):
                self._sent[name] += 1
                self._valid[name] = False
        if begins:
            self._at += 1
            self._sent = dict.fromkeys(self._sent, 0)
        session = self._sessions[max(0, self._at)]
        values = {"rst": int(cycle == 0), "start": int(begins), **session.config}
        for name, beats in session.enters.items():
            at, p = self._sent[name], f"{name}_{self._prefix}"
            if not self._valid[name]:
                self._valid[name] = cycle > 0 and at < len(beats) and self._runs(name)
            last = at == len(beats) - 1 - (name in self._early)
            values[f"{p}valid"] = int(self._valid[name])
            values[f"{p}data"] = beats[at] if self._valid[name] else self._rng.getrandbits(8)
            values[f"{p}last"] = int(last) if self._valid[name] else self._rng.getrandbits(1)
        for name in session.leaves:
            values[f"{name}_{self._prefix}ready"] = int(self._runs(name))
        return values
