"""Both backward phases of a layer as one pass: on which designs, and of which layers."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.errors import BadInput
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.folded_shape import folds
from merp.models.params.shape import Shape


class BackwardDesign(NamedTuple):
    """Elaboration of both backward phases in one pass.

    Attributes:
        propagation: of delta propagation, a forward engine with roles swapped. update: of the
            kernel update. unpool: un-pooling and ReLU' in front of both.
    """

    propagation: Design
    update: Design
    unpool: UnpoolDesign


def check_one_pass(shape: Shape, design: BackwardDesign, where: str) -> None:
    """Check that the backward phases of a layer can be one pass: both walk one order of deltas.

    ``where`` opens the message (file and layer).

    Raises:
        BadInput: the layer, or what the designs are built for, is not of that class.
    """
    halves = (design.propagation, design.update)
    refused = {
        "is fully connected": folds(shape, design.update.k),
        "has smaller kernels than the design": shape.k != design.update.k
        or any(each.widened for each in halves),
        "runs on a design of several elements a beat": any(
            each.map_port > 1 or each.kernel_port > 1 for each in halves
        ),
        "runs in parts": any(each.partial for each in halves),
        "starts its deltas at those of another one": design.propagation.added,
        "runs on a design for fully connected ones": any(each.folded for each in halves),
    }
    for what, so in refused.items():
        if so:
            raise BadInput(
                f"{where}: {what}: delta propagation and kernel update in one pass are allowed for "
                "whole convolutions, an element a beat, without additions"
            )
