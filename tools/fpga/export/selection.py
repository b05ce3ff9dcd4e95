"""The selection of an export, checked against the network; no slow imports."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.errors import BadInput
from merp.models.base.given import given, name_of
from merp.models.base.memory import check_memory
from merp.models.fpga.order_codes import FlowTarget
from merp.models.golden.memory import golden_bytes
from merp.models.network.network import Layer, Network
from merp.models.network.phases import FP, fusing, going_back_for
from merp.tools.common.bitstream_options import check_options, deltas_pooled
from merp.tools.fpga.export.exported import exported_of
from merp.tools.fpga.export.languages import Dialect

MOST_IMAGES = 256  # maximum of a run


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The selection of an export.

    Attributes:
        network: network with its designs.
        layer: the layer whose design is exported, or None for every design in every phase.
        phase: name of the phase of the one design.
        state: whether forward propagation writes ReLU/pooling masks for backward propagation.
        before: whether deltas are stored at pooled resolution.
        images: number of images in a run, for registers and vectors.
        target: the FPGA.
        clock_mhz: clock of the constraint.
        dialect: the language.
    """

    network: Network
    layer: Layer | None
    phase: str
    state: bool
    before: bool
    images: int
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect


def select(
    network: Network,
    layer: str | None,
    *,
    phase: str | None,
    state: bool,
    delta_at: str | None,
    images: int,
    target: FlowTarget,
    clock_mhz: float | None,
    dialect: Dialect,
) -> Selection:
    """Select the design of a layer in a phase (None is ``fp``), or without a layer all designs.

    Raises:
        BadInput: the layer or its design does not exist, or the design does not support the number
            of images. The same error reports options that exclude each other, and vectors that do
            not fit in memory.
    """
    if layer is None and phase is not None:
        raise BadInput(
            f"{given('phase', phase)}: {name_of('all')} exports every phase: allowed with "
            f"{name_of('layer')}"
        )
    asked = phase or "fp"
    if layer is not None:
        network, layer, asked = fusing(network, layer, asked)
    found = None if layer is None else network.layer(layer)
    if found is not None:
        network = going_back_for(network, asked)
        before = check_options(network, asked, state, delta_at)
    else:
        before = deltas_pooled(network, delta_at)
    users = [each for each in network.layers if each.design is not None]
    for each in users if found is None else [found]:
        exported_of(network).check(network, each, images)
    if not users:
        network.design(network.layers[0])  # raises BadInput if there is none
    if found is not None:  # its vectors are written on the network's own input
        whole_step = state or asked != FP.name
        needed = golden_bytes(network, found, images, whole_step=whole_step)
        check_memory(f"export {network.name}, {images} image(s)", needed)
    return Selection(
        network=network,
        layer=found,
        phase=asked,
        state=state or found is None,
        before=before,
        images=images,
        target=target,
        clock_mhz=clock_mhz or target.clock_mhz,
        dialect=dialect,
    )
