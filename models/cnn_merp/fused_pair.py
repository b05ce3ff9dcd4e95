"""Two layers fused in forward propagation: on which designs, and which pairs of layers."""

from __future__ import annotations

from dataclasses import replace

from merp.models.errors import BadInput
from merp.models.network.branches import added, adder, previous, takers
from merp.models.network.network import Layer, Network
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.fused_design import FusedDesign, FusedShape
from merp.models.params.cnn_merp.sizing import check_fits, groups_of, size_design
from merp.models.params.folded_shape import folds
from merp.models.params.shape import Shape
from merp.models.params.state_field import state_field_bits

GROUPS = (1, 2)
"""Of the second layer, that are computed side by side: an engine each."""

_KEPT = (
    "fmt", "k", "r", "p", "d", "cu_kind", "fused_dsp", "fused_window", "accumulator_precision",
    "operand_precision", "mul_latency", "add_latency", "max_images", "storage", "state",
)  # fmt: skip
"""Fields of a layer's design that its engine in a fused pair has, too."""


def fused_shape(network: Network, first: Layer, second: Layer) -> FusedShape:
    """Shapes of two layers that can be fused: a group of the first, and the groups behind it.

    Raises:
        BadInput: they cannot be; the message names the network, the layers and why.
    """
    groups, rest = divmod(second.groups, first.groups)
    refused = {
        f"{second.name} does not take the output of {first.name}": previous(network, second)
        != first,
        f"the output of {first.name} goes elsewhere, too": takers(network, first) != (second,)
        or adder(network, first) is not None,
        f"{first.name} adds maps": added(network, first) is not None,
        f"{second.name} adds maps": added(network, second) is not None,
        f"{second.name} has {second.groups} groups and {first.name} {first.groups}": bool(rest)
        or groups not in GROUPS,
    }
    where = f"{network.name}: layers {first.name} and {second.name} cannot be fused"
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
        BadInput: a layer, or what a design is built for, is not of the class that is fused, or does
            not fit.
    """
    engines = (design.first, design.second)
    both = ((shape.first, design.first), (shape.second, design.second))
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
    for each, engine in both:
        check_fits(each, images, engine, where)
    second = shape.second
    if design.second.state and shape.groups > 1 and second.m * state_field_bits(second) % 8:
        raise BadInput(
            f"{where}: the state of {second.m} maps of a group is no whole bytes: two groups that "
            "leave state are allowed where it is"
        )


def fused_design(network: Network, first: Layer, second: Layer, state: bool = False) -> FusedDesign:
    """Design of two fused layers: each has a share of the CUs of the design that it runs on alone.

    Each of these is taken to fill the FPGA. So the shares are fractions of one whole, and those
    are chosen with which the slower layer is fastest, and of these the fewest CUs.

    Raises:
        BadInput: the layers cannot be fused, or one has no design, or no shares do.
    """
    shape = fused_shape(network, first, second)
    alone = tuple(replace(network.design(each), state=state) for each in (first, second))
    found = [
        (*_slots(shape, *shares), shares)
        for shares in _shares(alone[0].n_cu, alone[1].n_cu, shape.groups)
    ]
    where = f"{network.name}: layers {first.name} and {second.name} cannot be fused"
    if not found:
        raise BadInput(
            f"{where}: n_cu = {alone[0].n_cu} and {alone[1].n_cu}: no shares of them are allowed "
            f"that leave a CU to the first layer and to each of {shape.groups} groups"
        )
    *_, (one, other) = min(found)
    return FusedDesign(
        _sized(alone[0], shape.first, one), _sized(alone[1], shape.second, other), shape.groups
    )


def _shares(first: int, second: int, groups: int) -> list[tuple[int, int]]:
    """CUs of the first layer's engine and of each of the second's, as many as fit beside those."""
    found = []
    for one in range(1, first):
        other = (first - one) * second // first // groups
        if other:
            found.append((one, other))
    return found


def _slots(shape: FusedShape, one: int, other: int) -> tuple[int, int]:
    """Slots of an image of the slower layer; and CUs."""
    slots = max(image_slots(shape.first, one), image_slots(shape.second, other))
    return slots, one + shape.groups * other


def image_slots(shape: Shape, n_cu: int) -> int:
    """Slots of an image of a layer."""
    return shape.n * groups_of(shape, n_cu) * shape.out_rows * shape.out_columns


def _sized(alone: Design, shape: Shape, n_cu: int) -> Design:
    kept = {key: getattr(alone, key) for key in _KEPT}
    return size_design([shape], **kept | {"n_cu": n_cu, "r": min(alone.r, n_cu)})
