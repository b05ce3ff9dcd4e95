"""Both backward phases of a layer as one pass: the possible designs and layers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import folds
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.designs import design_of, designs_of
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.network.phases import ONE_PASS, has_phase


class Halves(NamedTuple):
    """A design of forward propagation, for each half of a pass of both backward phases."""

    propagation: EngineDesign
    update: EngineDesign


def halves_of(forward: EngineDesign) -> Halves:
    """Split the CUs of a design between the halves; an odd CU belongs to the update.

    There are at least two CUs. A combined pass reads one kernel element a beat. A wider
    ``kernel_port`` is used only by the separate phases.
    """
    propagation = forward.n_cu // 2
    counts = (propagation, forward.n_cu - propagation)
    return Halves(
        *(replace(forward, n_cu=n_cu, r=min(forward.r, n_cu), kernel_port=1) for n_cu in counts)
    )


def check_one_pass(shape: Shape, design: BackwardDesign, where: str) -> None:
    """Check that the backward phases of a layer can be one pass: both use the same order of deltas.

    ``where`` opens the message (file and layer).

    Raises:
        BadInput: the layer, or an option of its designs, is not allowed in a combined pass.
    """
    halves = (design.propagation, design.update)
    refused = {
        "is fully connected": folds(shape, design.update.k),
        "has smaller kernels than the design": shape.k != design.update.k,
        "runs on a design for smaller kernels, too": any(each.widened for each in halves),
        "runs on a design of several elements a beat": any(
            each.map_port > 1 or each.kernel_port > 1 for each in halves
        ),
        "runs in parts": any(each.partial for each in halves),
        "runs on units of narrow factors, which keep rounded kernels": any(
            each.summation.narrow for each in halves
        ),
        "starts its deltas at those of another one": design.propagation.added,
        "runs on a design for fully connected ones": any(each.folded for each in halves),
    }
    for what, so in refused.items():
        if so:
            raise BadInput(
                f"{where}: {what}: delta propagation and kernel update in one pass are allowed for "
                "whole convolutions, an element a beat, without additions"
            )


def check_backward(network: Network, layers: Iterable[Layer] | None = None) -> None:
    """Check that all convolutions of a network, or some layers, can run backward in one pass.

    The check is skipped if the network has separate backward passes. Layers without a design are
    skipped, because only their traffic is known.

    Raises:
        BadInput: a layer cannot, or the machine is not CNN-MERP; the message gives network, layer,
            and the key that requests it.
    """
    if network.backward == COMBINED:
        designs_of(network)  # no other machine has a combined backward pass
    for layer in network.layers if layers is None else layers:
        if has_phase(network, layer, ONE_PASS) and layer.design is not None:
            try:
                backward_design(network, layer)
            except BadInput as error:
                raise BadInput(f'{error}; or backward = "{SEPARATE}"') from error


def in_one_pass(network: Network) -> Network:
    """Return the network with a combined backward pass.

    Raises:
        BadInput: as in ``check_backward``.
    """
    found = replace(network, backward=COMBINED)
    check_backward(found)
    return found


def backward_design(network: Network, layer: Layer) -> BackwardDesign:
    """Return the design of both backward phases in one pass, for all layers that share it.

    Each half has half of the CUs of the design of ``layer``. An odd CU belongs to the update.

    Raises:
        BadInput: the layer has no design, or a design with a single CU. Or the layer or its design
            is not allowed in a combined pass. Or a half would exceed a limit.
        ValueError: none of the layers propagates a delta.
    """
    forward = design_of(network, layer)
    where = f"{network.name}: layer {layer.name}"
    if forward.n_cu < 2:
        raise BadInput(f"{where}: n_cu = 1: two halves of a pass need a CU each")
    halves = halves_of(forward)

    def on(half: EngineDesign) -> Network:
        return replace(network, designs={**network.designs, str(layer.design): half})

    propagation = delta_design(on(halves.propagation), layer, before=True)
    update = update_design(on(halves.update), layer)
    design = BackwardDesign(propagation.engine, update, propagation.unpool)
    check_one_pass(layer.shape, design, where)
    return design
