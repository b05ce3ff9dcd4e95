"""The seal of arrays that are kept."""

from __future__ import annotations

import numpy as np

from merp.tools.common.seal import sealed


def test_equal_arrays_give_equal_bytes_however_they_lie_in_memory() -> None:
    array = np.arange(6).reshape(2, 3)
    assert sealed({"a": array}) == sealed({"a": np.asfortranarray(array)})
    assert sealed({"a": array}) != sealed({"a": array + 1})
