"""Words on the ports and cycles of a phase of a layer: by formula, and words by a walk."""

from __future__ import annotations

from merp.models.base.shape import Shape
from pointwise.design import STEP, WORDS

UPDATE = "ku"


def pixels_of(shape: Shape, images: int) -> int:
    """Pixels of all images; forward propagation and kernel update see each of them once."""
    return images * shape.rows * shape.columns


def port_words(phase: str, shape: Shape, images: int) -> dict[str, int]:
    """Words on each port in a run, by formula."""
    pixels, parameters = pixels_of(shape, images), shape.m * (shape.n + 1)
    found = dict.fromkeys(WORDS, 0) | {"map_in": pixels * shape.n, "kernel": parameters}
    if phase == UPDATE:
        return found | {"delta_in": pixels * shape.m, "kernel_out": parameters}
    return found | {"map_out": pixels * shape.m}


def walked_words(phase: str, shape: Shape, images: int) -> dict[str, int]:
    """The same, counted one by one in the order in which they pass."""
    found = dict.fromkeys(WORDS, 0)
    beside = "delta_in" if phase == UPDATE else "map_out"
    for _ in range(pixels_of(shape, images)):
        for _ in range(shape.n):
            found["map_in"] += 1
        for _ in range(shape.m):
            found[beside] += 1
    for _ in range(shape.m):
        for _ in range(1 + shape.n):
            found["kernel"] += 1
            found["kernel_out"] += phase == UPDATE
    return found


def steps(phase: str, shape: Shape, images: int) -> int:
    """Multiply-adds that the engine begins."""
    parameters = shape.m * (shape.n + 1)
    return parameters * (pixels_of(shape, images) + (phase == UPDATE))


def cycles(phase: str, shape: Shape, images: int) -> int:
    """Cycles from the one after start to the last word, where no stream waits.

    A cycle for each word, but that a stored element is taken, computed and given in turn.
    """
    words = sum(port_words(phase, shape, images).values())
    return words + STEP * steps(phase, shape, images)
