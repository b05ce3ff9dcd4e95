"""Test the modules of activation and pooling: their tops, and runs with random maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from merp.testbenches.fcnn.described import described
from merp.testbenches.fcnn.stream_player import StreamJob, StreamPlayer, joined
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


@dataclass(frozen=True)
class Session(StreamJob):
    """A run as beats, for a bench without an engine.

    Attributes:
        leaves: beats of each output stream.
    """

    leaves: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, design: PoolDesign, given: tuple[Run, dict[str, Bits]], names: Mapping[str, str]
    ) -> Session:
        """Return a run of ``PoolJob`` whose streams have other ``names``."""
        run, leaves = given
        streams = {**run.words, **leaves}
        width = {name: BYTE if "state" in name else design.fmt.width for name in streams}
        beats = {
            name: joined(words.reshape(-1, design.lanes), width[name])
            for name, words in streams.items()
        }
        return cls(
            run.config,
            {names.get(name, name): beats[name] for name in run.words},
            {names.get(name, name): design.lanes * width[name] for name in run.words},
            leaves={names.get(name, name): beats[name] for name in leaves},
        )


def player(
    sessions: Sequence[Session], rates: Mapping[str, float], seed: int, *, of_top: bool = False
) -> StreamPlayer:
    """Drive a block, or a top, through sessions; ``rates`` and ``seed`` as in ``StreamPlayer``."""
    done = "status_done" if of_top else "progress_done"
    return StreamPlayer(sessions, tuple(sessions[0].leaves), done, of_top, rates, seed)
