"""The walk through the passes meets every atom and beat once, as many as the formula says."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from array_layers import random_pass, seen

from merp.models.machines.mac_array import orders
from merp.models.machines.mac_array.array_counter import walked_words
from merp.models.machines.mac_array.array_traffic import port_words
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.pass_words import pass_words


@pytest.mark.parametrize("seed", range(48))
def test_the_walk_counts_what_the_formula_does(seed: int) -> None:
    of, array = random_pass(seed)
    fused = of.fused or of.pool == 1
    for phase in ("fp", "dp"):
        counted = walked_words(replace(of, phase=phase), array)
        assert counted == port_words(seen(of), array, 1, phase, fused=fused)
    lost = replace(of, loss="hinge")
    assert walked_words(lost, array) == port_words(seen(of), array, 1, "fp", fused=fused, loss=True)
    assert walked_words(lost, array) == pass_words(lost, array)
    batch: Counter[str] = Counter()
    for image in range(3):
        batch.update(
            walked_words(
                replace(of, phase="ku", first=image == 0, last=image == 2, has_momentum=True), array
            )
        )
    assert batch == port_words(seen(of), array, 3, "ku", fused=fused, momentum=True)
    alone = replace(of, phase="ku", first=True, last=True)
    assert walked_words(alone, array) == port_words(seen(of), array, 1, "ku", fused=fused)


@pytest.mark.parametrize("seed", range(24))
def test_every_atom_and_beat_comes_once(seed: int) -> None:
    of, array = random_pass(seed)
    delta = replace(of, phase="dp")
    g = of.pool if of.fused else 1
    inputs = (of.inputs, of.rows, array.column_blocks(of.columns))
    outputs = (of.outputs, of.out_rows // g, array.column_blocks(of.out_columns // g))
    for walk, size in (
        (orders.maps_in(of, array), inputs),
        (orders.outputs_of_forward(of, array), outputs),
        (orders.maps_in(delta, array), outputs),
        (orders.outputs_of_delta(delta, array), inputs),
        (orders.update_maps(of, array), inputs),
        (orders.update_deltas(of, array), outputs),
    ):
        assert Counter(walk) == Counter(np.ndindex(size))
    kernels = (array.map_tiles(of.outputs), of.inputs, of.taps)
    for beats in (orders.forward_kernels, orders.delta_kernels, orders.update_parameters):
        found = [beat for beat in beats(of, array) if beat[1] != orders.BIAS]
        assert Counter(found) == Counter(np.ndindex(kernels))


def test_orders_of_a_small_layer() -> None:
    """By hand from the specification: 4 x 4 pixels of 4 maps, 5 maps in, 2 bands."""
    array = Array(pox=4, poy=4, pof=4)
    of = ArrayPass(phase="fp", inputs=2, outputs=5, rows=6, columns=6, kernel=3, pad=1)
    assert [list(rows) for rows in orders.load_bands(of, array)] == [[0, 1, 2, 3, 4], [5]]
    maps = list(orders.maps_in(of, array))
    assert maps[:3] == [(0, 0, 0), (0, 0, 1), (0, 1, 0)]
    assert maps[10] == (1, 0, 0)
    assert maps[-4:] == [(0, 5, 0), (0, 5, 1), (1, 5, 0), (1, 5, 1)]
    out = list(orders.outputs_of_forward(of, array))
    assert out[:5] == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 0, 0)]
    assert out[16] == (0, 0, 1)  # the next column tile
    assert out[32] == (4, 0, 0)  # the next tile of maps
    assert out[40] == (0, 4, 0)  # the next band
    kernels = list(orders.delta_kernels(replace(of, inputs=5), array))
    assert kernels[0] == (0, 0, 0)
    assert kernels[36] == (1, 0, 0)
    assert kernels[72] == (0, 4, 0)
    assert list(orders.update_deltas(of, array))[:4] == [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)]


def test_beats_of_update_with_several_tiles_of_taps() -> None:
    """Of 5 x 5 taps on 4 x 4 pixels four tiles: 4 x 4, 4 x 1, 1 x 4, 1 x 1."""
    of = ArrayPass(phase="ku", inputs=2, outputs=1, rows=5, columns=5, kernel=5)
    order = orders.beats_of_update(of, Array(pox=4, poy=4, pof=4))
    assert [tap for i, tap in order if i == 0] == [
        0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18, 4, 9, 14, 19, 20, 21, 22, 23, 24,
    ]  # fmt: skip
    assert [i for i, _ in order] == [0] * 25 + [1] * 25
