"""Options of a run on CNN-MERP, checked against the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.designs import design_of, designs_of
from merp.models.machines.cnn_merp.fused_pair import check_pair, fused_layers
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.machines.cnn_merp.params.design import ARITHMETIC, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits, size_design
from merp.models.network.network import Layer, Network
from merp.models.network.phases import (
    FP,
    ONE_PASS,
    PAIR,
    going_back_for,
    has_phase,
    phases_of_step,
)
from merp.tools.common.bitstream_options import deltas_pooled
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.picked import ALL, Picked, array_of, check_deltas, check_phases, first_rows


def choose_layers(picked: Picked, options: RunOptions) -> SimulationChoice:
    """Check the options of a run on CNN-MERP, and return the checked request.

    Raises:
        BadInput: a design does not support the number of images, options exclude each other, or a
            layer does not support one backward pass.
    """
    phase, rows = options.phase, options.rows
    network, layers = going_back_for(picked.network, phase), picked.layers
    if len(layers) == 1 and phase == PAIR and layers[0].name in network.layer_fusion[:1]:
        layers = fused_layers(network)
    elif len(layers) == 1:
        network = replace(network, layer_fusion=())
    for layer in layers:
        where = f"{network.name}: {layer.name}"
        check_fits(layer.shape, options.images, design_of(network, layer), where)
    array = array_of(options.engine, options.cu_array)
    phases = phases_named(network, phases_of_step(network), layers, phase)
    designs = {layer.design for layer in layers if phases != (PAIR,)}
    if options.wave is not None and (len(phases) > 1 or len(designs) > 1):
        wave = given("wave", options.wave)
        raise BadInput(f"{wave}: allowed only with one phase, and layers of one design")
    if rows is not None:
        if len(layers) > 1 or phases != (FP.name,):
            raise BadInput(
                f"{given('rows', rows)}: allowed with one layer, and {mention('phase', FP.name)}"
            )
        layers = (first_rows(layers[0], rows),)
    check_phases(network, layers, phase)
    if options.state and not {FP.name, PAIR} & set(phases):
        raise BadInput(
            f"{name_of('state')}: {mention('phase', phase)} writes none: allowed with fp, all"
        )
    check_deltas(options.delta_at, phases)
    check_backward(network, layers)
    if PAIR in phases:
        check_pair(network, options.images, state=options.state)
    return SimulationChoice(
        network=network,
        layers=layers,
        phases=phases,
        group=picked.group,
        images=options.images,
        engine=options.engine,
        array=array,
        wave=None,
        rows=rows,
        state=options.state,
        before=deltas_pooled(network, options.delta_at),
    )


def phases_named(
    network: Network, of_step: Sequence[str], layers: Sequence[Layer], phase: str
) -> tuple[str, ...]:
    """Return the phases that ``phase`` names, one of ``NAMED`` or ``all``.

    ``all`` gives every phase of a step. ``bp`` with several layers gives all backward propagation,
    including phases that do not run in one pass.
    """
    if phase == ALL:
        return tuple(of_step)
    if phase == FP.name and network.layer_fusion:
        return tuple(
            each
            for each in (PAIR, FP.name)
            if any(has_phase(network, layer, each) for layer in layers)
        )
    if phase != ONE_PASS or len(layers) == 1:
        return (phase,)
    return tuple(each for each in of_step if each != FP.name)


def resized(network: Network, layers: Sequence[Layer], cus: int) -> Network:
    """Return the network with every design of ``layers`` resized for ``cus`` CUs.

    Raises:
        BadInput: a design belongs to another machine, or does not support this number.
    """
    designs = dict(designs_of(network))
    for name in {layer.design for layer in layers if layer.design}:
        shapes = [layer.shape for layer in network.layers if layer.design == name]
        designs[name] = _sized(designs[name], shapes, cus)
    return replace(network, designs=designs)


def _sized(design: EngineDesign, shapes: Sequence[Shape], cus: int) -> EngineDesign:
    kept = (*ARITHMETIC, "k", "p", "d", "max_images")
    chosen = {key: getattr(design, key) for key in kept}
    try:
        return size_design(shapes, **chosen, n_cu=cus, r=min(design.r, cus))
    except ValueError as error:
        raise BadInput(f"{given('cus', cus)}: {error}") from error
