"""The order of layers that branch and are added, and the keys of a network file that say so.

What an order must keep is said in ``models/network/branches.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.onnx.layer import ModelLayer


def in_order(layers: Sequence[ModelLayer]) -> list[ModelLayer]:
    """Return ``layers``, in the order of a model, so that deltas propagate back through them.

    Each stands behind those whose outputs it takes and adds, and one that adds an output behind all
    that take it; where that leaves a choice, the earlier one of the model is first.

    Raises:
        BadInput: there is no such order; an output goes nowhere, or is only added though it has
            ReLU or pooling.
    """
    takers, adders = _takers(layers), {layer.added: layer for layer in layers}
    _check_ends(layers, takers, adders)
    sorter = _sorter(layers, {layer: layer.added for layer in layers})
    try:
        sorter.prepare()
    except CycleError as error:
        raise _circle([layers[index] for index in error.args[1]]) from error
    found: list[ModelLayer] = []
    ready: list[int] = []
    while sorter.is_active():
        for index in sorter.get_ready():
            heappush(ready, index)
        index = heappop(ready)
        sorter.done(index)
        found.append(layers[index])
    return found


def may_add(adder: ModelLayer, added: ModelLayer, layers: Sequence[ModelLayer]) -> bool:
    """Whether there is an order of ``layers`` with one more addition."""
    try:
        _sorter(layers, {layer: layer.added for layer in layers} | {adder: added}).prepare()
    except CycleError:
        return False
    return True


def longest_whole(layers: Sequence[ModelLayer]) -> list[ModelLayer]:
    """The most of the first ``layers`` that are a network by themselves, in order."""
    for count in range(len(layers), 1, -1):
        try:
            return in_order(layers[:count])
        except BadInput:
            continue
    return list(layers[:1])


def table_of(layer: ModelLayer, front: ModelLayer | None) -> dict[str, Any]:
    """The table [[layer]] of one that stands behind ``front``."""
    name, rest = layer.name, {key: layer.table[key] for key in layer.table if key != "name"}
    table: dict[str, Any] = {"name": name}
    if layer.source is not None and layer.source is not front:
        table["input"] = layer.source.name
    table |= rest
    if layer.added is not None:
        table["add"] = layer.added.name
    return table


def _takers(layers: Sequence[ModelLayer]) -> dict[ModelLayer | None, list[ModelLayer]]:
    """The layers that take the output of each, and the images."""
    found: dict[ModelLayer | None, list[ModelLayer]] = {layer: [] for layer in layers}
    for layer in layers:
        found.setdefault(layer.source, []).append(layer)
    return found


def _sorter(
    layers: Sequence[ModelLayer], additions: Mapping[ModelLayer, ModelLayer | None]
) -> TopologicalSorter[int]:
    """Sorts layers by their places, each behind those that it must follow."""
    takers, place = _takers(layers), {layer: index for index, layer in enumerate(layers)}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for layer in layers:
        added = additions[layer]
        fronts = {each for each in (layer.source, added) if each is not None}
        beside = takers[added] if added is not None else []
        sorter.add(place[layer], *sorted(place[each] for each in {*fronts, *beside} - {layer}))
    return sorter


def _check_ends(
    layers: Sequence[ModelLayer],
    takers: Mapping[ModelLayer | None, Sequence[ModelLayer]],
    adders: Mapping[ModelLayer | None, ModelLayer],
) -> None:
    """Check that one output is nobody's, the network's, and what is only added is plain sums."""
    ends = [layer for layer in layers if not takers[layer] and layer not in adders]
    if len(ends) > 1:
        raise ends[0].nodes[-1].refuse(f"the output of {ends[0].name} goes nowhere: must be taken")
    for layer in layers:
        added, adding = layer.added, layer.adding
        if added is None or adding is None:
            continue
        if added not in takers:
            raise adding.refuse(f"adds the output of {added.name}, which is left out")
        if not takers[added] and (added.activated or added.pooled):
            raise adding.refuse(
                f"adds the output of {added.name}, which nothing else takes: its ReLU and pooling "
                "must be behind the addition"
            )


def _circle(layers: Sequence[ModelLayer]) -> BadInput:
    """The complaint about layers each of which must stand before the next one, and so all."""
    for taker, adder in pairwise(layers):
        added, adding = adder.added, adder.adding
        if added is not None and adding is not None and taker.source is added:
            if taker is not adder.source:
                return adding.refuse(
                    f"adds the output of {added.name}, which {taker.node.label} takes, too: must "
                    f"not follow {adder.name}, the layer that adds it"
                )
    raise AssertionError("values are made before they are taken")
