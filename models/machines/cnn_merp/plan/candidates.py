"""Every tile of a work that can matter: what it costs, and what it asks of the on-chip memory.

Parts of as many input maps as any equal cut has, and of as many output maps; and output parts of
whole groups of units by equal cuts, which leave no unit idle but in the last. A folded layer, which
has thousands of maps, has of its output parts only these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from merp.models.machines.cnn_merp.plan.cost import Numbers, cost_by
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.sized import Sized
from merp.models.machines.cnn_merp.plan.terms import Figure, Structure, Terms, spread
from merp.models.machines.cnn_merp.plan.work import PhaseWork

Counts = NDArray[np.int64]


@lru_cache(maxsize=1 << 12)
def part_sizes(maps: int, most: int | None = None) -> tuple[int, ...]:
    """Sizes up to ``most`` that equal parts of ``maps`` can have, largest first.

    Without ``most`` the largest is ``maps``.
    """
    sizes, size = [], maps if most is None else min(maps, most)
    while size:
        parts = -(-maps // size)
        sizes.append(-(-maps // parts))
        size = (maps - 1) // parts  # the largest size that makes one part more
    return tuple(sizes)


def equal_groups(maps: int, units: int, most: int | None = None) -> list[int]:
    """Sizes of parts whose groups of units are full, but for the last; equal ones in groups.

    ``most`` is the largest number of groups.

    Of sizes that make as many parts the smallest will do. But for the last bits of state in a part
    they all move the same, and a pass's time is convex in its groups: the parts of the smallest are
    the most alike, and ask for the least memory.
    """
    return [min(maps, groups * units) for groups in part_sizes(-(-maps // units), most)]


NONE_HAS = 1 << 60
"""More RAMB18 than any part has. A small multiple of it still fits into 64 bits."""


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
    """Tiles of works, an element for each, in order: of each work the best by the goal first.

    Attributes:
        work: place of it. inputs, outputs: maps of the largest parts.
        kernel_words, row_words: that the kernel memories and the banks must have.
        others: RAMB18 of all other memories, if this were the only layer.
        bytes, seconds: of all passes and groups.
    """

    work: Counts
    inputs: Counts
    outputs: Counts
    kernel_words: Counts
    row_words: Counts
    others: Counts
    bytes: Numbers
    seconds: Numbers


def candidates(
    works: Sequence[PhaseWork], board: Board, goal: str, base: PlannedEngine, sizes: Sizes
) -> Candidates:
    """Return the tiles of works within the largest of ``sizes``, by work, then by their cost.

    ``base`` has the structure of the engine. The search asks only whether a tile is within one of
    ``sizes``, and what it leaves. Where tiles are many, of those that it cannot tell apart the best
    is listed alone.
    """
    keys = ["work", "bytes", "seconds"] if goal == "bytes" else ["work", "seconds", "bytes"]
    found = []
    for tiles in _at_once(works, goal, base, sizes):
        priced = _priced(board, goal, base, tiles, sizes)
        if priced["work"].size > _FEW:
            order = np.lexsort([priced[key] for key in reversed(keys)])
            alike = _alike(priced, sizes)[order]
            order = order[np.sort(np.unique(alike, return_index=True)[1])]
            priced = {name: values[order] for name, values in priced.items()}
        found.append(priced)
    whole = {name: np.concatenate([priced[name] for priced in found]) for name in found[0]}
    order = np.lexsort([whole[key] for key in reversed(keys)])
    return Candidates(**{name: values[order] for name, values in whole.items()})


def _alike(tiles: Mapping[str, Counts], sizes: Sizes, *more: str) -> Counts:
    """A number for each tile: the same for those of a work that the search cannot tell apart.

    ``more``: fields that those have in common, too.
    """
    numbers = [(tiles[name], tiles[name].max(initial=0) + 1) for name in ("work", "others", *more)]
    for name, words in sizes._asdict().items():
        numbers.append((np.searchsorted(words, tiles[name]), words.size))
    return _joined(numbers)


_LARGEST = 1 << 62
"""The largest number that ``_joined`` computes; one bit of 64 is left."""


def _joined(numbers: Sequence[tuple[Counts, int]]) -> Counts:
    """Join several numbers at each place into one; two are equal if all of their numbers are.

    numbers: the values, from 0 on, and a limit that is above all of them.
    """
    found, limit = np.zeros_like(numbers[0][0]), 1
    for values, above in numbers:
        if limit * int(above) > _LARGEST:
            found = np.unique(found, return_inverse=True)[1]
            limit = found.size
        found = found * above + values
        limit *= int(above)
    return found


class _Tiles(NamedTuple):
    """Tiles of works of one structure: the terms, and an element for each tile.

    Attributes:
        work: place of it. inputs, outputs: maps of the largest parts.
    """

    terms: Terms
    work: Counts
    inputs: Counts
    outputs: Counts


def _at_once(
    works: Sequence[PhaseWork], goal: str, base: PlannedEngine, sizes: Sizes
) -> Iterator[_Tiles]:
    """Tiles that kernel memories and banks have room for, as many as are priced at once."""
    alike: dict[Structure, list[tuple[int, Counts, Counts]]] = {}
    for place, work in enumerate(works):
        some = alike.setdefault(work.terms.has, [])
        for inputs, outputs in _within(work, goal, base, sizes):
            if some and sum(each.size for _, each, _ in some) + inputs.size > _CELLS:
                yield _together(works, some)
                some.clear()
            some.append((place, inputs, outputs))
    for some in alike.values():
        yield _together(works, some)


def _together(works: Sequence[PhaseWork], some: Sequence[tuple[int, Counts, Counts]]) -> _Tiles:
    places, inputs, outputs = zip(*some, strict=True)
    many = [each.size for each in inputs]
    terms = spread([works[place].terms for place in places], many)
    maps = (np.concatenate(each) for each in (inputs, outputs))
    return _Tiles(terms, np.repeat(places, many), *maps)


def _within(
    work: PhaseWork, goal: str, base: PlannedEngine, sizes: Sizes
) -> Iterator[tuple[Counts, Counts]]:
    """Input maps and output maps of tiles that kernel memories and banks have room for."""
    inputs, outputs = part_maps(work, sizes)
    if goal == "bytes":
        outputs = _in_fewest_parts(work, base, outputs)
    groups = -(-outputs // work.engine.n_cu)
    for rows, columns in _bands(inputs, groups, sizes):
        kernel_words = np.multiply.outer(inputs[rows], groups[columns])
        row, column = np.nonzero(kernel_words <= sizes.kernel_words[-1])
        yield inputs[rows][row], outputs[columns][column]


def part_maps(work: PhaseWork, sizes: Sizes) -> tuple[Counts, Counts]:
    """The sizes that parts of the input maps may have, and those of the output maps, ascending.

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
    inputs = np.array(part_sizes(work.inputs, most)[::-1], np.int64)
    return inputs, _output_sizes(work.outputs, engine.n_cu, groups, work.folded)


@lru_cache(maxsize=1 << 12)
def _output_sizes(maps: int, units: int, most: int, folded: bool) -> Counts:
    """Sizes of parts of the output maps of at most so many groups of units, ascending."""
    sizes = set(equal_groups(maps, units, most))
    if not folded:
        sizes.update(part_sizes(maps, most * units))
    found = np.array(sorted(sizes), np.int64)
    found.setflags(write=False)  # the cache hands it out again
    return found


def _in_fewest_parts(work: PhaseWork, base: PlannedEngine, outputs: Counts) -> Counts:
    """Leave out sizes of output parts that move more bytes than another one in as much memory.

    The sizes ascend. Memory follows from the groups of units and from un-pooling. Each part reads
    all inputs again, while the state of a part is filled up by less than a byte.
    """
    groups, parts = -(-outputs // work.engine.n_cu), -(-work.outputs // outputs)
    asked = np.stack((groups, _of_outputs(work.terms, base, outputs)))
    last = np.append((np.diff(asked) != 0).any(axis=0), True)  # of those that ask for as much
    fewest = parts[last][np.cumsum(last) - last]
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
    board: Board, goal: str, base: PlannedEngine, tiles: _Tiles, sizes: Sizes
) -> dict[str, Numbers]:
    """The fields of ``Candidates`` for the tiles that fit beside the other memories."""
    terms, work, inputs, outputs = tiles
    groups = -(-outputs // terms.engine.n_cu)
    row_words = -(-terms.of.columns // terms.engine.k) * terms.engine.map_words(inputs)
    others = _others(terms, base, inputs, outputs, groups)
    found = {
        "work": work,
        "inputs": inputs,
        "outputs": outputs,
        "kernel_words": inputs * groups,
        "row_words": row_words,
        "others": others,
    }
    inside = (row_words <= sizes.row_words[-1]) & (others <= 2 * board.room.block_rams)
    places = np.flatnonzero(inside)
    if goal == "bytes":
        some = {name: values[places] for name, values in found.items()}
        places = places[_most_inputs(some, sizes)]
    found = {name: values[places] for name, values in found.items()}
    moved, seconds = totals(terms.some(places), board, found["inputs"], found["outputs"])
    return found | {"bytes": moved, "seconds": seconds}


def _most_inputs(tiles: Mapping[str, Counts], sizes: Sizes) -> Counts:
    """Places of the tiles that have the most input maps among those that are alike, ascending.

    Tiles are alike if the search cannot tell them apart and they have as many output maps. They
    come with their input maps ascending, and the last one moves the fewest bytes: each part of the
    inputs reads the deltas again, or reads and writes partial sums of all outputs.
    """
    alike = _alike(tiles, sizes, "outputs")
    last = np.unique(alike[::-1], return_index=True)[1]
    return np.sort(alike.size - 1 - last)


def _others(
    work: Terms, base: PlannedEngine, inputs: Counts, outputs: Counts, groups: Counts
) -> Counts:
    """RAMB18 beside the kernel memories and the banks.

    They are at least ``NONE_HAS`` where a memory needs more words than the hardware can have.
    """
    design, has, of = base.design, work.has, work.of
    words: dict[str, Any] = {"groups": groups, "fifo_words": fifo_words(inputs, groups, design)}
    if has.pools:
        words["pool_words"] = pool_words(of.pooled_columns, groups, design)
    sized = cast(EngineDesign, Sized(design, **words))
    found = _of_outputs(work, base, outputs) + np.zeros_like(inputs)
    for memory in delta_memories(sized) if has.phase == "ku" else sum_memories(sized):
        found += halves_of(memory)
    if base.unpool is not None and has.undoes and has.phase == "dp" and has.pooled:
        elements = work.engine.taps if has.folded else 1
        found += _undoing(base.unpool, of.undone_columns, inputs, elements)
    for name, count in words.items():
        found[count > RANGES[name][1]] = NONE_HAS
    return found


def _of_outputs(work: Terms, base: PlannedEngine, outputs: Counts) -> Counts:
    """RAMB18 that un-pooling takes for output maps, as ``_others`` has them."""
    has, of = work.has, work.of
    found = np.zeros_like(outputs)
    if base.unpool is not None and has.undoes and (has.phase == "ku" or not has.pooled):
        maps = outputs if has.phase == "ku" else -(-outputs * of.undone_maps // of.outputs)
        found += _undoing(base.unpool, of.undone_columns, maps)
    if base.add_unpool is not None and has.starts:
        found += _undoing(base.add_unpool, of.start_columns, outputs)
    return found


def _undoing(unpool: UnpoolDesign, columns: Figure, maps: Counts, elements: int = 1) -> Counts:
    """RAMB18 that un-pooling takes for maps of a number of pooled columns, 0 without pooling.

    elements: of each map.
    """
    words = np.maximum(1, unpool_words(columns, maps, unpool.overlap))
    halves = np.zeros_like(words)
    if np.any(columns):
        halves = halves_of(unpool_memory(cast(UnpoolDesign, Sized(unpool, words=words))))
    most = np.maximum(words / UNPOOL_RANGES["words"][1], maps / UNPOOL_RANGES["max_maps"][1])
    return np.where(most * elements <= 1, halves, NONE_HAS)


def totals(work: Terms, board: Board, inputs: Counts, outputs: Counts) -> tuple[Numbers, Numbers]:
    """Bytes and seconds of all passes and groups, an element for each tile.

    inputs, outputs: sizes, of as many dimensions, which broadcast. What the engine has several of
    has three dimensions more, and comes first in the seconds.

    Of each tile six kinds of passes are priced at once: of the first part of the input maps, which
    may be the only one, of one in the middle and of the last of several; with a full part of the
    output maps and with the last one.
    """
    of = work.of
    in_parts, out_parts = -(-of.inputs // inputs), -(-of.outputs // outputs)
    in_rest = of.inputs - (in_parts - 1) * inputs
    out_rest = of.outputs - (out_parts - 1) * outputs
    one = in_parts == 1
    in_count = np.array((np.ones_like(inputs), np.maximum(in_parts - 2, 0), ~one))[:, np.newaxis]
    out_count = np.array((out_parts - 1, np.ones_like(outputs)))
    first = np.reshape([True, False, False], (3, *[1] * (inputs.ndim + 1)))
    cost = cost_by(
        work,
        board,
        np.array((inputs, inputs, in_rest))[:, np.newaxis],
        np.array((outputs, out_rest)),
        first,
        np.array((one, np.zeros_like(one), np.ones_like(one)))[:, np.newaxis],
    )
    count = of.groups * in_count * out_count.astype(np.float64)
    for each in (cost.bytes, cost.seconds):
        each *= count
    passes = (-2 - inputs.ndim, -1 - inputs.ndim)
    return cost.bytes.sum(passes), np.round(cost.seconds.sum(passes), 9)
