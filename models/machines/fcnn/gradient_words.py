"""Words on the ports of a gradient module: by formula, and counted one by one.

F-CNN section IV streams all input maps again for each block of output maps. Gradients need the
deltas of a block with each input map, too. A word of a port is a beat.
"""

from __future__ import annotations

from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.gradient_registers import WORDS
from merp.models.machines.fcnn.params.stream_design import StreamDesign


def gradient_words(shape: Shape, images: int, design: StreamDesign) -> dict[str, int]:
    """Return the words of each port.

    With step = B/G and m maps at once: map ``n ceil(M/m) R C step``, delta ``n ceil(M/m) Ro Co
    step``, gradient ``n M k^2 + M``.
    """
    passes = shape.n * -(-shape.m // design.maps_at_once)
    step = images // design.lanes
    return {
        "map_in": passes * shape.rows * shape.columns * step,
        "delta_in": passes * shape.out_rows * shape.out_columns * step,
        "gradient_out": shape.m * (shape.n * shape.k**2 + 1),
    }


def walked_words(shape: Shape, images: int, design: StreamDesign) -> dict[str, int]:
    """Count the words of each port in the order in which they pass."""
    found = dict.fromkeys(WORDS, 0)
    for block in range(0, shape.m, design.maps_at_once):
        maps = range(block, min(shape.m, block + design.maps_at_once))
        for input_map in range(shape.n):
            for _ in range(0, images, design.lanes):
                for _ in range(shape.rows):
                    found["map_in"] += shape.columns
                for _ in range(shape.out_rows):
                    found["delta_in"] += shape.out_columns
            for _ in maps:
                if input_map == 0:
                    found["gradient_out"] += 1
                for _ in range(shape.k):
                    found["gradient_out"] += shape.k
    return found
