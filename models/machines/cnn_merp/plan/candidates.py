"""All useful tiles of a work, with their cost and their on-chip memory.

A tile has a part of the input maps and a part of the output maps. The sizes of the parts are those
of equal cuts of the maps. For output maps, equal cuts into whole groups of units are added; they
leave no unit idle except in the last part. A folded layer has thousands of maps; its output parts
have only the latter sizes.
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
    """Return the sizes up to ``most`` of equal parts of ``maps``, largest first.

    Without ``most`` the largest is ``maps``.
    """
    sizes, size = [], maps if most is None else min(maps, most)
    while size:
        parts = -(-maps // size)
        sizes.append(-(-maps // parts))
        size = (maps - 1) // parts  # the largest size with one part more
    return tuple(sizes)


def equal_groups(maps: int, units: int, most: int | None = None) -> list[int]:
    """Return sizes of parts with full groups of units, except the last, and equal group counts.

    ``most`` is the largest number of groups.

    Of several sizes with the same number of parts, the smallest is sufficient. They all move the
    same bytes, except the last bits of the mask in a part. A pass's time is convex in its groups.
    The parts of the smallest size are the most even, and need the least memory.
    """
    return [min(maps, groups * units) for groups in part_sizes(-(-maps // units), most)]


NONE_HAS = 1 << 60
"""More RAMB18 than any part has. A small multiple of it still fits 64 bits."""


def halves_of(memory: Memory) -> Counts:
    """Return the RAMB18 of memories whose words are an array, with an element for each tile.

    Each number of words is calculated once; sizes that no tile uses are not calculated.
    """
    words = np.asarray(memory.words)
    if memory.at_once:
        return np.zeros(words.shape, np.int64)
    sizes, places = np.unique(words, return_inverse=True)
    halves = [mapped(int(size), memory.bits).halves for size in sizes]
    return memory.count * np.array(halves, np.int64)[places].reshape(words.shape)


class Sizes(NamedTuple):
    """Sizes of kernel memories and of rows of banks that the search distinguishes, ascending.

    The sizes are in words. The last one of each is the largest that the part and the hardware
    allow.
    """

    kernel_words: Counts
    row_words: Counts


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Tiles of works, as arrays with an element for each tile, ordered by work, best by the goal
    first.

    Attributes:
        work: index of the work.
        inputs, outputs: maps of the largest parts.
        kernel_words, row_words: minimum words of the kernel memories and the banks.
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

    ``base`` has the structure of the engine. The search only checks whether a tile is within one of
    ``sizes``, and the remaining memory. If there are many tiles, only the best of several tiles is
    listed that the search cannot distinguish.
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
    """Return a number for each tile; it is equal for tiles of a work that the search cannot
    distinguish.

    ``more``: further fields in which such tiles must be equal.
    """
    numbers = [(tiles[name], tiles[name].max(initial=0) + 1) for name in ("work", "others", *more)]
    for name, words in sizes._asdict().items():
        numbers.append((np.searchsorted(words, tiles[name]), words.size))
    return _joined(numbers)


_LARGEST = 1 << 62
"""The largest number that ``_joined`` computes; one bit of 64 remains."""


def _joined(numbers: Sequence[tuple[Counts, int]]) -> Counts:
    """Join several numbers at each place into one; results are equal if all of their numbers are.

    numbers: the values, from 0 on, and a limit above all of them.
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
    """Tiles of works of one structure: the terms, and arrays with an element for each tile.

    Attributes:
        work: index of the work.
        inputs, outputs: maps of the largest parts.
    """

    terms: Terms
    work: Counts
    inputs: Counts
    outputs: Counts


def _at_once(
    works: Sequence[PhaseWork], goal: str, base: PlannedEngine, sizes: Sizes
) -> Iterator[_Tiles]:
    """Yield tiles that fit kernel memories and banks, in batches that are priced together."""
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
    """Yield input maps and output maps of tiles that fit kernel memories and banks."""
    inputs, outputs = part_maps(work, sizes)
    if goal == "bytes":
        outputs = _in_fewest_parts(work, base, outputs)
    groups = -(-outputs // work.engine.n_cu)
    for rows, columns in _bands(inputs, groups, sizes):
        kernel_words = np.multiply.outer(inputs[rows], groups[columns])
        row, column = np.nonzero(kernel_words <= sizes.kernel_words[-1])
        yield inputs[rows][row], outputs[columns][column]


def part_maps(work: PhaseWork, sizes: Sizes) -> tuple[Counts, Counts]:
    """Return the possible sizes of parts of the input maps and of the output maps, ascending.

    The part limits both sizes, independent of the layer. A kernel memory has a word for each input
    map and group of units. Therefore its words limit a part of the input maps, and the groups of a
    part of the output maps. The rows of the banks also limit the input maps. So a tile that is not
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
    """Return the sizes of parts of the output maps of at most ``most`` groups of units,
    ascending.
    """
    sizes = set(equal_groups(maps, units, most))
    if not folded:
        sizes.update(part_sizes(maps, most * units))
    found = np.array(sorted(sizes), np.int64)
    found.setflags(write=False)  # the cache returns it again
    return found


def _in_fewest_parts(work: PhaseWork, base: PlannedEngine, outputs: Counts) -> Counts:
    """Drop sizes of output parts that move more bytes than another size with equal memory.

    The sizes ascend. Memory follows from the groups of units and from un-pooling. Each part reads
    all inputs again, while the mask of a part is filled up by less than a byte.
    """
    groups, parts = -(-outputs // work.engine.n_cu), -(-work.outputs // outputs)
    asked = np.stack((groups, _of_outputs(work.terms, base, outputs)))
    last = np.append((np.diff(asked) != 0).any(axis=0), True)  # the last of equal memory
    fewest = parts[last][np.cumsum(last) - last]
    unsure = fewest >= work.images * work.elements_in
    kept: Counts = outputs[(parts == fewest) | unsure]
    return kept


_CELLS = 1 << 16
"""Largest number of tiles priced together; each temporarily needs about 1 kB."""

_FEW = 1 << 12
"""Number of tiles that are priced together even if most do not fit: fewer take the same time."""


def _bands(inputs: Counts, groups: Counts, sizes: Sizes) -> Iterator[tuple[slice, slice]]:
    """Cut the sizes of both parts, ascending, into bands that contain all tiles within ``sizes``.

    The bands cover the sizes of the input parts one after the other. Each band has all sizes of the
    output parts that fit the kernel memory with its smallest input size. No size of a large band is
    more than twice the smallest one, so that half of its tiles fit.
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
    """Compute the fields of ``Candidates`` for the tiles that fit together with the other
    memories.
    """
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
    """Return the indices of the tiles with the most input maps among equivalent tiles, ascending.

    Tiles are equivalent if the search cannot distinguish them and they have the same output maps.
    Their input maps ascend, and the last one moves the fewest bytes. Each part of the inputs reads
    the deltas again, or reads and writes partial sums of all outputs.
    """
    alike = _alike(tiles, sizes, "outputs")
    last = np.unique(alike[::-1], return_index=True)[1]
    return np.sort(alike.size - 1 - last)


def _others(
    work: Terms, base: PlannedEngine, inputs: Counts, outputs: Counts, groups: Counts
) -> Counts:
    """Return the RAMB18 of all memories except the kernel memories and the banks.

    They are at least ``NONE_HAS`` if a memory needs more words than the hardware allows.
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
    """Return the RAMB18 of un-pooling for output maps, in the form of ``_others``."""
    has, of = work.has, work.of
    found = np.zeros_like(outputs)
    if base.unpool is not None and has.undoes and (has.phase == "ku" or not has.pooled):
        maps = outputs if has.phase == "ku" else -(-outputs * of.undone_maps // of.outputs)
        found += _undoing(base.unpool, of.undone_columns, maps)
    if base.add_unpool is not None and has.starts:
        found += _undoing(base.add_unpool, of.start_columns, outputs)
    return found


def _undoing(unpool: UnpoolDesign, columns: Figure, maps: Counts, elements: int = 1) -> Counts:
    """Return the RAMB18 of un-pooling for maps of pooled columns, 0 without pooling.

    elements: of each map.
    """
    words = np.maximum(1, unpool_words(columns, maps, unpool.overlap))
    halves = np.zeros_like(words)
    if np.any(columns):
        halves = halves_of(unpool_memory(cast(UnpoolDesign, Sized(unpool, words=words))))
    most = np.maximum(words / UNPOOL_RANGES["words"][1], maps / UNPOOL_RANGES["max_maps"][1])
    return np.where(most * elements <= 1, halves, NONE_HAS)


def totals(work: Terms, board: Board, inputs: Counts, outputs: Counts) -> tuple[Numbers, Numbers]:
    """Return bytes and seconds of all passes and groups, an element for each tile.

    inputs, outputs: sizes, of equal dimensions, which broadcast. If engine properties are arrays,
    they have three more dimensions, which come first in the seconds.

    Each tile has up to six kinds of passes, which are priced together. There are three parts of the
    input maps: the first, one in the middle, and the last of several. Each is combined with a full
    part of the output maps and with the last part. The first part of the input maps may be the only
    one.
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
