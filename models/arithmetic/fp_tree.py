"""Golden model of the adder tree: it adds neighbours in pairs, level by level.

Source: CNN-MERP section V.C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def fp_tree(terms: ArrayLike, fmt: FloatFormat) -> Bits:
    """Sum the last axis: (..., count) words give (...) words.

    Elements 2j and 2j+1 of a level are added into element j of the next level. An odd last element
    passes to the next level. A single term is returned unchanged, like a wire.

    Raises:
        ValueError: there are no terms.
    """
    level = np.asarray(terms, np.uint32)
    if level.shape[-1] == 0:
        raise ValueError("a tree needs at least one term")
    while level.shape[-1] > 1:
        paired = level.shape[-1] & ~1
        sums = fp_add(level[..., 0:paired:2], level[..., 1:paired:2], fmt)
        level = np.concatenate([sums, level[..., paired:]], axis=-1)
    return level[..., 0].copy()
