"""Options of a training with all layers and phases concurrently; no slow imports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.tools.train.names import ENGINES
from merp.tools.train.request import Train


@dataclass(frozen=True, kw_only=True)
class AtOnce:
    """All layers and phases run concurrently.

    Attributes:
        pooled: whether deltas are stored at pooled resolution.
        depth: maximum number of images in flight.
    """

    pooled: ClassVar[bool] = False
    depth: int


def depth_of(asked: Train, engine: str) -> int:
    """Return the requested or the default number of images in flight.

    Raises:
        BadInput: the request asks for passes of a plan, or for an engine without hardware.
    """
    said = given("architecture", asked.architecture)
    if asked.board is not None:
        raise BadInput(f"{said}: runs no passes of a plan: allowed without {name_of('board')}")
    if engine == "golden":
        able = ", ".join(each for each in ENGINES if each != engine)
        raise BadInput(f"{said}: {mention('engine', engine)} runs no hardware: allowed are {able}")
    return asked.depth or DEPTH
