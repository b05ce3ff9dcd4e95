"""Names of layers, and of a network, made of those that a model has."""

from __future__ import annotations

import re
from collections.abc import Collection

from merp.models.base.names import folder_name

LONGEST = 56
"""Characters, so that there is room for what tells equal names apart."""


OPERATORS = ("Conv", "Gemm", "MatMul")
"""That PyTorch ends the names of a layer's node with; one may become another in a new model."""


def layer_name(kind: str, node: str, number: int, taken: Collection[str]) -> str:
    """A name for the layer of a node: its own last part, behind ``conv`` or ``fc``.

    ``/features/features.0/Conv``, as PyTorch writes it, becomes ``conv-features.0``, and ``Conv_3``
    ``conv_3``; a node without a name gives ``conv1``, by the ``number`` of the layer. What would be
    one of those ``taken`` gets a number behind it.
    """
    parts = [part for part in node.split("/") if part]
    if len(parts) > 1 and parts[-1] in OPERATORS:
        parts.pop()
    stem = _plain(parts[-1] if parts else "")
    if stem.lower().startswith(kind):
        name = kind + stem[len(kind) :]
    else:
        name = f"{kind}-{stem}" if stem else f"{kind}{number}"
    name = _plain(name[:LONGEST])
    others = {folder_name(each) for each in taken}
    found, again = name, 1
    while folder_name(found) in others:
        again += 1
        found = f"{name}-{again}"
    return found


def network_name(stem: str) -> str:
    """A name for the network of a file ``stem.onnx``."""
    return _plain(stem)[:LONGEST].rstrip("._+-") or "model"


def _plain(text: str) -> str:
    """Letters, digits and ``.`` ``_`` ``+`` ``-``, a letter or digit first and last."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("._+-")
