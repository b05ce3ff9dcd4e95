"""Options of a training in a pipeline."""

from __future__ import annotations

from merp.tools.machines.cnn_merp.at_once.course import AtOnce, depth_of
from merp.tools.train.request import Train


def course(asked: Train, engine: str) -> AtOnce:
    """Return the course with the number of images in flight.

    Raises:
        BadInput: as in ``depth_of``.
    """
    return AtOnce(depth=depth_of(asked, engine))
