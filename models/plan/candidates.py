"""Every tile of a work that can matter: what it costs, and what it asks of the on-chip memory.

Parts of as many input maps as any equal cut has, and of as many output maps; and output parts of
whole groups of units by equal cuts, which leave no unit idle but in the last. A folded layer, which
has thousands of maps, has of its output parts only these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from merp.models.fpga.block_ram import mapped
from merp.models.fpga.board import Board
from merp.models.fpga.memories import (
    Memory,
    delta_memories,
    sum_memories,
    unpool_memory,
)
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.sizing import fifo_words, pool_words
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign, unpool_words
from merp.models.plan.cost import Numbers, cost_of
from merp.models.plan.engines import Engine
from merp.models.plan.work import Work

Counts = NDArray[np.int64]

_FIRST = np.reshape([True, False, False], (3, 1, 1, 1))
"""Whether a pass has the first part of the input maps: the first, a middle and the last one."""


def part_sizes(maps: int) -> list[int]:
    """Sizes that equal parts of ``maps`` can have, largest first."""
    sizes, size = [], maps
    while size:
        parts = -(-maps // size)
        sizes.append(-(-maps // parts))
        size = (maps - 1) // parts  # the largest size that makes one part more
    return sizes


def equal_groups(maps: int, units: int) -> list[int]:
    """Sizes of parts whose groups of units are full, but for the last; equal ones in groups.

    Of sizes that make as many parts the smallest will do. But for the last bits of state in a part
    they all move the same, and a pass's time is convex in its groups: the parts of the smallest are
    the most alike, and ask for the least memory.
    """
    return [min(maps, groups * units) for groups in part_sizes(-(-maps // units))]


class _Sized:
    """A design whose maxima are arrays, an element for each tile."""

    def __init__(self, design: Design | UnpoolDesign, **sizes: Any) -> None:
        self._design = design
        self.__dict__.update(sizes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._design, name)


@lru_cache(maxsize=256)
def _steps(bits: int, top: int) -> tuple[Counts, Counts]:
    """Words up to which a memory of ``bits`` bits takes so many RAMB18, as far as ``top``."""
    words = [1, 32, *range(64, min(top, 2048) + 64, 64), *range(2560, top + 512, 512)]
    return np.array(words), np.array([mapped(count, bits).halves for count in words], np.int64)


def halves_of(memory: Memory) -> Counts:
    """RAMB18 of memories whose words are an array, an element for each tile."""
    words = np.asarray(memory.words)
    if memory.at_once:
        return np.zeros(words.shape, np.int64)
    bounds, halves = _steps(memory.bits, 1 << int(words.max() - 1).bit_length())
    return memory.count * halves[np.searchsorted(bounds, words)]


class Limits(NamedTuple):
    """Words of the largest kernel memories, and of the largest rows of banks, that a part holds."""

    kernel_words: int
    row_words: int


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Tiles of a work, an element for each, in order: the best by the goal first.

    Attributes:
        inputs, outputs: maps of the largest parts.
        kernel_words, row_words: that the kernel memories and the banks must have.
        others: RAMB18 of all other memories, if this were the only layer.
        bytes, seconds: of all passes and groups.
    """

    inputs: Counts
    outputs: Counts
    kernel_words: Counts
    row_words: Counts
    others: Counts
    bytes: Numbers
    seconds: Numbers


def candidates(work: Work, board: Board, goal: str, base: Engine, limits: Limits) -> Candidates:
    """Return the tiles of a work within the limits of each memory, by their cost.

    ``base`` has the structure of the engine.
    """
    inputs, outputs = sizes_of(work)
    groups = -(-outputs // work.engine.n_cu)
    row_words = -(-work.least.columns // work.engine.k) * work.engine.map_words(inputs)
    within = (inputs * groups <= limits.kernel_words) & (row_words <= limits.row_words)
    inside = np.flatnonzero(within)
    moved, seconds = (each.ravel()[inside] for each in totals(work, board, inputs, outputs))
    order = np.lexsort((seconds, moved) if goal == "bytes" else (moved, seconds))
    rows, columns = np.divmod(inside[order], outputs.size)
    return Candidates(
        inputs=inputs[rows, 0],
        outputs=outputs[columns],
        kernel_words=inputs[rows, 0] * groups[columns],
        row_words=row_words[rows, 0],
        others=_others(work, base, inputs, outputs, groups)[rows, columns],
        bytes=moved[order],
        seconds=seconds[order],
    )


def sizes_of(work: Work) -> tuple[Counts, Counts]:
    """A column of the sizes that parts of the input maps may have, a row of the output maps'."""
    sizes = set(equal_groups(work.outputs, work.engine.n_cu))
    if not work.folded:
        sizes.update(part_sizes(work.outputs))
    return np.array(sorted(part_sizes(work.inputs)))[:, np.newaxis], np.array(sorted(sizes))


def _others(work: Work, base: Engine, inputs: Counts, outputs: Counts, groups: Counts) -> Counts:
    """RAMB18 beside the kernel memories and the banks."""
    design, pool = base.design, work.least.pool
    sizes: dict[str, Any] = {"groups": groups, "fifo_words": fifo_words(inputs, groups, design)}
    if pool is not None and pool.window > 1:
        sizes["pool_words"] = pool_words(work.shape.pooled_columns, groups, design)
    sized = cast(Design, _Sized(design, **sizes))
    found = delta_memories(sized) if work.phase == "ku" else sum_memories(sized)
    all_maps = work.unpooled(work.inputs, work.outputs)
    if base.unpool is not None and all_maps is not None:
        maps = outputs if work.phase == "ku" else inputs
        if work.phase == "dp" and not work.pooled:
            maps = -(-outputs * all_maps[1] // work.outputs)
        words = unpool_words(all_maps[0], maps, base.unpool.overlap)
        found.append(unpool_memory(cast(UnpoolDesign, _Sized(base.unpool, words=words))))
    if base.add_unpool is not None and work.start is not None:
        words = unpool_words(work.start, outputs, base.add_unpool.overlap)
        found.append(unpool_memory(cast(UnpoolDesign, _Sized(base.add_unpool, words=words))))
    return sum((halves_of(memory) for memory in found), np.zeros_like(inputs))


def totals(work: Work, board: Board, inputs: Counts, outputs: Counts) -> tuple[Numbers, Numbers]:
    """Bytes and seconds of all passes and groups, an element for each tile.

    inputs: a column of sizes. outputs: a row of them.

    Of each tile six kinds of passes are priced at once: of the first part of the input maps, which
    may be the only one, of one in the middle and of the last of several; with a full part of the
    output maps and with the last one.
    """
    in_parts, out_parts = -(-work.inputs // inputs), -(-work.outputs // outputs)
    in_rest = work.inputs - (in_parts - 1) * inputs
    out_rest = work.outputs - (out_parts - 1) * outputs
    one = in_parts == 1
    in_count = np.stack((np.ones_like(inputs), np.maximum(in_parts - 2, 0), ~one))[:, np.newaxis]
    out_count = np.stack((out_parts - 1, np.ones_like(outputs)))[:, np.newaxis]
    cost = cost_of(
        work,
        board,
        np.stack((inputs, inputs, in_rest))[:, np.newaxis],
        np.stack((outputs, out_rest))[:, np.newaxis],
        _FIRST,
        np.stack((one, np.zeros_like(one), np.ones_like(one)))[:, np.newaxis],
    )
    count = work.layer.groups * in_count * out_count.astype(np.float64)
    for each in (cost.bytes, cost.seconds):
        each *= count
    return cost.bytes.sum((0, 1)), np.round(cost.seconds.sum((0, 1)), 9)
