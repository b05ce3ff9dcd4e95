"""The batches that a design of F-CNN can run."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.design import FcnnDesign


def check_run(shape: Shape, images: int, design: FcnnDesign, where: str) -> None:
    """Refuse a batch that the lanes do not divide, or that is larger than the design's.

    Raises:
        BadInput: ``where`` opens the message.
    """
    if images % design.lanes or images > design.max_images:
        raise BadInput(
            f"{where}: {images} images: allowed are multiples of {design.lanes} (lanes) up to "
            f"{design.max_images} (max_images)"
        )
