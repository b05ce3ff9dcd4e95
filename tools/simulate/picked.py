"""Which layers of a network are simulated, and checks that all machines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merp.cosim.engines.names import USUAL_ARRAYS
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
    """Which layers of a network are simulated.

    Attributes:
        network: with the designs that are simulated. layers: each has one.
        group: the one to run, or None for all.
    """

    network: Network
    layers: tuple[Layer, ...]
    group: int | None


def pick(network: Network, layer: str | None, group: int | str | None, cus: int | None) -> Picked:
    """Find the layers to run, and their designs, sized anew for ``cus`` CUs if it is given.

    Args:
        layer: a name, two of fused layers (``conv1+conv2``), ``all``, or None for the first.
        group: a number as such or as digits, ``all``, or None: 0 of a layer, all of ``all``.

    Raises:
        BadInput: there is no such layer or group, a layer has no design, or no such one is built.
    """
    pair = pair_named(network, layer)
    if pair:
        network = replace(network, layer_fusion=pair)
        layers = [_with_design(network, name) for name in pair]
    else:
        layers = _layers(network, layer)
    if cus is not None and pair:
        raise BadInput(f"{given('cus', cus)}: allowed without fused layers, which share CUs out")
    found = _group(layers, layer, group)
    if cus is not None:
        network = part_that_runs(network, layers, "resized")(network, layers, cus)
    return Picked(network=network, layers=tuple(layers), group=found)


def check_phases(network: Network, layers: Sequence[Layer], phase: str) -> None:
    """Refuse a phase, as of ``phases_named``, that none of the layers has.

    Raises:
        BadInput: so it is.
    """
    if phase == FP.name and network.layer_fusion:  # fused ones in one pass
        return
    backward = phase != ALL and known_phases()[phase].backward
    if backward and len(layers) == len(network.layer_fusion):
        raise BadInput(
            f"{mention('phase', phase)}: of {' and '.join(network.layer_fusion)} fused: allowed: fp"
        )
    if phase != ALL and not any(has_phase(network, layer, phase) for layer in layers):
        raise BadInput(f"{mention('phase', phase)}: {lacks(network, layers[0], phase)}")


def check_deltas(delta_at: str | None, phases: Sequence[str]) -> None:
    """Refuse pooled deltas where none are taken.

    Raises:
        BadInput: so it is.
    """
    if delta_at == "pooled" and tuple(phases) == (FP.name,):
        raise BadInput(
            f"{mention('delta_at', 'pooled')}: {mention('phase', 'fp')} takes no deltas: allowed "
            "with dp, bp, ku, all"
        )


def first_rows(layer: Layer, rows: int) -> Layer:
    """The layer with maps of ``rows`` rows.

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
    """Refuse to go on where no folder is given, or a waveform is, which finished layers lack.

    Raises:
        BadInput: so it is.
    """
    if resume and (not output or wave):
        raise BadInput(
            f"{name_of('resume')}: needs the folder of the interrupted run ({name_of('output')}), "
            f"and no {name_of('wave')}"
        )


def check_wave_of(part: str | None, *, wave: bool) -> None:
    """Refuse to show a part of the design in no file.

    Raises:
        BadInput: so it is.
    """
    if part is not None and not wave:
        raise BadInput(f"{given('wave_of', part)}: of no file: allowed with {name_of('wave')}")


def check_room(choice: SimulationChoice) -> None:
    """Refuse, before anything is computed, what the machine has too little memory for.

    Raises:
        BadInput: it has.
    """
    whole_step = choice.state or choice.phases != (FP.name,)
    check_room_of(choice.network, choice.layers[-1], choice.images, whole_step=whole_step)


def check_room_of(network: Network, last: Layer, images: int, *, whole_step: bool) -> None:
    """As ``check_room``, of a golden step up to a layer; ``whole_step``: deltas, too.

    Raises:
        BadInput: the machine has too little memory.
    """
    needed = golden_bytes(network, last, images, whole_step=whole_step)
    check_memory(f"simulate {network.name}, {images} image(s)", needed)


def array_of(engine: str, asked: str | None) -> str:
    """The CU array that is simulated: the one asked for, else the engine's usual one.

    Raises:
        BadInput: the engine runs the hardware only.
    """
    if engine == "ghdl" and asked == "behavioural":
        raise BadInput(
            f"{given('cu_array', asked)}: {mention('engine', engine)} runs the hardware: "
            "allowed: rtl"
        )
    return asked or USUAL_ARRAYS[engine]


def _with_design(network: Network, name: str) -> Layer:
    """A layer that has a design."""
    layer = network.layer(name)
    network.design(layer)  # says so where there is none
    return layer


def _layers(network: Network, asked: str | None) -> list[Layer]:
    """The layers to run, each with a design."""
    if asked != ALL:
        return [_with_design(network, network.layers[0].name if asked is None else asked)]
    # Each layer feeds the next, so the first that is traffic-only ends the chain.
    layers: list[Layer] = []
    for layer in network.layers:
        if layer.design is None:
            break
        layers.append(layer)
    if not layers:
        network.design(network.layers[0])
    return layers


def _group(layers: Sequence[Layer], layer: str | None, asked: int | str | None) -> int | None:
    """The group to run; None is all of them."""
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
