"""Tiles of works that are priced together, beside the price of each."""

from dataclasses import fields, replace
from itertools import product
from random import Random

import numpy as np
import pytest

from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.plan import candidates as plan_candidates
from merp.models.machines.cnn_merp.plan.candidates import (
    Candidates,
    Sizes,
    candidates,
    equal_groups,
    part_sizes,
    totals,
)
from merp.models.machines.cnn_merp.plan.cheapest import cheapest
from merp.models.machines.cnn_merp.plan.engines import least_engine, rings
from merp.models.machines.cnn_merp.plan.terms import Structure, spread
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from small_works import PHASES, board_of, design_of, walked, work_of


@pytest.mark.parametrize("phase", PHASES)
def test_the_cost_of_a_tile_is_that_of_its_passes(phase: str) -> None:
    random = Random(phase)
    for _ in range(6):
        work, board = work_of(random, phase), board_of(gbytes_s=random.choice((0.1, 10.0)))
        sizes = part_sizes(work.inputs), part_sizes(work.outputs)
        grid = np.array(sizes[0])[:, np.newaxis], np.array([sizes[1]])
        moved, seconds = totals(work.terms, board, *grid)
        for place, tile in zip(np.ndindex(moved.shape), product(*sizes), strict=True):
            expected = walked(work, board, tile)
            assert moved[place] == expected[0]
            assert seconds[place] == pytest.approx(expected[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_least_of_many_engines_at_once_is_that_of_every_tile_on_each(
    phase: str, kind: str
) -> None:
    """Engines of one to many groups, whose sums wait for their accumulators or do not."""
    random = Random(phase + kind)
    for _ in range(25):
        work, board = work_of(random, phase, kind=kind), board_of(gbytes_s=random.choice((0.1, 9)))
        ports = {"kernel_port": random.choice(PORTS), "map_port": random.choice(PORTS)}
        engines = [
            replace(work.engine, n_cu=units, r=random.randint(1, units), p=p, **ports)
            for units in (1, 2, 3, 5, 8, 14)
            for p in (1, 2)
        ]
        moved, seconds = cheapest(work, engines, board)
        for engine, least in zip(engines, seconds, strict=True):
            one = replace(work, engine=engine)
            outputs = {*part_sizes(work.outputs), *equal_groups(work.outputs, engine.n_cu)}
            inputs = np.array(part_sizes(work.inputs))[:, np.newaxis]
            every = totals(one.terms, board, inputs, np.array([sorted(outputs)]))
            assert moved == every[0].min()
            assert least <= every[1].min() <= least + 4.5e-9, (work, engine)


@pytest.mark.parametrize("phase", PHASES)
def test_terms_of_several_works_at_once_cost_what_each_costs(phase: str) -> None:
    """Of one structure, with tiles of each one after the other, to the last bit."""
    random = Random(phase)
    alike: dict[Structure, list[PhaseWork]] = {}
    engine = rings(design_of(random, 3), phase, [work_of(random, phase)])
    while max(map(len, alike.values()), default=0) < 8:
        work = replace(work_of(random, phase), engine=engine, images=4, state="pooled")
        alike.setdefault(work.terms.has, []).append(work)
    board = board_of()
    for works in alike.values():
        tiles = [
            [(random.randint(1, work.inputs), random.randint(1, work.outputs)) for _ in range(3)]
            for work in works
        ]
        together = spread([work.terms for work in works], [3] * len(works))
        found = np.array(totals(together, board, *np.array(tiles).reshape(-1, 2).T))
        each = [
            totals(work.terms, board, *np.array(own).T)
            for work, own in zip(works, tiles, strict=True)
        ]
        assert (found == np.concatenate(each, axis=1)).all()


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_tiles_that_are_left_out_are_never_the_best_within_any_sizes(phase: str, kind: str) -> None:
    """The goal ``bytes`` leaves tiles out; the goal ``time`` lists all of them."""
    random = Random(kind + phase)
    for _ in range(12):
        works = [work_of(random, phase, kind=kind, units=random.randint(1, 4))]
        shared = works[0].engine, works[0].images, works[0].state
        for _ in range(2):
            other = work_of(random, phase, kind=kind)
            works.append(
                replace(other, **dict(zip(("engine", "images", "state"), shared, strict=True)))
            )
        board, base = board_of(), least_engine("d", works)
        words = [np.array(sorted(random.sample(range(1, 400), 3))) for _ in range(2)]
        sizes = Sizes(*words)
        some, every = (candidates(works, board, goal, base, sizes) for goal in ("bytes", "time"))
        assert some.work.size <= every.work.size
        for place, kernel_words, row_words, left in product(
            range(len(works)), *words, (0, 2, 10, 890)
        ):
            best = []
            for tiles in (some, every):
                within = (tiles.work == place) & (tiles.others <= left)
                within &= (tiles.kernel_words <= kernel_words) & (tiles.row_words <= row_words)
                costs = zip(tiles.bytes[within], tiles.seconds[within], strict=True)
                best.append(min(costs, default=None))
            assert best[0] == best[1]


def tiles_of_many(random: Random, phase: str) -> Candidates:
    """The tiles of three works on one engine, where bytes come first."""
    works = [work_of(random, phase, units=2) for _ in range(3)]
    first = works[0]
    works = [replace(each, engine=first.engine, images=3, state="pooled") for each in works]
    sizes = Sizes(*(np.array(sorted(random.sample(range(1, 400), 3))) for _ in range(2)))
    return candidates(works, board_of(), "bytes", least_engine("d", works), sizes)


@pytest.mark.parametrize("phase", PHASES)
def test_numbers_that_64_bits_do_not_hold_are_joined_all_the_same(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is low here, so that each step numbers its places anew; all tiles are compared."""
    monkeypatch.setattr(plan_candidates, "_FEW", 0)
    for seed in range(8):
        monkeypatch.setattr(plan_candidates, "_LARGEST", 1 << 62)
        whole = tiles_of_many(Random(f"{phase} {seed}"), phase)
        monkeypatch.setattr(plan_candidates, "_LARGEST", 0)
        again = tiles_of_many(Random(f"{phase} {seed}"), phase)
        assert whole.work.size
        for field in fields(Candidates):
            np.testing.assert_array_equal(getattr(whole, field.name), getattr(again, field.name))


def test_joined_numbers_are_equal_where_all_of_them_are() -> None:
    """Also above what 64 bits hold: 2^24 times a limit of 2^40 is a zero there."""
    rng = np.random.default_rng(0)
    above = (1 << 40, 1 << 40, 3)
    values = [rng.integers(0, 2, 200) << place for place in (24, 39, 1)]
    joined = plan_candidates._joined(list(zip(values, above, strict=True)))
    for one, another in product(range(200), repeat=2):
        alike = all(each[one] == each[another] for each in values)
        assert (joined[one] == joined[another]) == alike


def test_sizes_of_parts_are_those_of_equal_cuts_and_of_full_groups() -> None:
    assert part_sizes(10) == (10, 5, 4, 3, 2, 1)
    assert equal_groups(28, 4) == [28, 16, 12, 8, 4]
    for maps in range(1, 60):
        assert {-(-maps // parts) for parts in range(1, maps + 1)} == set(part_sizes(maps))
