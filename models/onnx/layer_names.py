"""Derive the names of layers and of a network from the names in a model."""

from __future__ import annotations

import re
from collections.abc import Collection

from merp.models.base.names import folder_name

LONGEST = 56
"""Most characters of a name, without the number that makes equal names different."""


OPERATORS = ("Conv", "Gemm", "MatMul")
"""Suffixes that PyTorch appends to the names of nodes; they are removed."""


def layer_name(kind: str, node: str, number: int, taken: Collection[str]) -> str:
    """Return a name for the layer of a node: its kind, and the last part of the node's name.

    ``/features/features.0/Conv``, as PyTorch writes it, becomes ``conv-features.0``, and ``Conv_3``
    becomes ``conv_3``. A node without a name gives ``conv1``, by the ``number`` of the layer. If
    the name is among ``taken``, a number is appended.
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
    """Return a name for the network of a file ``stem.onnx``."""
    return _plain(stem)[:LONGEST].rstrip("._+-") or "model"


def _plain(text: str) -> str:
    """Replace all but letters, digits and ``.`` ``_`` ``+`` ``-``; trim all signs at the ends."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("._+-")
