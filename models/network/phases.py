"""The phases of a training step, and the layers of a network that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.network.branches import previous, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.network.phase import DELTAS, FORWARD, UPDATE, Phase
from merp.models.network.registry import machine_of, machines


def _propagates(network: Network, layer: Layer) -> bool:
    """Return whether a layer propagates deltas to another layer."""
    return receiver(network, layer) is not None


def _one_pass(network: Network, layer: Layer) -> bool:
    """Return whether a layer has a combined backward pass: trainable convolutions with delta
    propagation do.
    """
    both = layer.trainable and _propagates(network, layer)
    return network.backward == COMBINED and both and layer.kind == "conv"


def _no_delta(network: Network, layer: Layer) -> str:
    """Return why a layer has no delta propagation."""
    if previous(network, layer) is None:
        why = "is the first layer, its input has no delta"
    else:
        why = "has only frozen layers in front, its input needs no delta"
    return f"{layer.name} {why}: allowed: {'fp, ku' if layer.trainable else 'fp'}, or another layer"


def _frozen(network: Network, layer: Layer) -> str:
    """Return why a layer has no kernel update."""
    allowed = "fp, dp" if _propagates(network, layer) else "fp"
    return f"{layer.name} is frozen (trainable = false): allowed: {allowed}, or another layer"


def _no_one_pass(network: Network, layer: Layer) -> str:
    if not layer.trainable:
        return _frozen(network, layer)
    if not _propagates(network, layer):
        return _no_delta(network, layer)
    return f"{layer.name} is fully connected: allowed: fp, dp, ku, or a convolution"


FP = Phase(
    name=FORWARD,
    title="forward propagation",
    does=(FORWARD,),
    has=lambda network, layer: layer.name not in network.layer_fusion,
    lacks=lambda network, layer: (
        f"{layer.name} is fused with another layer: allowed: ff, of {network.layer_fusion[0]}"
    ),
)
FF = Phase(
    name="ff",
    title="forward propagation of two fused layers",
    does=(FORWARD,),
    layers=2,
    has=lambda network, layer: layer.name in network.layer_fusion[:1],
    lacks=lambda network, layer: f"{layer.name} is not the first of two layers that are fused",
)
"""A phase of the first of the two layers."""

DP = Phase(
    name=DELTAS,
    title="delta propagation",
    does=(DELTAS,),
    has=lambda network, layer: _propagates(network, layer) and not _one_pass(network, layer),
    lacks=_no_delta,
)
BP = Phase(
    name="bp",
    title="delta propagation and kernel update in one pass",
    does=(DELTAS, UPDATE),
    has=_one_pass,
    lacks=_no_one_pass,
)
KU = Phase(
    name=UPDATE,
    title="kernel update",
    does=(UPDATE,),
    has=lambda network, layer: layer.trainable and not _one_pass(network, layer),
    lacks=_frozen,
)

NAMED = {phase.name: phase for phase in (FP, FF, DP, BP, KU)}
"""All phases of our machines, in the order of a step."""

PHASES = {name: phase for name, phase in NAMED.items() if phase.does == (name,)}
"""Phases that are a single part of a step each."""

ONE_PASS, PAIR = BP.name, FF.name

COUNTED = tuple(name for name, phase in NAMED.items() if phase.counted_as == name)
"""Phases whose traffic is counted separately."""


def known_phases() -> Mapping[str, Phase]:
    """Return ``NAMED``, then the phases of other machines, by name."""
    brought = {phase.name: phase for machine in machines() for phase in machine.phases}
    return {**NAMED, **{name: each for name, each in brought.items() if name not in NAMED}}


def phases_on(network: Network, layer: Layer) -> Mapping[str, Phase]:
    """Return the phases of the machine that runs a layer, by name; without a design ``NAMED``."""
    if layer.design is None:
        return NAMED
    return machine_of(network.design(layer)).phase_named


def phase_on(network: Network, layer: Layer, name: str) -> Phase:
    """Return the phase of this name of the machine that runs a layer; the machine has one."""
    return phases_on(network, layer)[name]


def fuses(network: Network, layer: Layer, name: str) -> bool:
    """Return whether a pass of a phase of ``layer`` also runs the layer behind it."""
    phase = phases_on(network, layer).get(name)
    return phase is not None and phase.fuses


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Return whether a layer has the phase, given the network's backward passes and fused
    layers.
    """
    found = phases_on(network, layer).get(phase)
    return found is not None and found.has(network, layer)


def pair_named(network: Network, asked: str | None) -> tuple[str, ...]:
    """Return the names of two layers that are named as one, ``conv1+conv2``; otherwise none."""
    names = [layer.name for layer in network.layers]
    if asked is None or asked in names:
        return ()
    pairs = ((one, other) for one, other in permutations(names, 2) if f"{one}+{other}" == asked)
    return next(pairs, ())


def fusing(network: Network, layer: str, phase: str) -> tuple[Network, str, str]:
    """Interpret a request for a layer whose name may be that of two fused layers, ``conv1+conv2``.

    Returns the network with these layers fused, the layer that has the phase, and the phase. For
    two layers the phase is ``ff`` of the first. A layer that is named alone is not fused, unless
    its ``ff`` is requested.

    Raises:
        BadInput: two layers are named with a phase other than forward propagation.
    """
    names = pair_named(network, layer)
    if names:
        if phase not in NAMED or not NAMED[phase].forward:
            raise BadInput(
                f"{mention('phase', phase)}: of {names[0]} and {names[1]} fused: allowed: fp"
            )
        return replace(network, layer_fusion=names), names[0], PAIR
    fused = phase in NAMED and NAMED[phase].fuses
    return network if fused else replace(network, layer_fusion=()), layer, phase


def made_by(network: Network, layer: Layer, phase: str) -> Layer:
    """Return the layer whose output a pass of ``phase`` of ``layer`` computes.

    For two fused layers it is the second. This is also true if the output is not the input of
    another layer.
    """
    return network.layer(network.layer_fusion[-1]) if fuses(network, layer, phase) else layer


def called(network: Network, layer: Layer, phase: str) -> str:
    """Return the name of the layers of a pass: for two fused layers, the names of both."""
    return "+".join(network.layer_fusion) if fuses(network, layer, phase) else layer.name


def phases_of_step(network: Network) -> tuple[str, ...]:
    """Return the names of the phases that layers have: those of ``NAMED`` in its order, then
    others.
    """
    names = (*NAMED, *(name for layer in network.layers for name in phases_on(network, layer)))
    return tuple(
        name
        for name in dict.fromkeys(names)
        if any(has_phase(network, layer, name) for layer in network.layers)
    )


def phases_counted(network: Network) -> tuple[str, ...]:
    """Return ``PHASES``, with one pass in place of two if the network has combined backward passes.

    Each of two fused layers has its share of the words, as ``fp``.
    """
    one_pass = network.backward == COMBINED
    return tuple(name for name in COUNTED if one_pass or not NAMED[name].combined)


def counted_as(phase: str) -> str:
    """Return the phase of ``COUNTED`` that counts the traffic of ``phase``; other phases as they
    are.
    """
    found = known_phases().get(phase)
    return phase if found is None else found.counted_as


def phase_operations(layer: Layer, phase: str, images: int) -> int:
    """Return the operations of a phase of a layer, all groups; a combined pass does those of
    both. A part of a phase, as pooling, has no multiply-adds.
    """
    if phase in NAMED:
        return layer.operations(images) * len(NAMED[phase].does)
    found = known_phases().get(phase)
    return 0 if found is not None and found.part_of else layer.operations(images)


def going_back_for(network: Network, phase: str) -> Network:
    """Return the network with the backward passes that ``phase`` needs; otherwise those of its
    file.

    ``dp`` and ``ku`` need separate passes, ``bp`` combined ones. Any other phase needs neither.
    """
    found = NAMED.get(phase)
    if found is None or found.forward:
        return network
    return replace(network, backward=COMBINED if found.combined else SEPARATE)


def lacks(network: Network, layer: Layer, phase: str) -> str:
    """Return why a layer does not have a phase, and the allowed phases.

    The network has the backward passes that the phase needs.
    """
    there = phases_on(network, layer)
    if phase not in there:
        name = machine_of(network.design(layer)).name
        return f"{network.name} runs on {name}: allowed: {', '.join(there)}"
    return there[phase].lacks(network, layer)


def apart(network: Network, layers: Iterable[Layer]) -> Iterator[str]:
    """Yield, for each layer without a combined backward pass, its phases and the reason.

    A network with separate backward passes yields nothing.
    """
    for layer in layers if network.backward == COMBINED else ():
        if has_phase(network, layer, "dp"):
            if layer.trainable:
                yield f"{layer.name} has dp and ku, because it is fully connected"
            else:
                yield f"{layer.name} has only dp, because it is frozen"
        elif has_phase(network, layer, "ku"):
            front = previous(network, layer)
            why = "of the first layer has no delta" if front is None else "needs no delta"
            yield f"{layer.name} has only ku, because the input {why}"
