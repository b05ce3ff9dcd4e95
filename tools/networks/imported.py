"""The result of an import: an answer for programs, a network file, and a file of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_values
from merp.models.base.errors import BadInput
from merp.models.base.file_format import PARAMETERS, numbered
from merp.models.base.given import name_of
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.network.registry import design_tables, machine_that_runs, part_of
from merp.models.onnx.import_model import Imported
from merp.models.onnx.node import Node
from merp.tools.common.network_text import network_text
from merp.tools.common.seal import sealed

MOST_NAMED = 100
"""Most nodes that a comment lists."""


def answer(imported: Imported) -> dict[str, Any]:
    """Return the answer for programs."""
    return {
        "network": imported.network.name,
        "input": dict(zip(("rows", "columns", "channels"), imported.network.input, strict=True)),
        "layers": [
            {
                "name": layer.name,
                "nodes": [node.label for node in layer.nodes],
                "weights": layer.has_data,
                "traffic_only": layer.traffic_only or None,
            }
            for layer in imported.layers
        ],
        "said": list(imported.said),
        "left": [node.label for node in imported.left],
        "reason": imported.reason or None,
    }


def with_board(imported: Imported, board: Board) -> dict[str, dict[str, Any]]:
    """Return the designs of a plan on ``board``, by name, and assign them to the layers.

    Raises:
        BadInput: the machine chooses no designs, none fits the board's part, or a design does not
            take a layer in one piece.
    """
    machine = machine_that_runs(imported.network)
    if not machine.place:
        raise BadInput(f"{machine.name} chooses no designs: {name_of('board')}: omit it")
    chosen: Network = part_of(machine, machine.place)(imported.network, board)
    for layer, table in zip(chosen.layers, imported.tables["layer"], strict=True):
        table["design"] = layer.design
    designs = design_tables(chosen)
    network_of(imported.network.name, {**imported.tables, "design": designs})
    return designs


def network_file(model: str, imported: Imported, designs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of the network file. Comments list the nodes of each layer."""
    about = {layer.name: _about(layer.nodes, layer.traffic_only) for layer in imported.layers}
    head = [f"Made from {model} by merp import; its parameters are in a separate file."]
    head += imported.said
    if imported.left:
        head.append(f"Not in this network: {imported.reason}")
        head += [f"skipped: {node.label}" for node in imported.left[:MOST_NAMED]]
        if more := imported.left[MOST_NAMED:]:
            head.append(f"skipped: {len(more):,} nodes more")
    return network_text(imported.tables, head, about, designs)


def weights_file(imported: Imported) -> bytes:
    """Return the ``.npz`` of the kernels and biases for which the model has numbers.

    Raises:
        BadInput: a number is not finite.
    """
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, pair in imported.network.weights.items():
        for part, words in zip(("kernel", "bias"), pair, strict=True):
            values = to_values(words, imported.network.fmt)
            arrays[f"{name}.{part}"] = values.astype(np.float32)  # exact for every format
    return sealed(numbered(arrays, PARAMETERS))


def _about(nodes: list[Node], traffic_only: str) -> list[str]:
    said = [", ".join(node.label for node in nodes)]
    return said + ([f"traffic only: {traffic_only}"] if traffic_only else [])
