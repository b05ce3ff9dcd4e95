"""Every tile of a work that can matter: what it costs, and what it asks of the on-chip memory.

Parts of as many input maps as any equal cut has, and of as many output maps; and output parts of
whole groups of units by equal cuts, which leave no unit idle but in the last. A folded layer, which
has thousands of maps, has of its output parts only these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from merp.models.fpga.block_ram import mapped
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.fpga.memories import (
    Memory,
    delta_memories,
    sum_memories,
    unpool_memory,
)
from merp.models.machines.cnn_merp.params.design import RANGES, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import fifo_words, pool_words
from merp.models.machines.cnn_merp.params.unpool_design import RANGES as UNPOOL_RANGES
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, unpool_words
from merp.models.machines.cnn_merp.plan.cost import Numbers, cost_of
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.sized import Sized
from merp.models.machines.cnn_merp.plan.work import PhaseWork

Counts = NDArray[np.int64]

_FIRST = np.reshape([True, False, False], (3, 1, 1, 1))
"""Whether a pass has the first part of the input maps: the first, a middle and the last one."""


def part_sizes(maps: int, most: int | None = None) -> list[int]:
    """Sizes up to ``most`` that equal parts of ``maps`` can have, largest first.

    Without ``most`` the largest is ``maps``.
    """
    sizes, size = [], maps if most is None else min(maps, most)
    while size:
        parts = -(-maps // size)
        sizes.append(-(-maps // parts))
        size = (maps - 1) // parts  # the largest size that makes one part more
    return sizes


def equal_groups(maps: int, units: int, most: int | None = None) -> list[int]:
    """Sizes of parts whose groups of units are full, but for the last; equal ones in groups.

    ``most`` is the largest number of groups.

    Of sizes that make as many parts the smallest will do. But for the last bits of state in a part
    they all move the same, and a pass's time is convex in its groups: the parts of the smallest are
    the most alike, and ask for the least memory.
    """
    return [min(maps, groups * units) for groups in part_sizes(-(-maps // units), most)]


NONE_HAS = 1 << 62
"""RAMB18 that no part has."""


def halves_of(memory: Memory) -> Counts:
    """RAMB18 of memories whose words are an array, an element for each tile.

    Each number of words is looked up once: a size that no tile asks for costs nothing.
    """
    words = np.asarray(memory.words)
    if memory.at_once:
        return np.zeros(words.shape, np.int64)
    sizes, places = np.unique(words, return_inverse=True)
    halves = [mapped(int(size), memory.bits).halves for size in sizes]
    return memory.count * np.array(halves, np.int64)[places].reshape(words.shape)


class Sizes(NamedTuple):
    """Words of kernel memories, and of rows of banks, that the search tells apart, ascending.

    The last one of each is the largest that the part and the hardware have.
    """

    kernel_words: Counts
    row_words: Counts


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


def behind_each_other(listed: Sequence[Candidates]) -> Candidates:
    """Candidates of several works as one list, those of the first work first."""
    names = (each.name for each in fields(Candidates))
    together = {name: np.concatenate([getattr(each, name) for each in listed]) for name in names}
    return Candidates(**together)


def candidates(
    work: PhaseWork, board: Board, goal: str, base: PlannedEngine, sizes: Sizes
) -> Candidates:
    """Return the tiles of a work within the largest of ``sizes``, by their cost.

    ``base`` has the structure of the engine. The search asks only whether a tile is within one of
    ``sizes``, and what it leaves. Where tiles are many, of those that it cannot tell apart the best
    is listed alone.
    """
    inputs, outputs = part_maps(work, sizes)
    if goal == "bytes":
        outputs = _in_fewest_parts(work, base, outputs)
    keys = ("seconds", "bytes") if goal == "bytes" else ("bytes", "seconds")
    found = []
    for rows, columns in _bands(inputs[:, 0], -(-outputs // work.engine.n_cu), sizes):
        tiles = _priced(work, board, base, inputs[rows], outputs[columns], sizes)
        order = np.lexsort([tiles[key] for key in keys])
        if order.size > _FEW:
            order = order[_told_apart(tiles, order, sizes)]
        found.append({name: values[order] for name, values in tiles.items()})
    if len(found) == 1:
        return Candidates(**found[0])
    whole = {name: np.concatenate([tiles[name] for tiles in found]) for name in found[0]}
    order = np.lexsort([whole[key] for key in keys])
    return Candidates(**{name: values[order] for name, values in whole.items()})


def _told_apart(tiles: dict[str, Numbers], order: Counts, sizes: Sizes) -> Counts:
    """Places in ``order``, ascending, of the first tile of each that the search can tell apart."""
    alike = tiles["others"][order]
    for name, words in sizes._asdict().items():
        alike = alike * words.size + np.searchsorted(words, tiles[name][order])
    return np.sort(np.unique(alike, return_index=True)[1])


def part_maps(work: PhaseWork, sizes: Sizes) -> tuple[Counts, Counts]:
    """A column of the sizes that parts of the input maps may have, a row of the output maps'.

    The part bounds both, and not the layer. A kernel memory has a word for each input map and group
    of units: no part of the input maps, and no number of groups of a part of the output maps, is
    above its words. The rows of the banks bound the input maps once more. So a tile that is not
    listed fits none of ``sizes``, and the best tile that fits is listed.
    """
    engine = work.engine
    kernel_words, row_words = int(sizes.kernel_words[-1]), int(sizes.row_words[-1])
    of_a_map = -(-work.least.columns // engine.k)
    most = min(kernel_words, row_words // of_a_map * engine.map_port, RANGES["max_maps"][1])
    groups = min(kernel_words, RANGES["groups"][1])
    outputs = set(equal_groups(work.outputs, engine.n_cu, groups))
    if not work.folded:
        outputs.update(part_sizes(work.outputs, groups * engine.n_cu))
    inputs = sorted(part_sizes(work.inputs, most))
    return np.array(inputs, np.int64)[:, np.newaxis], np.array(sorted(outputs), np.int64)


def _in_fewest_parts(work: PhaseWork, base: PlannedEngine, outputs: Counts) -> Counts:
    """Leave out sizes of output parts, ascending, that move more than one of as many groups.

    The sizes of as many groups of units ask for the same memory where that is by the group. Each
    part reads all inputs; against it, the state of a part is filled up by less than a byte.
    """
    expanding = base.unpool is not None and (work.phase == "ku" or not work.pooled)
    if expanding or (base.add_unpool is not None and work.start is not None):
        return outputs
    groups, parts = -(-outputs // work.engine.n_cu), -(-work.outputs // outputs)
    fewest = parts[np.searchsorted(groups, groups, side="right") - 1]
    unsure = fewest >= work.images * work.elements_in
    kept: Counts = outputs[(parts == fewest) | unsure]
    return kept


_CELLS = 1 << 16
"""Tiles that are priced at once, at most: each takes some 1 kB meanwhile."""

_FEW = 1 << 12
"""Tiles that are priced at once, even if most do not fit: fewer take as long."""


def _bands(inputs: Counts, groups: Counts, sizes: Sizes) -> Iterator[tuple[slice, slice]]:
    """Cut the sizes of both parts, ascending, into bands that hold all tiles within ``sizes``.

    Sizes of the input parts one after the other, each band with as many sizes of the output parts
    as fit the kernel memory beside the smallest of them. No size of a large band is more than twice
    the smallest one, so that half of its tiles fit.
    """
    fitting = np.searchsorted(groups, sizes.kernel_words[-1] // inputs, side="right")
    row = 0
    while row < inputs.size:
        width = int(fitting[row])
        alike = int(np.searchsorted(inputs, 2 * inputs[row], side="right")) - row
        height = min(max(alike, _FEW // width), max(1, _CELLS // width))
        yield slice(row, row + height), slice(width)
        row += height


def _priced(
    work: PhaseWork,
    board: Board,
    base: PlannedEngine,
    inputs: Counts,
    outputs: Counts,
    sizes: Sizes,
) -> dict[str, Numbers]:
    """The fields of ``Candidates`` of the tiles within ``sizes``, in the order of the parts."""
    groups = -(-outputs // work.engine.n_cu)
    kernel_words = inputs * groups
    row_words = -(-work.least.columns // work.engine.k) * work.engine.map_words(inputs)
    others = _others(work, base, inputs, outputs, groups)
    within = (kernel_words <= sizes.kernel_words[-1]) & (row_words <= sizes.row_words[-1])
    within = within & (others <= 2 * board.room.block_rams)
    inside = np.flatnonzero(within)
    rows, columns = np.divmod(inside, outputs.size)
    moved, seconds = totals(work, board, inputs, outputs)
    return {
        "inputs": inputs[rows, 0],
        "outputs": outputs[columns],
        "kernel_words": kernel_words.ravel()[inside],
        "row_words": row_words[rows, 0],
        "others": np.broadcast_to(others, within.shape)[rows, columns],
        "bytes": moved.ravel()[inside],
        "seconds": seconds.ravel()[inside],
    }


def _others(
    work: PhaseWork, base: PlannedEngine, inputs: Counts, outputs: Counts, groups: Counts
) -> Counts:
    """RAMB18 beside the kernel memories and the banks.

    They are ``NONE_HAS`` where a memory has more words than the hardware can have.
    """
    design, pool = base.design, work.least.pool
    sizes: dict[str, Any] = {"groups": groups, "fifo_words": fifo_words(inputs, groups, design)}
    if pool is not None and pool.window > 1:
        sizes["pool_words"] = pool_words(work.shape.pooled_columns, groups, design)
    sized = cast(EngineDesign, Sized(design, **sizes))
    found = delta_memories(sized) if work.phase == "ku" else sum_memories(sized)
    possible = np.ones_like(groups, np.bool_)
    for name in sizes:
        possible = possible & (sizes[name] <= RANGES[name][1])
    all_maps = work.unpooled(work.inputs, work.outputs)
    if base.unpool is not None and all_maps is not None:
        maps = outputs if work.phase == "ku" else inputs
        if work.phase == "dp" and not work.pooled:
            maps = -(-outputs * all_maps[1] // work.outputs)
        words = unpool_words(all_maps[0], maps, base.unpool.overlap)
        found.append(unpool_memory(cast(UnpoolDesign, Sized(base.unpool, words=words))))
        elements = work.engine.taps if work.folded and maps is inputs else 1
        possible = possible & (words * elements <= UNPOOL_RANGES["words"][1])
        possible = possible & (maps * elements <= UNPOOL_RANGES["max_maps"][1])
    if base.add_unpool is not None and work.start is not None:
        words = unpool_words(work.start, outputs, base.add_unpool.overlap)
        found.append(unpool_memory(cast(UnpoolDesign, Sized(base.add_unpool, words=words))))
        possible = possible & (words <= UNPOOL_RANGES["words"][1])
        possible = possible & (outputs <= UNPOOL_RANGES["max_maps"][1])
    halves = sum((halves_of(memory) for memory in found), np.zeros_like(inputs))
    return np.where(possible, halves, NONE_HAS)


def totals(
    work: PhaseWork, board: Board, inputs: Counts, outputs: Counts
) -> tuple[Numbers, Numbers]:
    """Bytes and seconds of all passes and groups, an element for each tile.

    inputs: a column of sizes. outputs: a row of them. What the engine has several of, in arrays of
    five dimensions, comes first in the seconds.

    Of each tile six kinds of passes are priced at once: of the first part of the input maps, which
    may be the only one, of one in the middle and of the last of several; with a full part of the
    output maps and with the last one.
    """
    in_parts, out_parts = -(-work.inputs // inputs), -(-work.outputs // outputs)
    in_rest = work.inputs - (in_parts - 1) * inputs
    out_rest = work.outputs - (out_parts - 1) * outputs
    one = in_parts == 1
    in_count = np.array((np.ones_like(inputs), np.maximum(in_parts - 2, 0), ~one))[:, np.newaxis]
    out_count = np.array((out_parts - 1, np.ones_like(outputs)))[:, np.newaxis]
    cost = cost_of(
        work,
        board,
        np.array((inputs, inputs, in_rest))[:, np.newaxis],
        np.array((outputs, out_rest))[:, np.newaxis],
        _FIRST,
        np.array((one, np.zeros_like(one), np.ones_like(one)))[:, np.newaxis],
    )
    count = work.layer.groups * in_count * out_count.astype(np.float64)
    for each in (cost.bytes, cost.seconds):
        each *= count
    return cost.bytes.sum((-4, -3)), np.round(cost.seconds.sum((-4, -3)), 9)
