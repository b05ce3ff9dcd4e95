"""Cycle model of the flow control of two fused layers: the engines, and their outputs.

The input side of either engine follows the rules of ``flow``. Here the words of the second engine
arrive when the first engine outputs them. Finished sums wait for ReLU and pooling, which process
them beat by beat. Results are output one word at a time, when the second layer permits the word or
memory takes it. Therefore sums may have to wait for space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.fused_shape import FusedShape
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.flow import keep_and_need
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT
from merp.models.machines.cnn_merp.params.sizing import groups_of
from merp.models.machines.cnn_merp.slots import pairs

Numbers = NDArray[np.int64]

FORK_LATENCY = 2
"""From a word of the first layer to the same word on the output port."""

FOR_EVER = 1 << 16
"""Cycles without a word or a slot after which a run is considered endless."""


class _Engine(NamedTuple):
    """A layer's engine: its work, and its progress.

    Attributes:
        positions: as returned by ``keep_and_need``.
        starts, sizes: of groups of interleaved positions.
        closes: whether a position closes a pooling window; those behind the sums are included.
        late: whether a position lies behind the sums, and takes none.
        rows, columns, channels: of all input maps.
        kept: stored rows.
        groups: slots of a window.
        n_cu, last_cus: CUs, and those in use in the last group.
        lanes: sums in a beat.
        distance: cycles between slots of an accumulator.
        behind: latency from a slot to its sum.
        pooling: latency from a beat to its results.
        rest: least cycles of the beats of a position.
        places: for results.
        at: counters, see the names below.
        sums, results: words in the pipeline, by cycle modulo their length.
        leaving: number of results in the waiting beats, in a ring.
    """

    positions: Numbers
    starts: Numbers
    sizes: Numbers
    closes: NDArray[np.bool_]
    late: NDArray[np.bool_]
    rows: int
    columns: int
    channels: int
    kept: int
    groups: int
    n_cu: int
    last_cus: int
    lanes: int
    distance: int
    behind: int
    pooling: int
    rest: int
    places: int
    at: Numbers
    last_start: Numbers
    sums: Numbers
    results: Numbers
    leaving: Numbers


# Places in ``at``.
_NAMES = (
    "ROW", "COLUMN", "CHANNEL_IN", "SEEN_ROW", "SEEN_COLUMN", "SEEN_CHANNEL",  # accepted words
    "PAIR", "LANE", "CHANNEL", "GROUP", "CREDITS", "CREDIT",  # slots, and room for their sums
    "FILL", "HEAD", "LEFT", "LAST_GROUP", "GROUPS_LEFT", "BEAT", "IDLE", "POSITION",  # beats
    "ROOM", "FREED", "RESULTS", "FIRST", "HEAD_RESULTS", "SENDING", "WORDS",  # results
    "ISSUE", "FILLING", "INPUT", "OUTPUT", "HAZARD", "LAST_SLOT", "LAST_WORD",  # account
)  # fmt: skip
(
    ROW, COLUMN, CHANNEL_IN, SEEN_ROW, SEEN_COLUMN, SEEN_CHANNEL,
    PAIR, LANE, CHANNEL, GROUP, CREDITS, CREDIT,
    FILL, HEAD, LEFT, LAST_GROUP, GROUPS_LEFT, BEAT, IDLE, POSITION,
    ROOM, FREED, RESULTS, FIRST, HEAD_RESULTS, SENDING, WORDS,
    ISSUE, FILLING, INPUT, OUTPUT, HAZARD, LAST_SLOT, LAST_WORD,
) = range(len(_NAMES))  # fmt: skip


@compiled()
def _permits(engine: _Engine) -> bool:
    """Return whether the next word may arrive in this cycle."""
    at = engine.at
    if at[ROW] >= engine.rows:
        return False
    pair = at[PAIR]
    if pair == len(engine.starts):
        return True
    reading_over = (
        at[CHANNEL] == engine.channels - 1 and at[LANE] == engine.sizes[pair] - 1 and at[GROUP] > 0
    )
    oldest = engine.starts[pair] + (engine.sizes[pair] if reading_over else 0)
    if oldest == len(engine.positions):
        return True
    first, following, first_column = engine.positions[oldest, 2:]
    row, column = at[ROW], at[COLUMN]
    return bool(
        row < first + engine.kept or (row < following + engine.kept and column < first_column)
    )


@compiled()
def _take(engine: _Engine, comes: bool) -> None:
    """Accept a word, if one arrives."""
    at = engine.at
    at[SEEN_ROW], at[SEEN_COLUMN], at[SEEN_CHANNEL] = at[ROW], at[COLUMN], at[CHANNEL_IN]
    if not comes:
        return
    at[CHANNEL_IN] += 1
    if at[CHANNEL_IN] == engine.channels:
        at[CHANNEL_IN] = 0
        at[COLUMN] += 1
        if at[COLUMN] == engine.columns:
            at[COLUMN] = 0
            at[ROW] += 1


@compiled()
def _slot(engine: _Engine, cycle: int) -> None:
    """Issue a slot, or record the cause of the stall."""
    at = engine.at
    credit = at[CREDIT]
    at[CREDIT] = 0
    spent = 0
    if at[PAIR] < len(engine.starts):
        lane, channel = at[LANE], at[CHANNEL]
        last = channel == engine.channels - 1
        position = engine.starts[at[PAIR]] + lane
        need = engine.positions[position]
        arrived = (at[SEEN_ROW], at[SEEN_COLUMN], at[SEEN_CHANNEL]) > (need[0], need[1], channel)
        fires = False
        if at[GROUP] > 0:
            fires = True
        elif not arrived:
            at[INPUT if at[ISSUE] else FILLING] += 1
        elif last and at[CREDITS] < engine.groups:
            at[OUTPUT if at[ISSUE] else FILLING] += 1
        elif channel > 0 and cycle - engine.last_start[lane] < engine.distance:
            at[HAZARD if at[ISSUE] else FILLING] += 1
        else:
            fires = True
            engine.last_start[lane] = cycle
            spent = engine.groups if last else 0
        if fires:
            at[ISSUE] += 1
            at[LAST_SLOT] = cycle
            if last:
                engine.sums[(cycle + engine.behind) % len(engine.sums)] += 1
            at[GROUP] += 1
            if at[GROUP] == engine.groups:
                at[GROUP] = 0
                at[LANE] += 1
                if at[LANE] == engine.sizes[at[PAIR]]:
                    at[LANE] = 0
                    at[CHANNEL] += 1
                    if at[CHANNEL] == engine.channels:
                        at[CHANNEL] = 0
                        at[PAIR] += 1
    at[CREDITS] += credit - spent


@compiled()
def _finish(engine: _Engine, cycle: int, ready: bool) -> None:
    """Process finished sums by ReLU and pooling; if ``ready``, output a word."""
    at = engine.at
    # Decisions in this cycle depend on the state after the last cycle.
    place = cycle % len(engine.sums)
    pushed, engine.sums[place] = engine.sums[place], 0
    place = cycle % len(engine.results)
    result, engine.results[place] = engine.results[place], 0
    closes = at[LEFT] != 0 and engine.closes[at[POSITION]]
    issues = at[LEFT] != 0 and at[IDLE] == 0 and (at[ROOM] > 0 or not closes)
    # The next group is of this position, or behind its last group, of the next one.
    following = at[POSITION] + (at[LEFT] != 0 and at[LAST_GROUP] != 0)
    blank = following < len(engine.late) and engine.late[following]
    begins = at[LEFT] == 0 or (issues and at[LEFT] <= engine.lanes)
    take = at[HEAD] != 0 and begins and not blank
    begins = begins and (take or blank)
    load = at[FILL] != 0 and (take or at[HEAD] == 0)
    take_result = at[HEAD_RESULTS] != 0 and (at[SENDING] == 0 or (at[SENDING] == 1 and ready))
    load_result = at[RESULTS] != 0 and (take_result or at[HEAD_RESULTS] == 0)

    if at[SENDING] != 0 and ready:
        at[SENDING] -= 1
        at[WORDS] += 1
        at[LAST_WORD] = cycle
    if take_result:
        at[SENDING] = at[HEAD_RESULTS]
        at[HEAD_RESULTS] = 0
    at[ROOM] += at[FREED]
    at[FREED] = 0
    if load_result:
        at[HEAD_RESULTS] = engine.leaving[at[FIRST]]
        at[FIRST] = (at[FIRST] + 1) % len(engine.leaving)
        at[RESULTS] -= 1
        at[FREED] = 1
    if result:
        engine.leaving[(at[FIRST] + at[RESULTS]) % len(engine.leaving)] = result
        at[RESULTS] += 1

    if at[IDLE]:
        at[IDLE] -= 1
    if issues:
        if closes:
            at[ROOM] -= 1
            later = (cycle + engine.pooling) % len(engine.results)
            engine.results[later] = min(at[LEFT], engine.lanes)
        if at[LAST_GROUP] and at[LEFT] <= engine.lanes:
            at[IDLE] = max(0, engine.rest - 1 - at[BEAT])
            at[BEAT] = 0
            at[POSITION] += 1
        else:
            at[BEAT] += 1
        at[LEFT] = max(0, at[LEFT] - engine.lanes)
    if take:
        at[HEAD] = 0
    if begins:
        at[LAST_GROUP] = at[GROUPS_LEFT] == 1
        at[LEFT] = engine.last_cus if at[LAST_GROUP] else engine.n_cu
        at[GROUPS_LEFT] = engine.groups if at[LAST_GROUP] else at[GROUPS_LEFT] - 1
    if load:
        at[HEAD] = 1
        at[FILL] -= 1
        at[CREDIT] = 1
    at[FILL] += pushed


# Indices of a fork's counters.
_FREE, _RETURNED, _INSIDE, _SHOWN = range(4)


@compiled()
def _pass_fork(fork: Numbers, offered: bool, taken: bool) -> None:
    """Move a word into and out of the FIFO in front of the second layer; memory never waits."""
    push = offered and fork[_FREE] > 0
    load = fork[_INSIDE] != 0 and (taken or fork[_SHOWN] == 0)
    fork[_FREE] += fork[_RETURNED] - push
    fork[_RETURNED] = load
    if taken:
        fork[_SHOWN] = 0
    if load:
        fork[_SHOWN] = 1
    fork[_INSIDE] += push - load


@compiled()
def _walk(
    first: _Engine,
    seconds: tuple[_Engine, ...],
    inputs: int,
    outputs: int,
    between: int,
    words: int,
    fork: Numbers,
) -> bool:
    """Walk every cycle until all words have been output; return False if they never are.

    inputs, outputs: words of a turn, into the second layer's engines and out of them. between,
    words: of the first layer, and of an engine of the second. fork: its counters; empty if there is
    no fork.
    """
    groups = len(seconds)
    last = seconds[groups - 1]
    given = made = 0
    cycle = moved = 0
    before = -1
    while (
        last.at[WORDS] < words
        or first.at[WORDS] < between
        or last.at[PAIR] < len(last.starts)
        or first.at[PAIR] < len(first.starts)
    ):
        takes = _permits(first)
        whose = given // inputs % groups
        leaves = made // outputs % groups
        offered = first.at[SENDING] != 0 if len(fork) == 0 else fork[_SHOWN] != 0
        permits = _permits(seconds[whose])
        for group in range(groups):
            comes = group == whose and permits and offered
            sends = group == leaves and seconds[group].at[SENDING] != 0
            _slot(seconds[group], cycle)
            _take(seconds[group], comes)
            _finish(seconds[group], cycle, group == leaves)
            made += sends
            given += comes
        _slot(first, cycle)
        _take(first, takes)
        if len(fork) == 0:
            _finish(first, cycle, permits)
        else:
            sending, free = first.at[SENDING] != 0, fork[_FREE] > 0
            _pass_fork(fork, sending, permits and offered)
            _finish(first, cycle, free)
        progress = first.at[ISSUE] + last.at[ISSUE] + last.at[WORDS]
        if progress != before:
            before, moved = progress, cycle
        elif cycle - moved > FOR_EVER:
            return False
        cycle += 1
    return True


@dataclass(frozen=True)
class FusedFlow:
    """Cycles of two fused layers; every port offers or takes a word in every cycle.

    The slots ``last`` and words ``last_word`` are counted from the first map word on. The other
    fields are as in ``InputFlow``.

    Attributes:
        fill, issue, stall_input, stall_output, stall_hazard, last, last_word: of the second layer,
            of its last group.
        first_fill, first_issue, first_stall_input, first_stall_output, first_stall_hazard,
            first_last, first_last_word: of the first layer.
    """

    fill: int
    issue: int
    stall_input: int
    stall_output: int
    stall_hazard: int
    last: int
    last_word: int
    first_fill: int
    first_issue: int
    first_stall_input: int
    first_stall_output: int
    first_stall_hazard: int
    first_last: int
    first_last_word: int


def fused_flow(shape: FusedShape, images: int, design: FusedDesign) -> FusedFlow:
    """Walk every cycle of a run.

    Raises:
        ValueError: the run does not end.
    """
    first = _engine(shape.first, images, design.first)
    seconds = tuple(_engine(shape.second, images, design.second) for _ in range(shape.groups))
    second = shape.second
    words = images * second.pooled_rows * second.pooled_columns * second.m
    forked = np.array([CREDIT_RETURN, 0, 0, 0] if design.second.state else [], np.int64)
    between = images * second.rows * second.columns * second.n * shape.groups
    if not _walk(first, seconds, second.n, second.m, between, words, forked):
        raise ValueError(f"{shape} does not run on {design}")
    return FusedFlow(*_account(seconds[-1]), *_account(first))


def _account(engine: _Engine) -> tuple[int, ...]:
    names = (FILLING, ISSUE, INPUT, OUTPUT, HAZARD, LAST_SLOT, LAST_WORD)
    return tuple(int(engine.at[each]) for each in names)


def _engine(shape: Shape, images: int, design: EngineDesign) -> _Engine:
    """Return an engine at the start of a run."""
    together = list(pairs(shape, images, design))
    groups = groups_of(shape, design.n_cu)
    latency = design.leak_latency
    if design.pool_window > 1:
        latency += design.pool_latency + (design.mul_latency if design.average else 0)
    places = latency + CREDIT_RETURN + 1
    at = np.zeros(len(_NAMES), np.int64)
    at[CREDITS] = design.fifo_words
    at[ROOM], at[GROUPS_LEFT] = places, groups
    behind = SLOT + design.array_latency
    pool = shape.pool
    pooled = pool is not None and pool.window > 1
    return _Engine(
        positions=keep_and_need(shape, images),
        starts=np.array([each[0] for each in together], np.int64),
        sizes=np.array([len(each) for each in together], np.int64),
        closes=np.tile(closing(shape).reshape(-1), images),
        late=np.tile(_late(shape), images),
        rows=images * shape.rows,
        columns=shape.columns,
        channels=shape.n,
        kept=design.d * design.k,
        groups=groups,
        n_cu=design.n_cu,
        last_cus=shape.m - (groups - 1) * design.n_cu,
        lanes=design.r,
        distance=design.accumulate_latency,
        behind=behind,
        pooling=1 + latency,
        rest=design.pool_latency if pooled else 0,
        places=places,
        at=at,
        last_start=np.full(2, -design.accumulate_latency, np.int64),
        sums=np.zeros(behind + 1, np.int64),
        results=np.zeros(latency + 2, np.int64),
        leaving=np.zeros(places + 2, np.int64),
    )


def closing(shape: Shape) -> NDArray[np.bool_]:
    """Return whether each position of an image closes a pooling window.

    (rows, columns) of the walk. Behind the sums, windows that end in the last row or column are
    closed in turn.
    """
    pool = shape.pool
    if pool is None:
        return np.ones((shape.out_rows, shape.out_columns), np.bool_)

    def ends(size: int, late: int, before: int, windows: int) -> NDArray[np.bool_]:
        found = np.zeros(size + late, np.bool_)
        last = np.arange(windows) * pool.stride + pool.window - 1 - before
        found[last[last < size - 1]] = True
        found[size - 1 : size - 1 + np.count_nonzero(last >= size - 1)] = True
        return found

    late_rows, late_columns = shape.late
    rows = ends(shape.out_rows, late_rows, pool.top, shape.pooled_rows)
    columns = ends(shape.out_columns, late_columns, pool.left, shape.pooled_columns)
    return np.asarray(np.logical_and.outer(rows, columns), np.bool_)


def _late(shape: Shape) -> NDArray[np.bool_]:
    """Return whether each position of the walk over an image lies behind the sums."""
    rows, columns = shape.late
    found = np.ones((shape.out_rows + rows, shape.out_columns + columns), np.bool_)
    found[: shape.out_rows, : shape.out_columns] = False
    return found.reshape(-1)
