"""The phases of a training step, and which layers of a network have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import FUSED, SEPARATE

PHASES = {"fp": "forward propagation", "dp": "delta propagation", "ku": "kernel update"}
"""What each is called, in the order of a step."""

ONE_PASS = "bp"
"""Delta propagation and kernel update of a layer in one pass."""

PAIR = "ff"
"""Forward propagation of two layers in one pass; it is a phase of the first of them."""

NAMED = {
    "fp": PHASES["fp"],
    PAIR: "forward propagation of two fused layers",
    "dp": PHASES["dp"],
    ONE_PASS: "delta propagation and kernel update in one pass",
    "ku": PHASES["ku"],
}
"""What each is called that hardware runs, in the order of a step that has some of them."""

COUNTED = tuple(phase for phase in NAMED if phase != PAIR)
"""Those whose traffic is counted apart."""


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Whether a layer has the phase, by how the network goes back, and which layers it fuses.

    Images have no delta to propagate. One pass is for convolutions alone: where the network goes
    back in one, fully connected layers have both phases, and the first layer its update.
    """
    propagates = previous(network, layer) is not None
    one_pass = network.backward == FUSED and propagates and layer.kind == "conv"
    return {
        "fp": layer.name not in network.fuse,
        PAIR: layer.name in network.fuse[:1],
        "dp": propagates and not one_pass,
        "ku": not one_pass,
        ONE_PASS: one_pass,
    }[phase]


def pair_named(network: Network, asked: str | None) -> tuple[str, ...]:
    """The names of two layers that are named as one, ``conv1+conv2``; else none."""
    names = [layer.name for layer in network.layers]
    if asked is None or asked in names:
        return ()
    pairs = ((one, other) for one, other in permutations(names, 2) if f"{one}+{other}" == asked)
    return next(pairs, ())


def fusing(network: Network, layer: str, phase: str) -> tuple[Network, str, str]:
    """What is asked for by a name that may be of two layers, ``conv1+conv2``: these are fused.

    Returns the network as it then fuses, the layer that has the phase, and the phase: of two layers
    ``ff`` of the first. A layer that is named alone is not fused, but where its ``ff`` is asked
    for.

    Raises:
        BadInput: two layers are named, and another phase than forward propagation.
    """
    names = pair_named(network, layer)
    if names:
        if phase not in ("fp", PAIR):
            raise BadInput(
                f"{mention('phase', phase)}: of {names[0]} and {names[1]} fused: allowed: fp"
            )
        return replace(network, fuse=names), names[0], PAIR
    return network if phase == PAIR else replace(network, fuse=()), layer, phase


def made_by(network: Network, layer: Layer, phase: str) -> Layer:
    """The layer whose output a pass of ``phase`` of ``layer`` makes: of two fused ones the second.

    It is that of the pass, whether or not its output is a layer's input.
    """
    return network.layer(network.fuse[-1]) if phase == PAIR else layer


def called(network: Network, layer: Layer, phase: str) -> str:
    """What a pass of ``phase`` of ``layer`` is called by: of two fused layers both."""
    return "+".join(network.fuse) if phase == PAIR else layer.name


def phases_of_step(network: Network) -> tuple[str, ...]:
    """The phases that layers of a network have, in the order of ``NAMED``."""
    return tuple(
        phase
        for phase in NAMED
        if any(has_phase(network, layer, phase) for layer in network.layers)
    )


def phases_counted(network: Network) -> tuple[str, ...]:
    """``PHASES``, and one pass for two of them where the network goes back in it.

    Of two fused layers each has its share of the words, as ``fp``.
    """
    return tuple(
        phase
        for phase in COUNTED
        if phase in PHASES or (phase == ONE_PASS and network.backward == FUSED)
    )


def counted_as(phase: str) -> str:
    """The phase of ``COUNTED`` that what a pass moves is counted in."""
    return "fp" if phase == PAIR else phase


def phase_operations(layer: Layer, phase: str, images: int) -> int:
    """Operations of a phase of a layer, all groups: one pass for two phases does those of both."""
    return layer.operations(images) * (2 if phase == ONE_PASS else 1)


def going_back_for(network: Network, phase: str) -> Network:
    """The network, going back as ``phase`` asks for: as its file says, where it asks for neither.

    ``dp`` and ``ku`` are separate passes; any other name than these and ``bp`` asks for neither.
    """
    asked = {"dp": SEPARATE, "ku": SEPARATE, ONE_PASS: FUSED}
    return replace(network, backward=asked.get(phase, network.backward))


def lacks(network: Network, layer: Layer, phase: str) -> str:
    """Why a layer does not have a phase of a network that goes back for it, and what is allowed."""
    if phase == "fp":
        return f"{layer.name} is fused with another layer: allowed: ff, of {network.fuse[0]}"
    if phase == PAIR:
        return f"{layer.name} is not the first of two layers that are fused"
    if phase == ONE_PASS and previous(network, layer) is not None:
        return f"{layer.name} is fully connected: allowed: fp, dp, ku, or a convolution"
    return (
        f"{layer.name} is the first layer, its input has no delta: allowed: fp, ku, or another "
        "layer"
    )


def apart(network: Network, layers: Iterable[Layer]) -> Iterator[str]:
    """Yield, for each layer that does not go back in one pass, what it has and why.

    Nothing of a network that goes back in separate passes.
    """
    for layer in layers if network.backward == FUSED else ():
        if has_phase(network, layer, "dp"):
            yield f"{layer.name} has dp and ku, as it is fully connected"
        elif has_phase(network, layer, "ku"):
            yield f"{layer.name} has ku alone, as it is the first layer, whose input has no delta"
