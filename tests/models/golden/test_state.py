"""State of kind ``pooled``: to bytes and back, cut and joined by maps."""

from dataclasses import replace

import numpy as np
import pytest

from merp.models.arithmetic.words import to_bits
from merp.models.base.formats import BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.golden.state import joined, keep_state, of_maps, packed, unpacked

POOLS = (
    None,
    Pool(kind="max", window=3, stride=2),
    Pool(kind="max", window=2, stride=2),
    Pool(kind="max", window=1, stride=2),
    Pool(kind="average", window=2, stride=1),
)


@pytest.mark.parametrize("pool", POOLS, ids=str)
@pytest.mark.parametrize("relu", [True, False])
def test_state_comes_back_from_its_bytes(pool: Pool | None, relu: bool) -> None:
    shape = Shape(n=1, m=5, k=1, rows=5, columns=6, relu=relu, pool=pool)
    numbers = np.random.default_rng(2).integers(-2, 3, (3, 5, 6, 5))
    state = keep_state(to_bits(numbers, BINARY32), shape, "pooled", BINARY32)
    data = packed(state, shape, BINARY32)
    groups = [of_maps(state, 0, 2), of_maps(state, 2, 5)]
    for found in (unpacked(data, shape, 5, 3), joined(groups)):
        assert found.kind == "pooled"
        assert found.activation is None
        for got, wanted in ((found.mask, state.mask), (found.position, state.position)):
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                assert got.dtype == wanted.dtype
                np.testing.assert_array_equal(got, wanted)
    for wrong in (data + b"\0", data[:-1]):
        if wrong != data:
            with pytest.raises(ValueError, match=f"must be {len(data)} bytes, not {len(wrong)}"):
                unpacked(wrong, shape, 5, 3)


def test_states_that_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="nothing to join"):
        joined([])
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    words = np.zeros((1, 2, 2, 1), np.uint32)
    plain = keep_state(words, shape, "pooled", BINARY32)
    without = keep_state(words, replace(shape, relu=False), "pooled", BINARY32)
    with pytest.raises(ValueError, match="not alike"):
        joined([plain, without])
