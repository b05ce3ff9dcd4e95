"""Every row and every column comes out of one copy of the kernels."""

import numpy as np
import pytest

from merp.models.machines.mac_array.circulant import column, parameter_beats, row


@pytest.mark.sample(15)
@pytest.mark.parametrize("side", range(1, 8))
@pytest.mark.parametrize("lanes", [4, 8, 16, 32, 64])
def test_rows_and_columns_are_those_of_the_kernels(lanes: int, side: int) -> None:
    rng = np.random.default_rng(lanes * side)
    taps = side * side
    sizes = (1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3)
    for inputs in sizes:
        for outputs in sizes:
            kernels = rng.integers(-32768, 32768, (outputs, inputs, taps))
            tiles = -(-outputs // lanes)
            padding = rng.integers(-32768, 32768, (tiles * lanes - outputs, inputs, taps))
            beats = parameter_beats(kernels, lanes, padding)
            assert beats.shape == (tiles * inputs * taps, lanes)
            for tile in range(tiles):
                wanted = kernels[tile * lanes : (tile + 1) * lanes]
                for i in range(inputs):
                    given = row(beats, inputs, taps, tile, i)
                    assert np.array_equal(given[:, : len(wanted)], wanted[:, i].T)
            for tile in range(-(-inputs // lanes)):
                for f in range(outputs):
                    wanted = kernels[f, tile * lanes : (tile + 1) * lanes, ::-1]
                    assert np.array_equal(column(beats, inputs, taps, f, tile), wanted.T)


def test_the_example_of_the_specification() -> None:
    kernels = np.array([[[10 * i + f] for i in range(4)] for f in range(4)])
    beats = parameter_beats(kernels, 4, np.empty((0, 4, 1), dtype=np.int64))
    assert beats.tolist() == [[0, 1, 2, 3], [13, 10, 11, 12], [22, 23, 20, 21], [31, 32, 33, 30]]


def test_padding_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="padding must fill 1 tiles of 4 lanes"):
        parameter_beats(np.zeros((3, 2, 1), np.int64), 4, np.zeros((2, 2, 1), np.int64))
