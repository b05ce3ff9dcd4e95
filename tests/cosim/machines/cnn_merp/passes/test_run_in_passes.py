"""A layer in passes gives the bits of the whole layer, and every pass stands its audit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layers_in_passes import (
    CASES,
    Pressed,
)
from marks import rows_in_full
from merp.cosim.machines.cnn_merp.passes.cut import Cut, parts_of
from merp.cosim.machines.cnn_merp.passes.delta_tiles import DeltaTiles
from merp.cosim.machines.cnn_merp.passes.forward_tiles import ForwardTiles
from merp.cosim.machines.cnn_merp.passes.run_in_passes import LayerPasses, run_in_passes
from merp.cosim.machines.cnn_merp.passes.update_tiles import UpdateTiles

EACH = [(phase, index) for phase, (_, designs) in CASES.items() for index in range(designs)]
QUICK = [("fp", 0), ("fp", 3), ("fp", 5), ("dp", 2), ("dp", 3), ("dp", 4), ("ku", 0), ("ku", 4)]
QUICK += [("fp", 7), ("fp", 9), ("dp", 6), ("dp", 8), ("ku", 5)]  # several elements to a beat
QUICK += [("fp", 10), ("dp", 9), ("ku", 8)]  # smaller kernels, padding of each side by itself
QUICK += [("fp", 14), ("dp", 12), ("ku", 10)]  # and several maps to a beat
QUICK += [("dp", 16), ("dp", 18), ("ku", 14), ("ku", 16)]  # and several pooled deltas
QUICK += [("dp", 14)]  # sums start at a delta that is expanded
# With momentum, which odd seeds have; the second one with weight decay, which every other two have.
MORE = [("ku", 1, 1), ("ku", 4, 3)]
MORE += [("fp", 13, 3), ("dp", 11, 3)]  # biases behind the zeros of kernels; more beats than maps


def run(
    phase: str,
    index: int,
    seed: int,
    engine: str,
    pressure: int | None,
    array: str | None = None,
) -> LayerPasses:
    whole = CASES[phase][0](seed, index)
    array = array or ("behavioural" if engine == "myhdl" else "rtl")
    found = run_in_passes(Pressed(whole.tiles, pressure), engine, array)
    assert found.failures == []
    for name, golden in whole.golden.items():
        assert np.array_equal(found.arrays[name], golden), name
    return found


def cases(
    seeds: int,
    quick: list[tuple[str, int]],
    first: int = 0,
    more: Sequence[tuple[str, int, int]] = (),
) -> list[Any]:
    """Phase, design and seed of so many layers of each design; all but the quick ones in full.

    quick: run with the seed ``first``. more: quick, with seeds of their own.
    """
    known = [(phase, index, first) for phase, index in quick]
    known += more
    others = [(*each, first + seed) for each in EACH for seed in range(seeds)]
    return [*known, *rows_in_full(*(each for each in others if each not in known))]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("phase", "index", "seed"), cases(2, QUICK, more=MORE))
def test_a_layer_in_passes_gives_the_bits_of_the_whole_layer(
    phase: str, index: int, seed: int
) -> None:
    run(phase, index, seed, "myhdl", None if seed % 2 == 0 else seed)


@pytest.mark.parametrize(
    ("phase", "index"), [("fp", 3), ("dp", 3), *rows_in_full(("dp", 0), ("ku", 2))]
)
def test_a_starved_or_blocked_stream_of_partial_sums_changes_no_bit(phase: str, index: int) -> None:
    run(phase, index, 3, "myhdl", 7)


@pytest.mark.parametrize(("phase", "index"), [("dp", 2), ("ku", 0), *rows_in_full(("fp", 1))])
def test_two_parts_each_way(phase: str, index: int) -> None:
    """First and last parts take turns: what one leaves behind must not be seen by the other."""
    for seed in range(60, 100):
        whole = CASES[phase][0](seed, index)
        assert isinstance(whole.tiles, ForwardTiles | DeltaTiles | UpdateTiles)
        sizes = [
            sum(map(len, parts)) for parts in (whole.tiles.cut.outputs, whole.tiles.cut.inputs)
        ]
        undone = getattr(whole.tiles, "unpooled", None)
        if min(sizes) > 1 and (undone is None or undone.relu):
            break
    cut = Cut.of(sizes[0], sizes[1], (2, 2))
    found = run_in_passes(replace(whole.tiles, cut=cut), "myhdl", "behavioural")
    assert found.failures == []
    assert len(found.passes) == 4
    for name, golden in whole.golden.items():
        assert np.array_equal(found.arrays[name], golden), name


def test_the_rtl_of_wide_sums_gives_the_same_bits() -> None:
    run("fp", 3, 4, "myhdl", None, "rtl")


@pytest.mark.sample(1)
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("phase", "index"),
    [("fp", 3), ("ku", 15), *rows_in_full(("fp", 13), ("dp", 2), ("dp", 19), ("ku", 8))],
)
def test_verilog_in_passes_gives_the_bits_of_the_whole_layer(phase: str, index: int) -> None:
    run(phase, index, 20, "verilator", None)


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(("phase", "index"), EACH)
def test_many_layers_in_passes_in_verilog_with_arrays_in_cpp(phase: str, index: int) -> None:
    for seed in range(21, 27):
        run(phase, index, seed, "verilator", seed if seed % 2 else None, "behavioural")


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("phase", "index"),
    [
        ("fp", 0), ("fp", 12),
        ("dp", 14),  # of three groups, two positions in turn: a constant wider than their register
        *rows_in_full(("fp", 3), ("dp", 3), ("dp", 16), ("ku", 1), ("ku", 14), ("ku", 16)),
    ],
)  # fmt: skip
def test_vhdl_in_passes_gives_the_bits_of_the_whole_layer(phase: str, index: int) -> None:
    run(phase, index, 41, "ghdl", 41 if index else None)


def test_parts_that_do_not_divide_the_maps_differ_by_one() -> None:
    assert [len(each) for each in parts_of(7, 3)] == [2, 2, 3]
    assert np.concatenate(parts_of(7, 3)).tolist() == list(range(7))
    for wrong in (0, 8):
        with pytest.raises(ValueError, match=f"from 1 to 7, not {wrong}"):
            parts_of(7, wrong)


def test_the_words_of_all_passes_follow_the_tiling() -> None:
    """Sums between n parts cross n - 1 times each way; maps in once per part of the outputs."""
    whole = CASES["fp"][0](0, 3)
    tiles = whole.tiles
    assert isinstance(tiles, ForwardTiles)
    shape, images = tiles.shape, len(tiles.x)
    parts = min(3, shape.m), min(3, shape.n)
    found = run_in_passes(
        replace(tiles, cut=Cut.of(shape.m, shape.n, parts)), "myhdl", "behavioural"
    )
    assert found.failures == []
    sums = images * shape.m * shape.out_rows * shape.out_columns
    words = found.words
    assert words["map_in"] == parts[0] * tiles.x.size
    assert words["partial_in"] == words["partial_out"] == (parts[1] - 1) * sums
    assert words["map_out"] == images * shape.m * shape.pooled_rows * shape.pooled_columns
    assert (words["kernel"], words["bias"]) == (tiles.kernels.size, shape.m)
    assert len(found.passes) == parts[0] * parts[1]
