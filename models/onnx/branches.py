"""The order of the layers in networks with branches, and their keys in a network file.

``models/network/branches.py`` defines the rules of this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.together import Together, parts_of


def in_order(layers: Sequence[ModelLayer]) -> list[ModelLayer]:
    """Sort ``layers``, given in the order of a model, so that deltas can propagate through them.

    Each layer follows the layers whose outputs it uses or adds. A layer that adds an output also
    follows all layers that use it. Otherwise the order of the model is kept.

    Raises:
        BadInput: there is no such order, an output is not used, or an output with ReLU or pooling
            is only added.
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
    """Return whether ``layers`` still have a valid order if ``adder`` adds ``added``."""
    try:
        _sorter(layers, {layer: layer.added for layer in layers} | {adder: added}).prepare()
    except CycleError:
        return False
    return True


def longest_whole(layers: Sequence[ModelLayer]) -> list[ModelLayer]:
    """Return the longest prefix of ``layers`` that is a valid network, in sorted order."""
    for count in range(len(layers), 1, -1):
        try:
            return in_order(layers[:count])
        except BadInput:
            continue
    return list(layers[:1])


def table_of(layer: ModelLayer, front: ModelLayer | None) -> dict[str, Any]:
    """Return the table [[layer]] of a layer that follows ``front`` in a network file."""
    name, rest = layer.name, {key: layer.table[key] for key in layer.table if key != "name"}
    table: dict[str, Any] = {"name": name}
    if isinstance(layer.source, Together):
        table["input"] = [part.name for part in layer.source.parts]
    elif layer.source is not None and layer.source is not front:
        table["input"] = layer.source.name
    table |= rest
    if layer.added is not None:
        table["add"] = layer.added.name
    return table


def _takers(layers: Sequence[ModelLayer]) -> dict[ModelLayer | None, list[ModelLayer]]:
    """Return for each layer, and for the images, the layers that use its output."""
    found: dict[ModelLayer | None, list[ModelLayer]] = {layer: [] for layer in layers}
    for layer in layers:
        for front in parts_of(layer.source) or (None,):
            found.setdefault(front, []).append(layer)
    return found


def _sorter(
    layers: Sequence[ModelLayer], additions: Mapping[ModelLayer, ModelLayer | None]
) -> TopologicalSorter[int]:
    """Return a sorter of the layers' indices, with the layers that each layer must follow."""
    takers, place = _takers(layers), {layer: index for index, layer in enumerate(layers)}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for layer in layers:
        added = additions[layer]
        fronts = {*parts_of(layer.source), *(() if added is None else (added,))}
        beside = takers[added] if added is not None else []
        sorter.add(place[layer], *sorted(place[each] for each in {*fronts, *beside} - {layer}))
    return sorter


def _check_ends(
    layers: Sequence[ModelLayer],
    takers: Mapping[ModelLayer | None, Sequence[ModelLayer]],
    adders: Mapping[ModelLayer | None, ModelLayer],
) -> None:
    """Check the uses of all outputs.

    Only one output, the network's, may be unused. An output that is only added must be a plain sum.
    """
    ends = [layer for layer in layers if not takers[layer] and layer not in adders]
    if len(ends) > 1:
        raise ends[0].nodes[-1].refuse(f"the output of {ends[0].name} is unused: must be used")
    for layer in layers:
        added, adding = layer.added, layer.adding
        if added is None or adding is None:
            continue
        if added not in takers:
            raise adding.refuse(f"adds the output of {added.name}, which is not imported")
        if not takers[added] and (added.activated or added.leaks or added.pooled):
            raise adding.refuse(
                f"adds the output of {added.name}, which nothing else uses: its ReLU and pooling "
                "must follow the addition"
            )


def _circle(layers: Sequence[ModelLayer]) -> BadInput:
    """Return the error about a cycle of layers in which each layer must precede the next one."""
    for taker, adder in pairwise(layers):
        added, adding = adder.added, adder.adding
        if added is not None and adding is not None and taker.source is added:
            if taker is not adder.source:
                return adding.refuse(
                    f"adds the output of {added.name}, which {taker.node.label} uses, too: must "
                    f"not follow {adder.name}, the layer that adds it"
                )
    raise AssertionError("values are computed before they are used")
