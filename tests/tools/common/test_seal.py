"""The seal of arrays that are kept."""

import numpy as np

from merp.tools.common.seal import sealed


def test_equal_arrays_give_equal_bytes_in_any_order_of_keys_and_of_elements() -> None:
    array = np.arange(6).reshape(2, 3)
    assert sealed({"a": array}) == sealed({"a": np.asfortranarray(array)})
    assert sealed({"a": array}) != sealed({"a": array + 1})
    assert sealed({"a": array, "b": array}) == sealed({"b": array, "a": array})
