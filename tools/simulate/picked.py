"""The layers to simulate, and checks that all machines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merp.cosim.engines.names import RTL_ONLY, USUAL_ARRAYS
from merp.cosim.machines.loader import part_that_runs
from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.base.memory import check_memory
from merp.models.golden.memory import golden_bytes
from merp.models.network.network import Layer, Network
from merp.models.network.phases import FP, has_phase, known_phases, lacks, pair_named
from merp.tools.simulate.choice import SimulationChoice

ALL = "all"
ARRAYS = ("behavioural", "rtl")
MOST_CUS = 512
MOST_IMAGES = 256  # in a run


@dataclass(frozen=True, kw_only=True)
class Picked:
    """The layers to simulate.

    Attributes:
        network: network with the simulated designs.
        layers: layers to simulate; each has a design.
        group: the group to run, or None for all.
    """

    network: Network
    layers: tuple[Layer, ...]
    group: int | None


def pick(network: Network, layer: str | None, group: int | str | None, cus: int | None) -> Picked:
    """Return the layers to run and their designs, resized to ``cus`` CUs if it is given.

    Args:
        network: the network.
        layer: a name, two fused layers (``conv1+conv2``), ``all``, or None for the first.
        group: a number, also as digits, ``all``, or None: 0 for a layer, all for ``all``.
        cus: number of CUs, or None.

    Raises:
        BadInput: the layer or group does not exist, a layer has no design, or a design with
            ``cus`` CUs cannot be built.
    """
    pair = pair_named(network, layer)
    if pair:
        network = replace(network, layer_fusion=pair)
        layers = [_with_design(network, name) for name in pair]
    else:
        layers = _layers(network, layer)
    if cus is not None and pair:
        raise BadInput(f"{given('cus', cus)}: allowed without fused layers, which divide the CUs")
    found = _group(layers, layer, group)
    if cus is not None:
        network = part_that_runs(network, layers, "resized")(network, layers, cus)
    return Picked(network=network, layers=tuple(layers), group=found)


def check_phases(network: Network, layers: Sequence[Layer], phase: str) -> None:
    """Refuse a phase, as in ``phases_named``, that no layer has.

    Raises:
        BadInput: no layer has the phase.
    """
    if phase == FP.name and network.layer_fusion:  # fused layers in one pass
        return
    backward = phase != ALL and known_phases()[phase].backward
    if backward and len(layers) == len(network.layer_fusion):
        raise BadInput(
            f"{mention('phase', phase)}: fused {' and '.join(network.layer_fusion)}: allowed: fp"
        )
    if phase != ALL and not any(has_phase(network, layer, phase) for layer in layers):
        raise BadInput(f"{mention('phase', phase)}: {lacks(network, layers[0], phase)}")


def check_deltas(delta_at: str | None, phases: Sequence[str]) -> None:
    """Refuse pooled deltas if no phase reads deltas.

    Raises:
        BadInput: only ``fp`` runs.
    """
    if delta_at == "pooled" and tuple(phases) == (FP.name,):
        raise BadInput(
            f"{mention('delta_at', 'pooled')}: {mention('phase', 'fp')} takes no deltas: allowed "
            "with dp, bp, ku, all"
        )


def first_rows(layer: Layer, rows: int) -> Layer:
    """Return the layer with maps of ``rows`` rows.

    Raises:
        BadInput: the layer's maps have fewer rows, or its kernel or pooling window needs more.
    """
    shape = layer.shape
    if not 1 <= rows <= shape.rows:
        raise BadInput(
            f"{given('rows', rows)}: {layer.name} has {shape.rows}: allowed: 1 to {shape.rows}"
        )
    try:
        return replace(layer, shape=replace(shape, rows=rows))
    except ValueError as error:
        raise BadInput(f"{given('rows', rows)}: {layer.name}: {error}") from error


def check_resume(resume: bool, *, output: bool, wave: bool) -> None:
    """Refuse to resume without a folder, or with a waveform, which finished layers would lack.

    Raises:
        BadInput: the folder is missing, or a waveform is requested.
    """
    if resume and (not output or wave):
        raise BadInput(
            f"{name_of('resume')}: needs the folder of the interrupted run ({name_of('output')}), "
            f"and no {name_of('wave')}"
        )


def check_wave_of(part: str | None, *, wave: bool) -> None:
    """Refuse the option for a part of the design if no waveform is written.

    Raises:
        BadInput: there is no waveform.
    """
    if part is not None and not wave:
        raise BadInput(f"{given('wave_of', part)}: allowed with {name_of('wave')}")


def check_room(choice: SimulationChoice) -> None:
    """Refuse, before any work, a simulation for which the machine has too little memory.

    Raises:
        BadInput: the memory is too small.
    """
    whole_step = choice.state or choice.phases != (FP.name,)
    check_room_of(choice.network, choice.layers[-1], choice.images, whole_step=whole_step)


def check_room_of(network: Network, last: Layer, images: int, *, whole_step: bool) -> None:
    """Check the memory for a golden step up to a layer; ``whole_step``: with deltas.

    Raises:
        BadInput: the machine has too little memory.
    """
    needed = golden_bytes(network, last, images, whole_step=whole_step)
    check_memory(f"simulate {network.name}, {images} image(s)", needed)


def array_of(engine: str, asked: str | None) -> str:
    """Return the requested CU array, or the engine's default.

    Raises:
        BadInput: the engine supports RTL only.
    """
    if engine in RTL_ONLY and asked == "behavioural":
        raise BadInput(
            f"{given('cu_array', asked)}: {mention('engine', engine)} runs RTL only: allowed: rtl"
        )
    return asked or USUAL_ARRAYS[engine]


def _with_design(network: Network, name: str) -> Layer:
    """Return a layer that has a design."""
    layer = network.layer(name)
    network.design(layer)  # raises BadInput if there is none
    return layer


def _layers(network: Network, asked: str | None) -> list[Layer]:
    """Return the layers to run, each with a design."""
    if asked != ALL:
        return [_with_design(network, network.layers[0].name if asked is None else asked)]
    # Each layer feeds the next, so the first layer without a design ends the chain.
    layers: list[Layer] = []
    for layer in network.layers:
        if layer.design is None:
            break
        layers.append(layer)
    if not layers:
        network.design(network.layers[0])
    return layers


def _group(layers: Sequence[Layer], layer: str | None, asked: int | str | None) -> int | None:
    """Return the group to run; None is all of them."""
    if layer == ALL:
        if asked not in (None, ALL):
            raise BadInput(
                f"{given('group', asked)}: with {mention('layer', ALL)} every group runs: "
                "allowed: all"
            )
        return None
    if asked == ALL:
        return None
    groups = layers[0].groups
    if asked is None:
        return 0
    if not str(asked).isdecimal() or int(asked) >= groups:
        raise BadInput(
            f"{given('group', asked)}: {layers[0].name} has {groups}: allowed: 0 to {groups - 1}, "
            "all"
        )
    return int(asked)
