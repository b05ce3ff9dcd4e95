"""The output path: which atoms leave in which order, maxima and their places, masks, stalls."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from block_bench import BlockBench, Replays, at_random
from merp.hdl.mac_array.output.output_path import output_path
from merp.models.machines.mac_array.params.array_pass import NO_LIMIT, ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.output_bench import (
    BIAS_INPUTS,
    Maps,
    OutputRun,
    output_args,
    random_maps,
    registers,
    run_output,
)
from merp.testbenches.mac_array.words import number

DESIGN = small_design(pool_window=4, mask_words=128, index_words=64)


def forward(maps: Maps, pool: int = 1, **choices: object) -> ArrayPass:
    size, rows, columns = maps.size
    return ArrayPass(
        phase="fp", inputs=1, outputs=size, rows=rows, columns=columns, kernel=1, pool=pool,
        **choices,  # type: ignore[arg-type]
    )  # fmt: skip


def backward(maps: Maps, **choices: object) -> ArrayPass:
    size, rows, columns = maps.size
    return ArrayPass(
        phase="dp", inputs=size, outputs=1, rows=rows, columns=columns, kernel=1,
        **choices,  # type: ignore[arg-type]
    )  # fmt: skip


def pooled(maps: Maps, g: int) -> tuple[list[list[list[int]]], list[list[list[int]]]]:
    """Maxima and their places, the first of equal ones; odd rows and columns are dropped."""
    size, rows, columns = maps.size
    values: list[list[list[int]]] = []
    places: list[list[list[int]]] = []
    for f in range(size):
        values.append([])
        places.append([])
        for r in range(rows // g):
            found = []
            for c in range(columns // g):
                window = [maps.words[f][r * g + i][c * g + j] for i in range(g) for j in range(g)]
                signed = [number(word) for word in window]
                found.append((window[signed.index(max(signed))], signed.index(max(signed))))
            values[f].append([word for word, _ in found])
            places[f].append([place for _, place in found])
    return values, places


def order(
    size: int, rows: int, columns: int, poy: int, d: ArrayDesign
) -> Iterator[tuple[int, int, int]]:
    """Map, row and first column of each atom: band, tile of maps, column block, lane, row."""
    for band in range(0, rows, poy):
        for first in range(0, size, d.pof):
            for column in range(0, columns, d.pox):
                for f in range(first, min(size, first + d.pof)):
                    for row in range(band, min(rows, band + poy)):
                        yield f, row, column


def check(
    run: OutputRun, work: ArrayPass, maps: Maps, d: ArrayDesign, masks: dict[int, list[int]]
) -> int:
    """Compare all that left; keep the masks that a later pass may read."""
    g = work.pool if work.phase == "fp" else 1
    values, places = pooled(maps, g)
    size, rows, columns = len(values), len(values[0]), len(values[0][0])
    blocks = -(-columns // d.pox)
    wanted = list(order(size, rows, columns, d.poy // g, d))
    assert len(run.atoms) == len(wanted) == size * rows * blocks
    assert [last for _, last in run.atoms] == [0] * (len(wanted) - 1) + [1]
    for (words, _), (f, row, column) in zip(run.atoms, wanted, strict=True):
        atom = (f * rows + row) * blocks + column // d.pox
        inside = values[f][row][column : column + d.pox]
        if work.phase == "dp" and work.relu:
            mask = masks[work.mask_base + atom]
            inside = [word * bit for word, bit in zip(inside, mask, strict=False)]
        assert words[: len(inside)] == inside, (f, row, column)
        if work.phase == "fp":
            masks[work.mask_base + atom] = [int(0 < number(word) < work.limit) for word in words]
        if g > 1:
            found = run.indices[work.index_base + atom]
            assert found[: len(inside)] == places[f][row][column : column + d.pox]
    return len(wanted)


SHAPES = [(1, 1, 1, 1), (3, 5, 3, 1), (4, 4, 4, 2), (5, 9, 11, 2), (6, 8, 17, 4), (9, 4, 8, 1),
          (2, 11, 18, 2)]  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize(("ready", "hurry"), [(1.0, True), (0.5, False), (0.15, True)])
def test_passes_one_after_the_other(ready: float, hurry: bool) -> None:
    """FP of every shape, the next pass without a reset; then DP under the masks of some."""
    rng = Random(f"{ready} {hurry}")
    runs = []
    for i, (size, rows, columns, g) in enumerate(SHAPES if ready == 1 else SHAPES[1:5]):
        maps = random_maps(size, rows, columns, rng, kinds=2 * (i % 2))
        runs.append((forward(maps, g, index_base=8 * (i % 2)), maps))
        if g == 1:
            deltas = random_maps(size, rows, columns, rng)
            runs.append((backward(deltas, relu=bool(i)), deltas))
    masks: dict[int, list[int]] = {}
    found = run_output(runs, DESIGN, rng, ready, hurry)
    atoms = sum(
        check(run, work, maps, DESIGN, masks) for run, (work, maps) in zip(found, runs, strict=True)
    )
    assert atoms > 80
    counted = sum(map(sum, (row for flags in runs[-1][1].clipped for row in flags)))
    assert found[-1].trace.column("saturated")[-1] == counted


def test_masks_of_layers_lie_apart() -> None:
    """Each layer's masks are read in the order of another one: as the way back has it."""
    rng = Random(4)
    first, second = random_maps(5, 6, 9, rng), random_maps(2, 3, 3, rng)
    deltas = random_maps(5, 6, 9, rng), random_maps(2, 3, 3, rng)
    runs = [
        (forward(first), first),
        (forward(second, mask_base=90), second),
        (backward(deltas[1], mask_base=90), deltas[1]),
        (backward(deltas[0]), deltas[0]),
    ]
    masks: dict[int, list[int]] = {}
    for run, (work, maps) in zip(run_output(runs, DESIGN, rng), runs, strict=True):
        check(run, work, maps, DESIGN, masks)


def test_masks_of_relu6_end_below_its_limit() -> None:
    """Words around two limits, and words of any size without one, in passes of one design."""
    rng, design = Random(8), replace(DESIGN, relu6=True)
    masks: dict[int, list[int]] = {}
    runs = []
    for limit in (1, 2, 3, NO_LIMIT):
        maps = random_maps(5, 6, 9, rng, kinds=0 if limit == NO_LIMIT else 5)
        deltas = random_maps(5, 6, 9, rng)
        runs += [(forward(maps, limit=limit), maps), (backward(deltas), deltas)]
    for run, (work, maps) in zip(run_output(runs, design, rng), runs, strict=True):
        check(run, work, maps, design, masks)


def test_a_tile_of_which_nothing_leaves_waits_for_nothing() -> None:
    """An odd last row, read while the sink is stuck and both halves are full, spoils neither."""
    rng = Random(6)
    maps = random_maps(4, 13, 4, rng)
    work = forward(maps, 2)
    (run,) = run_output([(work, maps)], DESIGN, rng, held=200)
    check(run, work, maps, DESIGN, {})
    assert sum(run.trace.column("readout_drained")[:200]) == 4


@pytest.mark.parametrize("design", [small_design(8, 4, 8, mask_words=256),
                                    small_design(4, 8, 4, mask_words=256, index_words=128,
                                                 pool_window=2)])  # fmt: skip
def test_other_arrays(design: ArrayDesign) -> None:
    rng = Random(design.pox)
    maps = random_maps(9, 9, 11, rng)
    work = forward(maps, design.pool_window)
    (run,) = run_output([(work, maps)], design, rng)
    check(run, work, maps, design, {})


def test_latency_and_throughput() -> None:
    """A tile is read in as many cycles as it has pixels; atoms leave one a cycle."""
    rng = Random(1)
    maps = random_maps(4, 4, 8, rng)
    (run,) = run_output([(forward(maps), maps)], DESIGN, rng)
    trace = run.trace
    copied = [t for t, pulse in enumerate(trace.column("readout_copied")) if pulse]
    drained = [t for t, pulse in enumerate(trace.column("readout_drained")) if pulse]
    assert [end - begin for begin, end in zip(copied, drained, strict=True)] == [15, 15]
    valid = trace.column("outputs_atoms_valid")
    assert valid.index(1) == drained[0] + 12
    assert valid[valid.index(1) :][:16] == [1] * 16


def test_a_reset_leaves_nothing() -> None:
    """Sessions of random tiles and words, broken off while atoms wait, are read or are pooled."""
    maps = random_maps(5, 9, 9, Random(0))
    session = at_random(
        {"readout_copied": (0.15, 0.05), "outputs_atoms_ready": 0.4},
        {"pixels_words": DESIGN.parameter_bits, "pixels_clipped": DESIGN.pof},
        {**registers(forward(maps, 2), DESIGN), **dict.fromkeys(BIAS_INPUTS, 0)},
        begin=8,
    )
    payload = {
        "outputs_atoms_valid": "outputs_atoms_data outputs_atoms_last",
        "outputs_index_enable": "outputs_index_addr outputs_index_data",
    }
    bench = BlockBench(output_path, **output_args(DESIGN))
    bench.as_new_after_reset(session, (61, 62, 110), 120, payload=payload)


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    rng = Random(9)
    first, second = random_maps(4, 4, 4, rng), random_maps(5, 5, 9, rng)
    runs = [(forward(first), first), (forward(second, 2), second)]
    replays(run_output(runs, DESIGN, rng, 0.6)[0].trace)
