"""Two layers fused in forward propagation: possible designs, and possible pairs of layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from math import inf
from typing import NamedTuple

from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import folds
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Shape
from merp.models.base.state_field import state_field_bits
from merp.models.fpga.parts import PARTS, Part
from merp.models.fpga.resources import capacity
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fpga.estimate import engine_estimate
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits, groups_of, size_design
from merp.models.network.branches import added, adder, previous, takers
from merp.models.network.network import Layer, Network

DEFAULT_PART = "xc7k325t"
"""The paper's part. By default, the CUs are shared so that both engines fit it."""

GROUPS = (1, 2)
"""Groups of the second layer that can be computed in parallel, with one engine each."""

_KEPT = (
    "fmt", "k", "r", "p", "d", "cu_kind", "fused_dsp", "fused_window", "accumulator_precision",
    "operand_precision", "mul_latency", "add_latency", "max_images", "storage", "state",
)  # fmt: skip
"""Fields of a layer's design that its engine in a fused pair also has."""


def fused_layers(network: Network) -> tuple[Layer, Layer]:
    """Return the two layers that a network fuses.

    Raises:
        ValueError: it fuses none.
    """
    first, second = (network.layer(name) for name in network.layer_fusion)
    return first, second


def fused_shape(network: Network, first: Layer, second: Layer) -> FusedShape:
    """Return the shapes of two layers that can be fused: a group of the first, with its groups.

    Raises:
        BadInput: they cannot be fused; the message gives the network, the layers and the reason.
    """
    groups, rest = divmod(second.groups, first.groups)
    refused = {
        f"{second.name} does not take the output of {first.name}": previous(network, second)
        != first,
        f"the output of {first.name} is also used elsewhere": takers(network, first) != (second,)
        or adder(network, first) is not None,
        f"{first.name} adds maps": added(network, first) is not None,
        f"{second.name} adds maps": added(network, second) is not None,
        f"{second.name} has {second.groups} groups and {first.name} {first.groups}": bool(rest)
        or groups not in GROUPS,
    }
    where = _refusal(network, first, second)
    for why, so in refused.items():
        if so:
            raise BadInput(
                f"{where}: {why}: allowed are two convolutions, the second one alone behind the "
                "first, without additions, with as many groups or twice as many"
            )
    return FusedShape(first.shape, second.shape, groups)


def check_fused(shape: FusedShape, design: FusedDesign, images: int, where: str) -> None:
    """Check that two layers can run on ``design``. ``where`` opens the message.

    Raises:
        BadInput: a layer or an option of a design is not allowed in fused layers, or does not fit.
    """
    _check_class(shape, design, where)
    for each, engine in _both(shape, design):
        check_fits(each, images, engine, where)
    second = shape.second
    if design.second.state and shape.groups > 1 and second.m * state_field_bits(second) % 8:
        raise BadInput(
            f"{where}: the state of {second.m} maps of a group is no whole bytes: two groups that "
            "leave state are allowed where it is"
        )


def _both(shape: FusedShape, design: FusedDesign) -> tuple[tuple[Shape, EngineDesign], ...]:
    return (shape.first, design.first), (shape.second, design.second)


def _check_class(shape: FusedShape, design: FusedDesign, where: str) -> None:
    """Check the kinds of layers and designs only, independent of the sizes."""
    engines = (design.first, design.second)
    both = _both(shape, design)
    refused = {
        "a layer is fully connected": any(folds(each, engine.k) for each, engine in both),
        "a layer has smaller kernels than its design": any(
            each.k != engine.k for each, engine in both
        ),
        "a design is for fully connected layers, too": any(each.folded for each in engines),
        "a design is for smaller kernels, too": any(each.widened for each in engines),
        "a design has several elements a beat": any(
            each.map_port > 1 or each.kernel_port > 1 for each in engines
        ),
        "a design is for layers in parts": any(each.partial for each in engines),
        "a design adds maps": any(each.added for each in engines),
    }
    for what, so in refused.items():
        if so:
            raise BadInput(
                f"{where}: {what}: fused in forward propagation are whole convolutions, an element "
                "a beat, without additions"
            )


def check_fusable(network: Network) -> None:
    """Check that two layers that a network fuses may be fused, independent of the part.

    Layers without a design are only checked as far as their traffic needs it.

    Raises:
        BadInput: they may not be fused.
    """
    if network.layer_fusion:
        pair = fused_layers(network)
        shape = fused_shape(network, *pair)
        if all(each.design is not None for each in pair):
            _of_class(network, *pair, shape)


def _of_class(
    network: Network, first: Layer, second: Layer, shape: FusedShape
) -> tuple[EngineDesign, EngineDesign]:
    """Return the designs of two layers if they may be fused, with one kernel element a beat.

    A wider ``kernel_port`` is used only if the layers run separately.

    Raises:
        BadInput: they may not be fused, or a layer has no design.
    """
    one, other = (replace(design_of(network, each), kernel_port=1) for each in (first, second))
    _check_class(shape, FusedDesign(one, other, shape.groups), _refusal(network, first, second))
    return one, other


def _refusal(network: Network, first: Layer, second: Layer) -> str:
    return f"{network.name}: layers {first.name} and {second.name} cannot be fused"


def check_pair(
    network: Network, images: int, *, state: bool = False, part: Part = PARTS[DEFAULT_PART]
) -> None:
    """Check that the fused layers of a network run, and can output the mask kind ``state``.

    Layers without a design are only checked as far as their traffic needs it.

    Raises:
        BadInput: they cannot be fused, or no shares of their CUs are allowed.
    """
    pair = fused_layers(network)
    shape = fused_shape(network, *pair)
    if any(each.design is None for each in pair):
        return
    design = fused_design(network, *pair, state, part)
    check_fused(shape, design, images, _refusal(network, *pair))


def fused_design(
    network: Network,
    first: Layer,
    second: Layer,
    state: bool = False,
    part: Part = PARTS[DEFAULT_PART],
) -> FusedDesign:
    """Return the design of two fused layers, with shares of the CUs of their own designs.

    Of all shares that fit ``part`` by the estimate, it has those with the fastest slower layer. Of
    these, it has the fewest CUs.

    Raises:
        BadInput: the layers cannot be fused, one has no design, or no shares fit.
    """
    shape = fused_shape(network, first, second)
    alone = _of_class(network, first, second, shape)
    one, other = (replace(each, state=state) for each in alone)
    found = _fastest(shape, one, other, part)
    if found is None:
        raise BadInput(
            f"{_refusal(network, first, second)}: no shares of their {one.n_cu} and {other.n_cu} "
            f"CUs fit the {part.name}, with {shape.groups} engine(s) for the second: allowed are "
            "other units or smaller layers"
        )
    return found


def pairs_that_fit(
    network: Network, part: Part = PARTS[DEFAULT_PART]
) -> Iterator[tuple[Layer, Layer, FusedDesign]]:
    """Yield pairs of consecutive layers that can be fused on a part, with their design."""
    for first, second in pairwise(network.layers):
        if first.design is None or second.design is None:
            continue
        try:
            check_pair(network.fusing(first, second, network.designs), 1, part=part)
            yield first, second, fused_design(network, first, second, part=part)
        except BadInput:
            continue


@lru_cache(maxsize=64)
def _fastest(
    shape: FusedShape, one: EngineDesign, other: EngineDesign, part: Part
) -> FusedDesign | None:
    """Return the best shares that fit the part; None if none fit.

    The resources of both engines are the sum of those of each. Therefore each engine is estimated
    once per number of CUs instead of once per pair of numbers.
    """
    has = tuple(capacity(part).figures().values())
    firsts = _of_every_size(one, shape.first, one.n_cu, 1)
    seconds = _of_every_size(other, shape.second, other.n_cu // shape.groups, shape.groups)
    best: tuple[float, float] = (inf, inf)
    found = None
    for first in firsts:
        for second in seconds:
            rank = max(first.slots, second.slots), first.units + second.units
            if rank < best and all(map(_within, first.taken, second.taken, has)):
                best = rank
                found = FusedDesign(first.design, second.design, shape.groups)
    return found


def _within(one: float, other: float, room: float) -> bool:
    return one + other <= room


class _Engines(NamedTuple):
    """The engines of one of two fused layers: their design, CUs, slots of an image, resources."""

    design: EngineDesign
    units: int
    slots: int
    taken: tuple[float, ...]


@lru_cache(maxsize=64)
def _of_every_size(alone: EngineDesign, shape: Shape, most: int, count: int) -> list[_Engines]:
    """Return ``count`` engines of a layer, each of up to ``most`` CUs, without those beyond a
    limit.

    Of several numbers of CUs with the same time, only the least is returned, because it needs fewer
    resources.
    """
    found = []
    for slots, equal in groupby(range(1, most + 1), key=lambda n_cu: image_slots(shape, n_cu)):
        n_cu = next(equal)
        with suppress(ValueError):
            design = _sized(alone, shape, n_cu)
            taken = tuple((engine_estimate(design) * count).figures().values())
            found.append(_Engines(design, count * n_cu, slots, taken))
    return found


def image_slots(shape: Shape, n_cu: int) -> int:
    """Return the slots of an image of a layer."""
    return shape.n * groups_of(shape, n_cu) * shape.out_rows * shape.out_columns


def _sized(alone: EngineDesign, shape: Shape, n_cu: int) -> EngineDesign:
    kept = {key: getattr(alone, key) for key in _KEPT}
    return size_design([shape], **kept | {"n_cu": n_cu, "r": min(alone.r, n_cu)})
