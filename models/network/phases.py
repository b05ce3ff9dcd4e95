"""The phases of a training step, and which layers of a network have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.network.phase import DELTAS, FORWARD, UPDATE, Phase
from merp.models.network.registry import machine_of, machines


def _propagates(network: Network, layer: Layer) -> bool:
    """Whether deltas go on behind a layer; images have none."""
    return previous(network, layer) is not None


def _one_pass(network: Network, layer: Layer) -> bool:
    """Whether a layer goes back in one pass: only convolutions do, and not the first layer."""
    return network.backward == COMBINED and _propagates(network, layer) and layer.kind == "conv"


def _first(network: Network, layer: Layer) -> str:
    return (
        f"{layer.name} is the first layer, its input has no delta: allowed: fp, ku, or another "
        "layer"
    )


def _no_one_pass(network: Network, layer: Layer) -> str:
    if not _propagates(network, layer):
        return _first(network, layer)
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
"""It is a phase of the first of the two layers."""

DP = Phase(
    name=DELTAS,
    title="delta propagation",
    does=(DELTAS,),
    has=lambda network, layer: _propagates(network, layer) and not _one_pass(network, layer),
    lacks=_first,
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
    has=lambda network, layer: not _one_pass(network, layer),
    lacks=_first,
)

NAMED = {phase.name: phase for phase in (FP, FF, DP, BP, KU)}
"""All phases of our machines, in the order of a step that has some of them."""

PHASES = {name: phase for name, phase in NAMED.items() if phase.does == (name,)}
"""Those that are one part of a step each."""

ONE_PASS, PAIR = BP.name, FF.name

COUNTED = tuple(name for name, phase in NAMED.items() if phase.counted_as == name)
"""Those whose traffic is counted apart."""


def known_phases() -> Mapping[str, Phase]:
    """``NAMED``, then the phases that further machines bring, by name."""
    brought = {phase.name: phase for machine in machines() for phase in machine.phases}
    return {**NAMED, **{name: each for name, each in brought.items() if name not in NAMED}}


def phases_on(network: Network, layer: Layer) -> Mapping[str, Phase]:
    """Phases of the machine that runs a layer, by name; without a design ``NAMED``."""
    if layer.design is None:
        return NAMED
    return machine_of(network.design(layer)).phase_named


def phase_on(network: Network, layer: Layer, name: str) -> Phase:
    """The phase of this name of the machine that runs a layer, which has one."""
    return phases_on(network, layer)[name]


def fuses(network: Network, layer: Layer, name: str) -> bool:
    """Whether a pass of a phase of ``layer`` runs the layer behind it, too."""
    phase = phases_on(network, layer).get(name)
    return phase is not None and phase.fuses


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Whether a layer has the phase, by how the network goes back, and which layers it fuses."""
    found = phases_on(network, layer).get(phase)
    return found is not None and found.has(network, layer)


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
        if phase not in NAMED or not NAMED[phase].forward:
            raise BadInput(
                f"{mention('phase', phase)}: of {names[0]} and {names[1]} fused: allowed: fp"
            )
        return replace(network, layer_fusion=names), names[0], PAIR
    fused = phase in NAMED and NAMED[phase].fuses
    return network if fused else replace(network, layer_fusion=()), layer, phase


def made_by(network: Network, layer: Layer, phase: str) -> Layer:
    """The layer whose output a pass of ``phase`` of ``layer`` makes: of two fused ones the second.

    It is that of the pass, whether or not its output is a layer's input.
    """
    return network.layer(network.layer_fusion[-1]) if fuses(network, layer, phase) else layer


def called(network: Network, layer: Layer, phase: str) -> str:
    """What a pass of ``phase`` of ``layer`` is called by: of two fused layers both."""
    return "+".join(network.layer_fusion) if fuses(network, layer, phase) else layer.name


def phases_of_step(network: Network) -> tuple[str, ...]:
    """Names of the phases that layers have: those of ``NAMED`` in its order, then others."""
    names = (*NAMED, *(name for layer in network.layers for name in phases_on(network, layer)))
    return tuple(
        name
        for name in dict.fromkeys(names)
        if any(has_phase(network, layer, name) for layer in network.layers)
    )


def phases_counted(network: Network) -> tuple[str, ...]:
    """``PHASES``, and one pass for two of them where the network goes back in it.

    Of two fused layers each has its share of the words, as ``fp``.
    """
    one_pass = network.backward == COMBINED
    return tuple(name for name in COUNTED if one_pass or not NAMED[name].combined)


def counted_as(phase: str) -> str:
    """The phase of ``COUNTED`` that what a pass moves is counted in; a further one by itself."""
    return NAMED[phase].counted_as if phase in NAMED else phase


def phase_operations(layer: Layer, phase: str, images: int) -> int:
    """Operations of a phase of a layer, all groups: one pass for two phases does those of both."""
    parts = len(NAMED[phase].does) if phase in NAMED else 1
    return layer.operations(images) * parts


def going_back_for(network: Network, phase: str) -> Network:
    """The network, going back as ``phase`` asks for: as its file says, where it asks for neither.

    ``dp`` and ``ku`` are separate passes; any other name than these and ``bp`` asks for neither.
    """
    found = NAMED.get(phase)
    if found is None or found.forward:
        return network
    return replace(network, backward=COMBINED if found.combined else SEPARATE)


def lacks(network: Network, layer: Layer, phase: str) -> str:
    """Why a layer does not have a phase of a network that goes back for it, and what is allowed."""
    there = phases_on(network, layer)
    if phase not in there:
        name = machine_of(network.design(layer)).name
        return f"{network.name} runs on {name}: allowed: {', '.join(there)}"
    return there[phase].lacks(network, layer)


def apart(network: Network, layers: Iterable[Layer]) -> Iterator[str]:
    """Yield, for each layer that does not go back in one pass, what it has and why.

    Nothing of a network that goes back in separate passes.
    """
    for layer in layers if network.backward == COMBINED else ():
        if has_phase(network, layer, "dp"):
            yield f"{layer.name} has dp and ku, as it is fully connected"
        elif has_phase(network, layer, "ku"):
            yield f"{layer.name} has ku alone, as it is the first layer, whose input has no delta"
