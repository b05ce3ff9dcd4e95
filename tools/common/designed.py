"""Write the network file of a network with designs that were chosen for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.network.network_keys import LAYER_FUSION
from merp.models.network.registry import design_tables
from merp.tools.common.network_text import network_text
from merp.tools.common.shipped import checked


def designed_file(file: str, tables: Mapping[str, Any], made: Network, head: Iterable[str]) -> str:
    """Return the text of a network file, with the designs and the layer fusion of ``made``.

    If a design cannot hold a fully connected layer in one piece, the layer gets no design in the
    file. A plan then folds it onto the same design.

    Args:
        file: its name in messages.
        tables: tables of the file that ``made`` was built from.
        made: the network with its designs.
        head: comments at the top.

    Raises:
        BadInput: no design holds a convolution, or two fused layers, in one piece.
    """
    designs = design_tables(made)
    tables = deepcopy({key: value for key, value in tables.items() if key != "design"})
    tables["network"].pop(LAYER_FUSION.key, None)
    if made.layer_fusion:
        tables["network"][LAYER_FUSION.key] = list(made.layer_fusion)
    for layer, table in zip(made.layers, tables["layer"], strict=True):
        table.pop("design", None)
        if layer.design is not None:
            table["design"] = layer.design
    try:
        network_of(file, {**tables, "design": designs})
    except BadInput:
        for layer, table in zip(made.layers, tables["layer"], strict=True):
            if layer.kind == "fc":
                table.pop("design", None)
    checked(network_of(file, {**tables, "design": designs}))
    return network_text(tables, head, {}, designs)
