"""CU efficiency of two ways to run a layer on a design built for larger ones (section VI.B).

``zero_filling`` computes all maps the design was built for, zeros included; ``controlled`` keeps
the run-time numbers of maps in registers, so that only the last, partial group idles.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from merp.models.params.cnn_merp.sizing import groups_of
from merp.models.params.shape import Shape


def zero_filling(shapes: Sequence[Shape]) -> tuple[Fraction, ...]:
    """Return the useful share of CU slots of each shape on a design for the largest n and m."""
    inputs = max(shape.n for shape in shapes)
    outputs = max(shape.m for shape in shapes)
    return tuple(Fraction(shape.n * shape.m, inputs * outputs) for shape in shapes)


def controlled(shapes: Sequence[Shape], n_cu: int) -> tuple[Fraction, ...]:
    """Return the useful share of CU slots of each shape with run-time numbers of maps."""
    return tuple(Fraction(shape.m, groups_of(shape, n_cu) * n_cu) for shape in shapes)
