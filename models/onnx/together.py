"""Outputs of several layers of a model that are one value: their maps follow each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.node import Node


@dataclass(kw_only=True, eq=False)
class Together:
    """The outputs of several layers as one value.

    Attributes:
        parts: the layers, in the order of their maps.
        nodes: the Concat, then the ReLU and pooling that became a part of each layer.
        taken: a node that uses the value; None if there is none so far.
    """

    parts: tuple[ModelLayer, ...]
    nodes: list[Node] = field(default_factory=list)
    taken: Node | None = None

    @property
    def name(self) -> str:
        """Names of the layers."""
        return "+".join(part.name for part in self.parts)

    @property
    def activated(self) -> bool:
        """Whether all layers have ReLU."""
        return all(part.activated for part in self.parts)

    @property
    def stops(self) -> bool:
        """Whether all layers have ReLU6."""
        return all(part.stops for part in self.parts)

    @property
    def pooled(self) -> dict[str, Any] | None:
        """Pooling of one of the layers, an average if there is one; None if none pools."""
        found = [part.pooled for part in self.parts if part.pooled]
        return min(found, key=lambda pool: str(pool["kind"]), default=None)

    @property
    def plain(self) -> bool:
        """False: it is not the sums of one layer."""
        return False


Front = ModelLayer | Together
"""What makes a value that is not the images."""


def parts_of(front: Front | None) -> tuple[ModelLayer, ...]:
    """Return the layers that make a value; none make the images."""
    if front is None:
        return ()
    return front.parts if isinstance(front, Together) else (front,)
