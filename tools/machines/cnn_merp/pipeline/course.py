"""What a training in a pipeline is asked."""

from __future__ import annotations

from merp.tools.machines.cnn_merp.at_once.course import AtOnce, depth_of
from merp.tools.train.request import Train


def course(asked: Train, engine: str) -> AtOnce:
    """The depth.

    Raises:
        BadInput: as ``depth_of``.
    """
    return AtOnce(depth=depth_of(asked, engine))
