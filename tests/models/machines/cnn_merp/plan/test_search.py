"""The search for the tiles of a plan, beside every tile there is."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.plan.candidates import (
    equal_groups,
    part_sizes,
    totals,
)
from merp.models.machines.cnn_merp.plan.engines import engine_of, rings
from merp.models.machines.cnn_merp.plan.search import best_tiles, fits
from merp.models.machines.cnn_merp.plan.words import (
    closed_form,
)
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from small_works import PHASES, board_of, in_front, layer_of, walked, work_of


def every_tile(work: PhaseWork) -> Iterator[tuple[int, int]]:
    yield from product(range(1, work.inputs + 1), range(1, work.outputs + 1))


@pytest.mark.sample(3)
@pytest.mark.parametrize("goal", ["bytes", "time"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_search_finds_what_trying_every_tile_finds(phase: str, goal: str) -> None:
    random = Random(phase + goal)
    tried = 0
    while tried < 4:
        work = work_of(random, phase)
        board = board_of(random.randint(4, 40), random.choice((0.1, 10.0)))
        best = None
        for tile in every_tile(work):
            if fits(engine_of("d", [work], [tile]), board):
                cost = walked(work, board, tile)
                key = (
                    (cost[0], round(cost[1], 9))
                    if goal == "bytes"
                    else (round(cost[1], 9), cost[0])
                )
                best = key if best is None else min(best, key)
        if best is None:
            with pytest.raises(BadInput, match="allowed are"):
                best_tiles("d", [work], board, goal)
            continue
        tried += 1
        _, (tile,) = best_tiles("d", [work], board, goal)
        cost = walked(work, board, tile)
        found = cost if goal == "bytes" else cost[::-1]
        assert found == pytest.approx(best, rel=1e-9, abs=1e-9), (work, tile)


def larger_work(random: Random, phase: str) -> PhaseWork:
    """A layer whose kernels and rows are each several blocks of RAM."""
    work = work_of(random, phase, units=random.choice((2, 3, 4)))
    shape = replace(work.shape, n=random.randint(30, 90), m=random.randint(9, 40))
    layer = replace(work.layer, shape=shape)
    return replace(work, layer=layer, earlier=in_front(random, layer))


@pytest.mark.parametrize("goal", ["bytes", "time"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_search_weighs_kernels_against_rows(phase: str, goal: str) -> None:
    random = Random(goal + phase)
    for _ in range(2):
        work = larger_work(random, phase)
        sizes = sorted({*part_sizes(work.outputs), *equal_groups(work.outputs, work.engine.n_cu)})
        tiles = list(product(part_sizes(work.inputs), sizes))
        board = board_of(random.randint(14, 40))
        columns = np.array(part_sizes(work.inputs))[:, np.newaxis]
        costs = np.array(totals(work.terms, board, columns, np.array([sizes]))).reshape(2, -1)
        ordered = sorted(
            (tuple(cost if goal == "bytes" else cost[::-1]), tile)
            for cost, tile in zip(costs.T, tiles, strict=True)
        )
        best = next((c for c, t in ordered if fits(engine_of("d", [work], [t]), board)), None)
        if best is None:
            continue
        _, (tile,) = best_tiles("d", [work], board, goal)
        cost = costs.T[tiles.index(tile)]
        assert tuple(cost if goal == "bytes" else cost[::-1]) == best


def test_layers_that_share_a_bitstream_get_the_best_sum_that_fits() -> None:
    random = Random(7)
    tried = 0
    while tried < 3:
        phase = random.choice(PHASES)
        first = work_of(random, phase, units=2)
        second = replace(first, layer=replace(layer_of(random), groups=first.layer.groups))
        second = replace(second, earlier=in_front(random, second.layer))
        works = [replace(each, engine=rings(first.engine, phase, [first, second]))
                 for each in (first, second)]  # fmt: skip
        if works[0].inputs * works[0].outputs * works[1].inputs * works[1].outputs > 4000:
            continue
        board = board_of(random.randint(8, 30))
        costs = [
            {tile: walked(work, board, tile)[0] for tile in every_tile(work)} for work in works
        ]
        sums = [
            costs[0][a] + costs[1][b]
            for a, b in product(*costs)
            if fits(engine_of("d", works, [a, b]), board)
        ]
        if not sums:
            continue
        tried += 1
        engine, tiles = best_tiles("d", works, board, "bytes")
        assert fits(engine, board)
        assert sum(cost[tile] for cost, tile in zip(costs, tiles, strict=True)) == min(sums)


def test_more_block_ram_never_moves_more_bytes() -> None:
    random = Random(3)
    for phase in PHASES:
        work = work_of(random, phase, units=3)
        moved = []
        for block_rams in (15, 18, 22, 30, 45, 80):
            try:
                _, (tile,) = best_tiles("d", [work], board_of(block_rams), "bytes")
            except BadInput:
                continue
            moved.append(sum(closed_form(work, *tile).values()))
        assert moved == sorted(moved, reverse=True)
        assert len(moved) > 1
