"""Words on the ports of a convolution module in a run: by formula, and by a walk of the loops.

F-CNN section IV, equation 11: partial sums leave for the memory after each input map and come back
with the next one. A word is a beat: ``lanes`` elements of a map, ``maps_at_once * lanes`` of sums,
and a single element of kernels and biases.
"""

from __future__ import annotations

from collections.abc import Mapping

from merp.models.machines.fcnn.params.conv_registers import WORDS, StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign


def port_words(run: StreamRun) -> dict[str, int]:
    """Return the words of each port, by formula.

    n input maps pass for each of the ceil(M/m) blocks of output maps. A column has B/G beats::

        map_in      n ceil(M/m) R C B/G
        kernel      n M k^2
        bias        M
        partial_in  (n - 1) ceil(M/m) Ro Co B/G
        sum_out     n ceil(M/m) Ro Co B/G

    A run that continues sums has n in place of n - 1 and no biases.
    """
    grid, shape = run.grid, run.grid.shape
    return {
        "map_in": grid.passes * grid.map_beats,
        "kernel": shape.n * shape.m * shape.taps,
        "bias": shape.m if run.takes_biases else 0,
        "partial_in": (shape.n - 1 + run.begun) * grid.blocks * grid.out_beats,
        "sum_out": grid.passes * grid.out_beats,
    }


def walked_words(run: StreamRun) -> dict[str, int]:
    """Return the same, counted one by one in the order in which they pass."""
    found = dict.fromkeys(WORDS, 0)
    shape, design, dilation = run.grid.shape, run.grid.design, run.grid.dilation
    columns_of_images = range(0, run.grid.images, design.lanes)
    for block in range(0, shape.m, design.maps_at_once):
        maps = range(block, min(block + design.maps_at_once, shape.m))
        for given in range(shape.n):
            for _ in maps:
                if not given and run.biased and not run.begun:
                    found["bias"] += 1
                for _ in range(shape.k):
                    for _ in range(shape.k):
                        found["kernel"] += 1
            for _ in range(0, shape.rows, dilation):
                for _ in range(0, shape.columns, dilation):
                    found["map_in"] += len(columns_of_images)
            for _ in range(0, shape.padded_rows - shape.k + 1, shape.stride):
                for _ in range(0, shape.padded_columns - shape.k + 1, shape.stride):
                    for _ in columns_of_images:
                        found["sum_out"] += 1
                        if given or run.begun:
                            found["partial_in"] += 1
    return found


def word_elements(design: StreamDesign) -> dict[str, int]:
    """Return the elements of a word of each port."""
    sums = design.maps_at_once * design.lanes
    return {"map_in": design.lanes, "kernel": 1, "bias": 1, "partial_in": sums, "sum_out": sums}


def elements(words: Mapping[str, int], design: StreamDesign) -> dict[str, int]:
    """Return the elements of these words of each port, as a monitor of the pins counts them."""
    own = word_elements(design)
    return {port: count * own[port] for port, count in words.items()}
