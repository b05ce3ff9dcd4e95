"""Cycle model of the flow control of both backward phases in one pass: two halves and their fork.

A word of delta passes the fork when both halves have room for it. The halves follow the rules of
``flow``, ``position_flow`` and ``row_flow``. Here each half advances word by word, as its deltas
arrive. Sums of delta propagation wait in a FIFO for the port. Slots of delta propagation wait for
places in this FIFO, as in ``fused_flow``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.delta_shape import delta_shape
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.flow import keep_and_need
from merp.models.machines.cnn_merp.leaving_sums import (
    STALLS,
    WORD,
    LeavingSums,
    leave,
    place_for,
    sums_behind,
)
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    delta_beats,
    revisit_cycles,
    row_rest,
    sweeps_of,
)
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL, DELTA_LEAD, DELTA_RELEASE
from merp.models.machines.cnn_merp.params.sizing import groups_of
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.slots import pairs

Times = NDArray[np.int64]
"""Cycles, counted from the first map word on."""

FORK_PLACES = CREDIT_RETURN + 1  # in front of either half, in addition to the half's own registers
UNPOOL_LEAD = 1
"""From the first map word to the first delta at the fork without pooling. With un-pooling, the
latency of its sums is added.
"""

KERNEL_RETURN = 2
"""From an old kernel that was read back to the read of its gradient."""

ROWS = 2  # of deltas that an update by row stores
POSITIONS = 2  # that an update by position stores


class _Maps(NamedTuple):
    """The maps of a half, and the slots of their windows.

    Attributes:
        positions: as returned by ``keep_and_need``.
        starts, sizes: of groups of interleaved positions.
        channels: number of maps.
        columns: of the maps.
        kept: stored rows.
        groups: slots of a window.
        distance: cycles between slots of an accumulator.
        rest: idle cycles after a position.
        accepted: cycle of each word.
        opening: first cycle in which each position may begin.
        last: last slot of either position of a pair.
        oldest: first cycle in which each pair is the oldest that needs its words.
        sums: the outputs of its slots.
    """

    positions: Times
    starts: Times
    sizes: Times
    channels: int
    columns: int
    kept: int
    groups: int
    distance: int
    rest: int
    accepted: Times
    opening: Times
    last: Times
    oldest: Times
    sums: LeavingSums


class _At(NamedTuple):
    """Progress of a half.

    Attributes:
        pair, lane, channel: of the next window.
        free: first cycle in which it may be issued.
        word: the next word of the maps.
        gate: the pair that was the oldest when the last word arrived.
        first: first slot.
        waits, hazards: cycles without a slot.
    """

    pair: int
    lane: int
    channel: int
    free: int
    word: int
    gate: int
    first: int
    waits: int
    hazards: int


class _PositionRows(NamedTuple):
    """Rows of positions that an update processes.

    Attributes:
        need, keep: map rows, of each row of positions.
        words: of a map row.
        kept: stored map rows.
        sweeps: of a row.
        columns: slots of a sweep.
        rest: idle cycles after a sweep.
        written: cycle of each map row's last word.
        last: cycle of each row's last slot.
    """

    need: Times
    keep: Times
    words: int
    kept: int
    sweeps: int
    columns: int
    rest: int
    written: Times
    last: Times


@compiled()
def _permitted(maps: _Maps, pair: int, word: int) -> bool:
    """Return whether a word is permitted while ``pair`` is the oldest that needs its words."""
    if pair == len(maps.starts):
        return True
    row, column = divmod(word // maps.channels, maps.columns)
    first, following, first_column = maps.positions[maps.starts[pair], 2:]
    return bool(row < first + maps.kept or (row < following + maps.kept and column < first_column))


@compiled()
def _accept(maps: _Maps, at: _At, earliest: int) -> _At:
    """Accept the next word; the pairs in front of the pair that permits it have been issued."""
    gate = at.gate
    while not _permitted(maps, gate, at.word):
        gate += 1
    before = maps.accepted[at.word - 1] + 1 if at.word else earliest
    maps.accepted[at.word] = max(before, earliest, maps.oldest[gate])
    return _At(
        at.pair, at.lane, at.channel, at.free, at.word + 1, gate, at.first, at.waits, at.hazards
    )


@compiled()
def _issue(maps: _Maps, at: _At, comes: int) -> _At:
    """Issue the next window; its missing words arrive from cycle ``comes`` on."""
    position = maps.starts[at.pair] + at.lane
    need = maps.positions[position, 0] * maps.columns + maps.positions[position, 1]
    word = need * maps.channels + at.channel
    while at.word <= word:
        at = _accept(maps, at, comes)
    there = maps.accepted[word] + DELTA_ARRIVAL
    begun = int(at.pair + at.lane + at.channel > 0)
    if at.channel == 0:
        there = max(there, maps.opening[position])
        slot = max(at.free + maps.rest * begun, there)
    else:
        slot = max(at.free, there, maps.last[at.lane] + maps.distance)
    waits = max(0, there - at.free) if begun else 0
    sums, stalls = maps.sums, 0
    if len(sums.loaded) and at.channel == maps.channels - 1:
        place = place_for(sums, maps.groups)
        slot = max(slot, place)
        stalls = max(0, place - max(at.free, there)) if begun else 0
        sums.ends[STALLS] += stalls
        leave(sums, maps.groups, slot)
    maps.last[at.lane] = slot
    hazards = slot - at.free - waits - stalls if begun else 0
    pair, lane, channel = at.pair, at.lane + 1, at.channel
    if lane == maps.sizes[pair]:
        lane, channel = 0, channel + 1
    if channel == maps.channels:
        pair, channel = pair + 1, 0
        maps.oldest[pair] = slot + 1
    return _At(
        pair, lane, channel, slot + maps.groups, at.word, at.gate,
        at.first if begun else slot, at.waits + waits, at.hazards + hazards,
    )  # fmt: skip


@compiled()
def _sweep(rows: _PositionRows, at: _At, deltas: int) -> _At:
    """Issue the next row of positions, whose deltas are available from cycle ``deltas`` on."""
    row, units, oldest = at.pair, at.word, at.gate
    while units <= rows.need[row]:
        while oldest < len(rows.keep) and rows.keep[oldest] + rows.kept <= units:
            oldest += 1
        begin = rows.written[units - 1] + 1 if units else 0
        if oldest:
            begin = max(begin, rows.last[oldest - 1] + 1)
        rows.written[units] = begin + rows.words - 1
        units += 1
    there = max(rows.written[rows.need[row]] + 1, deltas)
    slot = max(at.free + (rows.rest if row else 0), there)
    rows.last[row] = slot + rows.sweeps * (rows.columns + rows.rest) - rows.rest - 1
    waits = max(0, there - at.free) if row else 0
    first = at.first if row else slot
    hazards = rows.last[row] + 1 - at.free - rows.sweeps * rows.columns - waits
    return _At(
        row + 1, 0, 0, rows.last[row] + 1, units, oldest, first, at.waits + waits,
        at.hazards + hazards if row else rows.sweeps * rows.rest - rows.rest,
    )  # fmt: skip


@compiled()
def _walk(
    half: _Maps,
    places: Times,
    update: _Maps,
    rows: _PositionRows,
    in_rows: bool,
    deltas: int,
    n_cu: int,
    delta_rest: int,
    lead: int,
    awaited: Times,
) -> tuple[_At, _At]:
    """Process every delta.

    places: index of each delta among the words of the first half's maps. deltas: of a position.
    lead: cycle in which the first delta arrives at the fork, if it waits for one word alone.
    awaited: number of words that come before the last one that each delta waits for.
    """
    one = other = _At(0, 0, 0, 0, 0, 0, 0, 0, 0)
    pushed = lead - 1
    never = min(lead, -DELTA_LEAD) - 2
    heads = np.full((2, FORK_PLACES), never)  # cycle in which a word left each FIFO's memory
    taken = np.full(2, never)
    rests_until = -DELTA_LEAD
    for index in range(len(places)):
        at = index % FORK_PLACES
        pushed = max(pushed + 1, lead + awaited[index], heads[0, at] + 2, heads[1, at] + 2)
        for branch in range(2):
            heads[branch, at] = max(pushed + 1, taken[branch])

        while one.word <= places[index]:  # the zeros in front of it, and itself
            comes = heads[0, at] + 1 if one.word == places[index] else lead
            while not _permitted(half, one.pair, one.word):
                one = _issue(half, one, lead)
            one = _accept(half, one, comes)
        taken[0] = half.accepted[places[index]]

        take = max(heads[1, at] + 1, rests_until)
        position, delta = divmod(index, deltas)
        ends = delta % n_cu == n_cu - 1 or delta == deltas - 1  # a word of the CUs
        if in_rows:
            row, column = divmod(position, rows.columns)
            if ends and column == 0 and delta < n_cu and row >= ROWS:
                take = max(take, rows.last[row - ROWS] + DELTA_RELEASE)
            if column == rows.columns - 1 and delta == deltas - 1:
                other = _sweep(rows, other, take + DELTA_ARRIVAL)
        elif ends:
            if position >= POSITIONS:
                while other.pair <= position - POSITIONS:
                    other = _issue(update, other, 0)
                read = update.oldest[position - POSITIONS + 1] - 1 + delta // n_cu
                take = max(take, read + DELTA_RELEASE)
            update.opening[position] = take + DELTA_ARRIVAL
        taken[1] = take
        rests_until = take + 1 + (delta_rest if delta == deltas - 1 else 0)
    while one.pair < len(half.starts):
        one = _issue(half, one, lead)
    while not in_rows and other.pair < len(update.starts):
        other = _issue(update, other, 0)
    return one, other


@dataclass(frozen=True)
class BackwardFlow:
    """Cycles of both halves; every stream offers or takes a word in every cycle.

    The slots ``last`` and ``first`` are counted from the first map word on. The other fields are as
    in ``InputFlow``.

    Attributes:
        fill, issue, stall_input, stall_hazard, last: of the kernel update.
        propagation_first, propagation_last, propagation_stall_input, propagation_stall_output,
            propagation_stall_hazard: of delta propagation.
        propagation_word: its last output word.
    """

    fill: int
    issue: int
    stall_input: int
    stall_hazard: int
    last: int
    propagation_first: int
    propagation_last: int
    propagation_stall_input: int
    propagation_stall_output: int
    propagation_stall_hazard: int
    propagation_word: int


def backward_flow(shape: Shape, images: int, design: BackwardDesign) -> BackwardFlow:
    """Process every delta of a run of one group."""
    half, update = design.propagation, design.update
    back, together = delta_shape(shape), list(pairs(delta_shape(shape), images, half))
    positions = images * shape.out_rows * shape.out_columns
    sweeps = sweeps_of(shape, update)
    propagated = _maps(back, images, half, [each[0] for each in together])
    propagated = propagated._replace(
        sizes=np.array([len(each) for each in together], np.int64),
        distance=half.accumulate_latency,
        sums=sums_behind(back, images, half),
    )
    updated = _maps(shape, images, update, range(positions))
    one, other = _walk(
        propagated,
        _places(shape, back, images),
        updated._replace(rest=max(0, revisit_cycles(update) - sweeps)),
        _rows(shape, images, update, updated.positions),
        update.ku_kind == "row",
        shape.m,
        update.n_cu,
        max(0, revisit_cycles(update) - delta_beats(shape, update)),
        _lead(shape, design.unpool),
        _awaited(shape, images),
    )
    return BackwardFlow(
        fill=other.first,
        issue=sweeps * positions,
        stall_input=other.waits,
        stall_hazard=other.hazards,
        last=other.free - 1,
        propagation_first=one.first,
        propagation_last=one.free - 1,
        propagation_stall_input=one.waits,
        propagation_stall_output=int(propagated.sums.ends[STALLS]),
        propagation_stall_hazard=one.hazards,
        propagation_word=int(propagated.sums.ends[WORD]),
    )


def _lead(shape: Shape, unpool: UnpoolDesign) -> int:
    """Return the cycle in which the first expanded delta arrives at the fork."""
    cycles = UNPOOL_LEAD
    if shape.pool is not None:
        cycles += unpool.result_latency
    return cycles + unpool.factor_latency


def _awaited(shape: Shape, images: int) -> Times:
    """Return for each delta the number of pooled words before the newest one that it waits for.

    Without windows that hang over by their stride or more, such a word has come: there are no more
    words than deltas.
    """
    maps = np.arange(shape.m)
    rows, columns = np.arange(shape.out_rows), np.arange(shape.out_columns)
    if shape.pool is not None:
        pool = shape.pool
        rows = np.minimum((rows + pool.top) // pool.stride, shape.pooled_rows - 1)
        columns = np.minimum((columns + pool.left) // pool.stride, shape.pooled_columns - 1)
    image = np.arange(images) * shape.pooled_rows
    high = (image[:, None] + rows)[..., None] * shape.pooled_columns + columns
    return np.asarray(high[..., None] * shape.m + maps, np.int64).reshape(-1)


def _maps(shape: Shape, images: int, design: EngineDesign, starts: Sequence[int]) -> _Maps:
    """Return the maps of ``shape`` before the first word; one position at a time."""
    positions = keep_and_need(shape, images)
    return _Maps(
        positions=positions,
        starts=np.array(starts, np.int64),
        sizes=np.ones(len(starts), np.int64),
        channels=shape.n,
        columns=shape.columns,
        kept=design.d * design.k,
        groups=groups_of(shape, design.n_cu),
        distance=0,
        rest=0,
        accepted=np.zeros(images * shape.rows * shape.columns * shape.n, np.int64),
        opening=np.zeros(len(positions), np.int64),
        last=np.zeros(2, np.int64),
        oldest=np.zeros(len(starts) + 1, np.int64),
        sums=sums_behind(shape, 0, design),
    )


def _places(shape: Shape, back: Shape, images: int) -> Times:
    """Return the index of each delta among the words of dilated maps."""
    image, row, column, delta = np.ogrid[:images, : shape.out_rows, : shape.out_columns, : shape.m]
    rows = image * back.rows + row * shape.stride
    places = (rows * back.columns + column * shape.stride) * shape.m + delta
    return np.asarray(places.reshape(-1), np.int64)


def _rows(shape: Shape, images: int, design: EngineDesign, positions: Times) -> _PositionRows:
    """Return the rows of ``positions`` before the first slot."""
    rows = np.ascontiguousarray(positions[:: shape.out_columns].T)
    return _PositionRows(
        need=rows[0],
        keep=rows[2],
        words=shape.columns * shape.n,
        kept=design.d * design.k,
        sweeps=sweeps_of(shape, design),
        columns=shape.out_columns,
        rest=row_rest(shape, design),
        written=np.zeros(images * shape.rows, np.int64),
        last=np.zeros(rows.shape[1], np.int64),
    )
