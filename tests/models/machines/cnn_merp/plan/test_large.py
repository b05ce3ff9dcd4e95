"""Plans of networks a thousand times larger than the shipped ones: work is counted, not timed."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from merp.models.base import toml_section
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp import fused_pair
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.design import RANGES, EngineDesign
from merp.models.machines.cnn_merp.plan import candidates, search
from merp.models.machines.cnn_merp.plan.fusable import fusable
from merp.models.machines.cnn_merp.plan.plan import plan, works_of
from merp.models.machines.cnn_merp.plan.search import best_tiles
from merp.models.machines.cnn_merp.plan.words import closed_form
from merp.models.network import network
from merp.models.network.network import Layer, Network
from merp.models.network.network_file import network_of
from merp.tools.common.boards import open_board

MEGABYTE = 1 << 20


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[Any]:
    """What a function of a module is asked for from now on: its first arguments."""
    asked: list[Any] = []
    function: Callable[..., Any] = getattr(place, name)

    def counting(*args: Any, **kwargs: Any) -> Any:
        asked.append(args[0])
        return function(*args, **kwargs)

    monkeypatch.setattr(place, name, counting)
    return asked


def chain(layers: int, sizes: int = 1) -> Network:
    """Layers behind each other, of ``sizes`` different shapes."""
    tables = [
        {"name": f"conv{i}", "maps": 16 + i % sizes, "kernel": 3, "pad": 1} for i in range(layers)
    ]
    head = {"name": "chain", "input": {"rows": 8, "columns": 8, "channels": 16}}
    return network_of("chain.toml", {"network": head, "layer": tables})


def test_names_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch, toml_section, "folder_name")
    chain(50)
    assert len(asked) == 50


def test_layers_that_differ_in_names_alone_share_their_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = counted(monkeypatch, search, "candidates")
    board = open_board("kc705")
    calls = []
    for layers in (20, 40):
        asked.clear()
        found = plan(chain(layers), board)
        assert len(found.layers) == 3 * layers - 1
        calls.append(len(asked))
    assert calls[0] == calls[1]


def test_pairs_that_may_fuse_are_estimated_once_for_each_number_of_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    for layers in (6, 12):
        found = plan(chain(layers, sizes=layers), open_board("kc705"))
        fused_pair._fastest.cache_clear()
        fused_pair._of_every_size.cache_clear()
        asked = counted(monkeypatch, fused_pair, "engine_estimate")
        feeds = counted(monkeypatch, network, "feeds_of")
        units = sum(design_of(found.network, layer).n_cu for layer in found.network.layers)
        list(fusable(found))
        assert len(asked) <= 2 * units
        assert len(feeds) <= 2
        calls.append(len(asked))
    assert calls[1] < 3 * calls[0]


def wide(rows: int, maps: int, kernel: int) -> Network:
    """A convolution and a fully connected layer, each on a design of a single unit."""
    shape = Shape(n=maps, m=maps, k=kernel, rows=rows, columns=rows, pad=kernel // 2)
    full = Shape(n=rows * rows * maps, m=maps, k=1, rows=1, columns=1)
    design = EngineDesign(
        k=kernel, n_cu=1, r=1, kernel_words=1, groups=1, row_words=1, max_size=1, max_maps=1,
        fifo_words=1,
    )  # fmt: skip
    return Network(
        name="wide", input=(rows, rows, maps), designs={"d": design},
        layers=(
            Layer(name="conv1", kind="conv", shape=shape, design="d"),
            Layer(name="fc2", kind="fc", shape=full, design="d"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("phase", ["fp", "dp", "ku"])
def test_the_part_bounds_the_tiles_and_not_the_layer(phase: str) -> None:
    works = list(works_of(wide(256, 1 << 16, 3), "d", phase, 4, "pooled"))
    board = open_board("kc705")
    board = replace(board, part=replace(board.part, block_rams=60))
    tracemalloc.start()
    engine, tiles = best_tiles("d", works, board, "bytes")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE
    assert engine.design.kernel_words <= RANGES["kernel_words"][1]
    for work, tile in zip(works, tiles, strict=True):
        assert min(tile) >= 1
        assert sum(closed_form(work, *tile).values()) > 0


def test_bands_have_every_tile_within_the_sizes_once() -> None:
    sizes = candidates.Sizes(*(np.array([words]) for words in (3000, 1 << 20)))
    inputs = np.arange(1, 2001)
    groups = np.arange(1, 1001)
    seen: set[tuple[int, int]] = set()
    cells = 0
    for rows, columns in candidates._bands(inputs, groups, sizes):
        some = [(int(i), int(g)) for i in inputs[rows] for g in groups[columns]]
        cells += len(some)
        within = {pair for pair in some if pair[0] * pair[1] <= 3000}
        assert not seen & within
        seen |= within
    assert seen == {(int(i), int(g)) for i in inputs for g in groups if i * g <= 3000}
    assert cells < 4 * len(seen) < inputs.size * groups.size / 10
