"""Tiles of a plan: words of all passes by formula, the search beside every tile there is."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from merp.models.base.errors import BadInput
from merp.models.base.formats import FORMATS
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.base.storage import TENSORS, Storage
from merp.models.base.widened_shape import widened
from merp.models.fpga.board import Board
from merp.models.fpga.parts import PARTS
from merp.models.machines.cnn_merp.cycles import update_cycles
from merp.models.machines.cnn_merp.params.design import PORTS, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.plan.candidates import (
    Sizes,
    candidates,
    equal_groups,
    part_sizes,
    totals,
)
from merp.models.machines.cnn_merp.plan.cheapest import cheapest
from merp.models.machines.cnn_merp.plan.cost import cost_of
from merp.models.machines.cnn_merp.plan.engines import engine_of, least_engine, rings
from merp.models.machines.cnn_merp.plan.search import best_tiles, fits
from merp.models.machines.cnn_merp.plan.terms import Structure, spread
from merp.models.machines.cnn_merp.plan.words import (
    closed_form,
    pass_bytes,
    passes,
    summed,
    with_velocities,
)
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.machines.cnn_merp.update_flow import update_flow
from merp.models.network.network import Layer

PHASES = ("fp", "dp", "ku")


def board_of(block_rams: int = 445, gbytes_s: float = 12.8) -> Board:
    """A board whose part has so much block RAM."""
    part = replace(PARTS["xc7k325t"], block_rams=block_rams)
    return Board(name="b", part=part, clock_mhz=100.0, gbytes_s=gbytes_s, efficiency=0.8)


def layer_of(random: Random, *, k: int = 3, kind: str = "conv") -> Layer:
    """A small layer."""
    n, m = random.randint(1, 12), random.randint(1, 14)
    if kind == "fc":
        shape = Shape(n=random.randint(1, 60), m=m, k=1, rows=1, columns=1)
        return Layer(name="fc1", kind="fc", shape=shape, design="d")
    size = random.randint(4, 9)
    pool = random.choice((None, Pool(kind="max", window=2, stride=2)))
    if random.random() < 0.3:
        pool = Pool(kind="max", window=3, stride=2)
    stride = random.choice((1, 1, 2))
    k = random.choice((k, k, 2, 1))
    top, left, bottom, right = (random.randrange(k) for _ in range(4))
    rows = size + 2 * stride
    shape = Shape(
        n=n, m=m, k=k, rows=rows, columns=rows, stride=stride,
        pad=(top, left, bottom, right), relu=random.random() < 0.8,
        pool=pool,
    )  # fmt: skip
    return Layer(name="conv2", kind="conv", groups=random.choice((1, 2)), shape=shape, design="d")


def in_front(random: Random, layer: Layer) -> Layer:
    """A layer whose pooled maps are the input of ``layer``."""
    shape, pool = layer.shape, random.choice((None, Pool(kind="max", window=2, stride=2)))
    size = shape.rows * 2 if pool else shape.rows
    maps = layer.groups * shape.n
    before = Shape(n=1, m=maps, k=1, rows=size, columns=size, pool=pool)
    return Layer(name="conv1", kind="conv", shape=before, design="d")


def starting(random: Random, layer: Layer, phase: str, state: str) -> dict[str, Any]:
    """What the sums of ``layer`` start at: biases, maps or deltas, or a delta that is expanded."""
    if phase == "ku" or random.random() < 0.5:
        return {}
    beside = None
    if phase == "dp" and state == "pooled" and random.random() < 0.7:
        shape = layer.shape
        pool = Pool(kind="max", window=2, stride=1) if shape.rows > 1 else None
        added = Shape(
            n=1, m=layer.groups * shape.n, k=1, rows=shape.rows, columns=shape.columns, pool=pool
        )
        beside = Layer(name="conv3", kind=layer.kind, shape=added, design="d", add="conv1")
    return {"begun": True, "beside": beside}


def design_of(random: Random, units: int | None = None) -> EngineDesign:
    """A design of units of 3 x 3."""
    fused = random.random() < 0.5
    kinds = {"cu_kind": "fused", "ku_kind": "row"} if fused else {}
    count = units or random.randint(1, 6)
    formats = {tensor: random.choice(list(FORMATS.values())) for tensor in TENSORS}
    storage = random.choice((None, Storage(**formats)))
    smallest = [Shape(n=1, m=1, k=3, rows=3, columns=3)]
    rings = random.choice((1, 2))
    return size_design(smallest, n_cu=count, r=1, d=rings, storage=storage, **kinds)


def work_of(
    random: Random, phase: str, *, kind: str = "conv", units: int | None = None
) -> PhaseWork:
    """A phase of a small layer, on an engine of its own."""
    layer = layer_of(random, kind=kind)
    state = random.choice(STATES)
    draft = PhaseWork(
        layer=layer, phase=phase, earlier=in_front(random, layer), images=random.randint(1, 5),
        state=state, engine=design_of(random, units), folded=kind == "fc",
        stored=layer, **starting(random, layer, phase, state),
    )  # fmt: skip
    return replace(draft, engine=rings(draft.engine, phase, [draft]))


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_words_of_all_passes_are_those_of_the_formula(phase: str, kind: str) -> None:
    random = Random(phase + kind)
    for _ in range(60):
        work = work_of(random, phase, kind=kind)
        size = random.randint(1, work.inputs), random.randint(1, work.outputs)
        assert summed(work, *size) == closed_form(work, *size), (work, size)


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_storage_changes_no_words_and_bytes_by_the_format_alone(phase: str, kind: str) -> None:
    """Maps, deltas, kernels and velocities by their own; state and partial sums are as they were.

    State that is the activation is a map.
    """
    ports = {
        "map_in": "maps", "map_out": "maps", "delta_in": "deltas", "delta_out": "deltas",
        "add_in": "maps" if phase == "fp" else "deltas",
    }  # fmt: skip
    random = Random(phase + kind)
    for _ in range(40):
        work = work_of(random, phase, kind=kind)
        plain = replace(work, engine=replace(work.engine, storage=None))
        size = random.randint(1, work.inputs), random.randint(1, work.outputs)
        before, after = closed_form(plain, *size), closed_form(work, *size)
        if phase == "ku":
            before, after = with_velocities(plain, before), with_velocities(work, after)
        assert list(after) == list(before)
        for port, count in after.items():
            tensor = ports.get(port, "gradients" if "velocity" in port else "kernels")
            if "state" in port:
                tensor = "maps" if work.state == "32" else ""
            if "partial" in port or not tensor:
                assert count == before[port]
            else:
                assert 4 * count == work.engine.stored(tensor).bytes * before[port], port


@pytest.mark.parametrize("phase", PHASES)
def test_passes_are_output_parts_outside_and_input_parts_inside(phase: str) -> None:
    work = work_of(Random(phase), phase)
    found = list(passes(work, 2, 3))
    assert found == sorted(found, key=lambda one: (one.out_start, one.in_start))
    covered = {
        (i, o)
        for one in found
        for i in range(one.in_start, one.in_end)
        for o in range(one.out_start, one.out_end)
    }
    assert len(covered) == work.inputs * work.outputs
    assert sum((p.in_end - p.in_start) * (p.out_end - p.out_start) for p in found) == len(covered)


def test_a_folded_part_has_each_element_once() -> None:
    random = Random(1)
    for _ in range(50):
        work = work_of(random, random.choice(PHASES), kind="fc")
        taps, maps = work.engine.taps, work.inputs
        size = random.randint(1, maps)
        for start in range(0, maps, size):
            end = min(maps, start + size)
            there = [e for e in range(work.elements_in) if start <= e // taps < end]
            assert work.elements(start, end) == len(there)


def walked(work: PhaseWork, board: Board, tile: tuple[int, int]) -> tuple[float, float]:
    """Bytes and seconds of all passes, one after the other."""
    moved, seconds = 0, 0.0
    for one in passes(work, *tile):
        moved += sum(pass_bytes(work, one).values())
        first, last = np.array([one.in_start == 0]), np.array([one.in_end == work.inputs])
        maps = np.array([one.in_end - one.in_start]), np.array([one.out_end - one.out_start])
        cost = cost_of(work, board, *maps, first, last)
        seconds += float(cost.seconds[0])
    return work.layer.groups * moved, work.layer.groups * seconds


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


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("kinds", [{}, {"cu_kind": "fused", "ku_kind": "row"}])
def test_an_update_takes_a_beat_for_its_kernels_and_a_cycle_for_each_bias(
    port: int, kinds: dict[str, str]
) -> None:
    """As the cycle model has it, which is the hardware's to the cycle."""

    def cycles(maps: int) -> tuple[float, int]:
        shape = Shape(n=8, m=maps, k=3, rows=6, columns=6)
        layer = Layer(name="conv1", kind="conv", shape=shape, design="d")
        design = size_design(
            [Shape(n=8, m=16, k=3, rows=6, columns=6)], n_cu=4, r=1, d=2, kernel_port=port, **kinds
        )
        work = PhaseWork(
            layer=layer, phase="ku", earlier=None, images=1, state="32", engine=design,
            folded=False, stored=layer,
        )  # fmt: skip
        yes = np.array([True])
        cost = cost_of(work, board_of(), np.array([8]), np.array([maps]), yes, yes)
        return float(cost.parameters[0]), update_flow(shape, 1, design).drain

    (few, drain), (many, longer) = cycles(8), cycles(16)
    assert many - few == longer - drain == 8 * 8 * 9 / port + 8


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize(
    ("kinds", "latency"), [({}, 120), ({"cu_kind": "fused", "ku_kind": "row"}, 160)]
)
def test_an_update_is_priced_as_the_cycle_model_walks_it(
    kernel: int, kinds: dict[str, str], latency: int
) -> None:
    """Of smaller kernels, too, whose missing taps it passes over; rows shorter than a kernel."""
    layer_shape = Shape(n=6, m=8, k=kernel, rows=kernel + 3, columns=kernel + 3)
    design = size_design([replace(layer_shape, k=3)], n_cu=4, r=1, d=2, max_images=8, **kinds)
    design = replace(design, kernel_words=12, max_size=8, widened=True)
    layer = Layer(name="conv1", kind="conv", shape=layer_shape, design="d")
    work = PhaseWork(
        layer=layer, phase="ku", earlier=None, images=8, state="1", engine=design, folded=False,
        stored=layer,
    )  # fmt: skip
    yes = np.array([True])
    cost = cost_of(work, board_of(), np.array([6]), np.array([8]), yes, yes)
    walked = update_cycles(layer_shape, 8, design).phase
    assert walked - latency < float(cost.total[0]) <= walked  # but for fill and drain


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_an_update_of_smaller_kernels_takes_their_beats_or_reads(k: int, port: int) -> None:
    """As the cycle model has it, but for what the first and the last one wait for."""

    def cycles(maps: int) -> tuple[float, int]:
        shape = Shape(n=8, m=maps, k=k, rows=6, columns=6)
        room = Shape(n=8, m=16, k=4, rows=6, columns=6)
        design = size_design([room, widened(shape, 4)], n_cu=4, r=1, d=2, kernel_port=port)
        layer = Layer(name="conv1", kind="conv", shape=shape, design="d")
        work = PhaseWork(
            layer=layer, phase="ku", earlier=None, images=1, state="32",
            engine=replace(design, widened=True), folded=False, stored=layer,
        )  # fmt: skip
        yes = np.array([True])
        cost = cost_of(work, board_of(), np.array([8]), np.array([maps]), yes, yes)
        return float(cost.parameters[0]), update_flow(shape, 1, work.engine).drain

    (few, drain), (many, longer) = cycles(8), cycles(16)
    assert many - few == pytest.approx(longer - drain, abs=2)


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
    """Where bytes come first, beside the tiles where time does, of which none is left out."""
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


def every_tile(work: PhaseWork) -> Iterator[tuple[int, int]]:
    yield from product(range(1, work.inputs + 1), range(1, work.outputs + 1))


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


def test_sizes_of_parts_are_those_of_equal_cuts_and_of_full_groups() -> None:
    assert part_sizes(10) == (10, 5, 4, 3, 2, 1)
    assert equal_groups(28, 4) == [28, 16, 12, 8, 4]
    for maps in range(1, 60):
        assert {-(-maps // parts) for parts in range(1, maps + 1)} == set(part_sizes(maps))
