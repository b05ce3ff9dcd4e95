"""Words on the ports of a matrix product: by formula, and counted one by one.

F-CNN Algorithm 1. A word of a port is a beat: a bias, or a piece of R elements.
"""

from __future__ import annotations

from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import WORDS


def product_words(
    size: tuple[int, int, int], biased: bool, design: ProductDesign
) -> dict[str, int]:
    """Return the words of each port; ``size`` is (I, K, O).

    map ``ceil(O/(R Nk)) K ceil(I/R)``, kernel ``ceil(I/(R A)) K ceil(O/R)``, bias O, sum ``O
    ceil(I/R)``.
    """
    rows, inner, columns = size
    r = design.size
    return {
        "map_in": -(-columns // (r * design.blocks)) * inner * -(-rows // r),
        "kernel": -(-rows // (r * design.turns)) * inner * -(-columns // r),
        "bias": columns if biased else 0,
        "sum_out": columns * -(-rows // r),
    }


def walked_words(size: tuple[int, int, int], biased: bool, design: ProductDesign) -> dict[str, int]:
    """Count the words of each port in the order in which they pass."""
    rows, inner, columns = size
    found = dict.fromkeys(WORDS, 0)
    for left in range(0, columns, design.tile_columns):
        right = min(columns, left + design.tile_columns)
        if biased:
            found["bias"] += right - left
        for top in range(0, rows, design.tile_rows):
            bottom = min(rows, top + design.tile_rows)
            pieces = len(range(top, bottom, design.size))
            for _ in range(inner):
                found["map_in"] += pieces
                for _ in range(left, right, design.size):
                    found["kernel"] += 1
            for _ in range(left, right):
                found["sum_out"] += pieces
    return found
