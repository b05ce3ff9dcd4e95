"""Kinds of layers that networks contain, and so many random ones of each."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import NamedTuple

from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

MANY = 200


class Kind(NamedTuple):
    """A kind of layer.

    Attributes:
        of: whether a layer on an engine of k x k is of it. built: whether a design takes some.
    """

    of: Callable[[Shape, int], bool]
    built: Callable[[EngineDesign], bool] = lambda design: True


class PoolKind(NamedTuple):
    """A kind of pooling.

    Attributes:
        of: whether pooling of maps, of so many rows and columns, is of it.
        built: whether a design that pools, or undoes it, takes some.
    """

    of: Callable[[Pool, int, int], bool]
    built: Callable[[EngineDesign | UnpoolDesign], bool] = lambda design: True


KINDS = {
    "rectangular maps": Kind(lambda shape, k: shape.rows != shape.columns),
    "sides padded apart": Kind(
        lambda shape, k: not isinstance(shape.pad, int), lambda design: design.sided
    ),
    "smaller kernels": Kind(lambda shape, k: shape.k < k, lambda design: design.widened),
    "stride above the kernel": Kind(
        lambda shape, k: shape.stride > shape.k,
        lambda design: design.widened or design.k < design.max_stride,
    ),
    "depthwise": Kind(lambda shape, k: shape.n == 1),
}
"""By name; a depthwise layer is groups of a map in, each a run."""

POOL_KINDS = {
    "averages of whole maps": PoolKind(
        lambda pool, rows, columns: (
            pool.kind == "average" and min(rows, columns) > 1 and pool.window == max(rows, columns)
        ),
        lambda design: design.average,
    ),
    "windows that hang over": PoolKind(
        lambda pool, rows, columns: pool.pad != 0, lambda design: design.hanging
    ),
    "several windows that hang over an edge": PoolKind(
        lambda pool, rows, columns: pool.far, lambda design: design.far
    ),
    "stride above the window": PoolKind(lambda pool, rows, columns: pool.stride > pool.window),
}
"""By name."""


def pooled(kind: PoolKind, shape: Shape) -> bool:
    """Whether a layer pools, and so."""
    pool = shape.pool
    return pool is not None and kind.of(pool, shape.out_rows, shape.out_columns)


def many(of: Callable[[int, int], bool], places: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    """Seeds of ``MANY`` cases of a kind, or of a few more, for each of some elaborations.

    of: whether the case of a seed, and of a place among elaborations, is of the kind. places: of
    those that take it.
    """
    places = list(places)
    for place in places:
        found = (seed for seed in count(10_000) if of(seed, place))
        yield place, list(islice(found, -(-MANY // len(places))))
