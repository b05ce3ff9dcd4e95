"""Two layers of a plan as one pass of forward propagation, on a bitstream of both."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import (
    check_pair,
    fused_design,
    fused_layers,
    fused_shape,
)
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.work import POOLED, PhaseWork
from merp.models.network.network import Network
from merp.models.network.phases import PAIR


def check_fusing(network: Network, state: str) -> None:
    """Refuse layers or masks that no hardware fuses, independent of their designs and the part.

    Raises:
        BadInput: there is no such hardware.
    """
    fused_shape(network, *fused_layers(network))
    if state != POOLED:
        raise BadInput(
            f"{network.name}: layer_fusion: no hardware that fuses layers keeps state {state}: "
            f"allowed is {POOLED}, or no layer_fusion"
        )


def fused(
    network: Network, halves: tuple[PhaseWork, PhaseWork], board: Board
) -> tuple[PlannedEngine, PhaseWork]:
    """Return the bitstream and the pass of two layers, with the shares of their units that fit.

    Args:
        network: of the layers; its own fused layers are ignored.
        halves: their forward propagation, as if they ran separately, with the hardware's kind of
            mask.

    Raises:
        BadInput: hardware does not fuse them, or no shares of their units fit the board.
    """
    one, other = halves
    first, second, images = one.layer, other.layer, one.images
    designs = dict(network.designs)
    for layer in (first, second):
        design = design_of(network, layer)
        roomy = max(images, design.max_images)
        designs[str(layer.design)] = replace(design, max_images=roomy)
    network = network.fusing(first, second, designs)
    check_pair(network, images, state=True, part=board.room)
    pair = fused_design(network, first, second, state=True, part=board.room)
    both = replace(one, engine=pair.first), replace(other, engine=pair.second)
    name = f"{first.design}+{second.design}"
    engine = PlannedEngine(name=name, phase=PAIR, design=pair.first, unpool=None, pair=pair)
    return engine, replace(both[0], phase=PAIR, halves=both)
