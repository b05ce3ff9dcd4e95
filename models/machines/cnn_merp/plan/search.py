"""Tiles of all layers that share a bitstream, such that its engine fits the part.

The engine's memories are sized for the largest tile. Kernel memories and banks need almost all
block RAM. A pair of sizes of both leaves a number of blocks for the other memories; each size is
the largest for its blocks. Every layer then uses its best tile within these limits. The best pair
that fits is found by branch and bound. The bound of a range of pairs combines its largest sizes
with the memory that its smallest sizes leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.resources import KINDS, TITLES, capacity
from merp.models.machines.cnn_merp.fpga.memories import (
    Memory,
    bank_memory,
    gradient_memory,
    gradient_steps,
    kernel_memory,
)
from merp.models.machines.cnn_merp.params.design import RANGES
from merp.models.machines.cnn_merp.plan.candidates import (
    Counts,
    Sizes,
    candidates,
)
from merp.models.machines.cnn_merp.plan.distinct import Distinct, distinct
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine, engine_of, least_engine
from merp.models.machines.cnn_merp.plan.work import PhaseWork

Tile = tuple[int, int]
"""Input maps and output maps of the largest parts."""

Cost = tuple[float, float]
"""Costs of all layers: that of the goal first, then the other one."""

_STEP = 512  # words of RAM after which one more word may need one more block
_TRIES = 16


@dataclass(frozen=True)
class _Cap:
    """A size of a memory: the largest number of words that fits its number of RAMB18."""

    words: int
    halves: int


def best_tiles(
    name: str, works: Sequence[PhaseWork], board: Board, goal: str
) -> tuple[PlannedEngine, list[Tile]]:
    """Return the engine of a bitstream and the tile of each of its works.

    Args:
        name: of the design.
        works: works of the design, all of one phase.
        goal: ``bytes`` or ``time``, of all works; the other one decides between equal results.

    Raises:
        BadInput: not even one map in and one map out of each fits, or the units do not.
    """
    found = best_priced(name, distinct(works), board, goal)
    return found.engine, found.tiles


class Priced(NamedTuple):
    """The best result of a search.

    Attributes:
        engine: of the bitstream.
        tiles: of each of its works.
        bytes, seconds: of all works, added up in their order.
    """

    engine: PlannedEngine
    tiles: list[Tile]
    bytes: float
    seconds: float


def best_priced(name: str, works: Distinct, board: Board, goal: str) -> Priced:
    """Return the result of ``best_tiles`` with its costs.

    Raises:
        BadInput: as in ``best_tiles``.
    """
    base = least_engine(name, works.works)
    _check(base, works.names, board)
    cost, (engine, tiles) = _Search(name, works, board, goal, base).best()
    return Priced(engine, tiles, *(cost if goal == "bytes" else cost[::-1]))


def _check(base: PlannedEngine, names: Sequence[str], board: Board) -> None:
    """Refuse a board that is too small for one map in and one map out of each layer."""
    needed, has = base.resources.figures(), capacity(board.room).figures()
    for kind in KINDS:
        if needed[kind] > has[kind]:
            layers = ", ".join(names)
            raise BadInput(
                f"board {board.name}: design {base.name}, phase {base.phase} ({layers}): one map "
                f"in and one map out take {_said(needed[kind])} {TITLES[kind]}: allowed are the "
                f"{_said(has[kind])} of {board.part.name}"
            )


def _said(count: float) -> str:
    return f"{count:,.1f}".removesuffix(".0")


def fits(engine: PlannedEngine, board: Board) -> bool:
    """Return whether an engine fits a part, by the model."""
    needed, has = engine.resources.figures(), capacity(board.room).figures()
    return all(needed[kind] <= has[kind] for kind in KINDS)


class _Search:
    """The search for one bitstream."""

    def __init__(
        self, name: str, works: Distinct, board: Board, goal: str, base: PlannedEngine
    ) -> None:
        self.name, self.board, self.goal, self.base = name, board, goal, base
        self.of_all, self.works = works, works.works
        self.halves = 2 * board.room.block_rams
        design = base.design

        def kernels(words: int) -> Memory:
            listed = gradient_memory if base.phase == "ku" else kernel_memory
            return listed(design, words)

        per = gradient_steps(design) if base.phase == "ku" else 1
        kernel_words = max(each.inputs * -(-each.outputs // design.n_cu) for each in self.works)
        row_words = max(-(-each.least.columns // design.k) * each.inputs for each in self.works)
        self.kernel_caps = self._caps(kernels, per, min(kernel_words, RANGES["kernel_words"][1]))
        self.bank_caps = self._caps(
            lambda words: bank_memory(design, words),
            design.d,
            min(row_words, RANGES["row_words"][1]),
        )
        sizes = Sizes(
            *(np.array([cap.words for cap in caps]) for caps in (self.kernel_caps, self.bank_caps))
        )
        self.tiles = candidates(self.works, board, goal, base, sizes)
        self.ends = np.cumsum(np.bincount(self.tiles.work, minlength=len(self.works)))
        self.starts = np.concatenate(([0], self.ends[:-1]))

    def _caps(self, memory: Callable[[int], Memory], per: int, largest: int) -> list[_Cap]:
        """Return the sizes of a memory that fit the part, smallest first.

        ``per`` words of RAM form one of its words; no memory has more words than ``largest``.
        """
        found: list[_Cap] = []
        ram = 0
        while not found or found[-1].words < largest:
            ram = {0: 32, 32: 64, 64: _STEP}.get(ram, ram + _STEP)
            words = min(largest, ram // per)
            if words < 1:
                continue
            halves = memory(words).halves
            if halves > self.halves:
                break
            if found and found[-1].halves == halves:
                found.pop()
            found.append(_Cap(words, halves))
        return found

    def best(self) -> tuple[Cost, Leaf]:
        """Take the range with the lowest bound, until it is a pair that fits."""
        order = count()
        heap: list[tuple[Cost, int, int, tuple[int, int, int, int], Leaf | None]] = []

        def push(area: tuple[int, int, int, int]) -> None:
            low_kernel, high_kernel, low_bank, high_bank = area
            left = self._left(low_kernel, low_bank)
            picked = self._within(high_kernel, high_bank, left) if left >= 0 else None
            if picked is not None:
                size = (high_kernel - low_kernel + 1) * (high_bank - low_bank + 1)
                heappush(heap, (self._cost(picked), size, next(order), area, None))

        push((0, len(self.kernel_caps) - 1, 0, len(self.bank_caps) - 1))
        while heap:
            cost, size, _, area, leaf = heappop(heap)
            if leaf is not None:
                return cost, leaf
            low_kernel, high_kernel, low_bank, high_bank = area
            if size == 1:
                found = self._fitted(low_kernel, low_bank)
                if found is not None:
                    cost, fitted = found
                    heappush(heap, (cost, 0, next(order), area, fitted))
            elif high_kernel - low_kernel >= high_bank - low_bank:
                middle = (low_kernel + high_kernel) // 2
                push((low_kernel, middle, low_bank, high_bank))
                push((middle + 1, high_kernel, low_bank, high_bank))
            else:
                middle = (low_bank + high_bank) // 2
                push((low_kernel, high_kernel, low_bank, middle))
                push((low_kernel, high_kernel, middle + 1, high_bank))
        raise self._too_small()

    def _left(self, kernel: int, bank: int) -> int:
        """Return the RAMB18 that remain with kernel memories and banks of these sizes."""
        return self.halves - self.kernel_caps[kernel].halves - self.bank_caps[bank].halves

    def _within(self, kernel: int, bank: int, left: int) -> Counts | None:
        """Return the index of the best tile of each work within these sizes; None if a work has
        none.
        """
        inside = self.tiles.kernel_words <= self.kernel_caps[kernel].words
        inside &= self.tiles.row_words <= self.bank_caps[bank].words
        inside &= self.tiles.others <= left
        places = np.flatnonzero(inside)
        first = np.searchsorted(places, self.starts)  # the first of each work
        if first[-1] == places.size:
            return None
        picked: Counts = places[first]
        return None if (picked >= self.ends).any() else picked

    def _cost(self, picked: Counts) -> Cost:
        moved = self.of_all.total(self.tiles.bytes[picked].tolist())
        seconds = self.of_all.total(self.tiles.seconds[picked].tolist())
        return (moved, seconds) if self.goal == "bytes" else (seconds, moved)

    def _fitted(self, kernel: int, bank: int) -> tuple[Cost, Leaf] | None:
        """Return tiles within a pair of sizes whose engine fits.

        Each layer's need of the other memories is calculated separately. If the largest needs
        together are too large, the limit of all layers is reduced.
        """
        left = self._left(kernel, bank)
        for _ in range(_TRIES):
            picked = self._within(kernel, bank, left) if left >= 0 else None
            if picked is None:
                return None
            sizes = self.tiles.inputs[picked].tolist(), self.tiles.outputs[picked].tolist()
            tiles = list(zip(*sizes, strict=True))
            engine = engine_of(self.name, self.works, tiles)
            if fits(engine, self.board):
                return self._cost(picked), (engine, self.of_all.each(tiles))
            excess = round(2 * engine.resources.bram) - self.halves
            largest = int(self.tiles.others[picked].max())
            left = min(left, largest) - max(1, excess)
        return None

    def _too_small(self) -> BadInput:
        part = self.board.room
        return BadInput(
            f"board {self.board.name}: design {self.name}, phase {self.base.phase}: no tiles fit "
            f"{part.block_rams:,} RAMB36 and {part.luts:,} LUT of {part.name}: allowed are fewer "
            "units (n_cu) or a larger part"
        )


Leaf = tuple[PlannedEngine, list[Tile]]
