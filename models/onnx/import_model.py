"""A network of an ONNX model: tables of a network file, and kernels and biases by layer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, shown
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.branches import in_order, longest_whole, table_of
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.layer_names import network_name
from merp.models.onnx.model_file import read_model
from merp.models.onnx.node import Node
from merp.models.onnx.operators import refusal, take
from merp.models.onnx.tensor import Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Imported:
    """What came of a model.

    Attributes:
        model: the ``ModelProto``. network: with the model's numbers as its weights.
        constants: of its graph, by name.
        tables: as a network file has them. layers: with their nodes.
        said: what became of nodes that are no layers, a line each.
        left: nodes that are not in the network, which a partial import leaves.
        reason: why the first of them is not; "" if there are none.
    """

    model: Any
    network: Network
    constants: Mapping[str, Tensor]
    tables: Mapping[str, Any]
    layers: tuple[ModelLayer, ...]
    said: tuple[str, ...]
    left: tuple[Node, ...]
    reason: str


class ModelWeights(Mapping[str, tuple[Bits, Bits]]):
    """Kernels and biases of the layers that a model has numbers for, made when asked for."""

    def __init__(self, layers: tuple[ModelLayer, ...], fmt: FloatFormat) -> None:
        self._layers = {layer.name: layer for layer in layers if layer.has_data}
        self._fmt = fmt

    def __getitem__(self, name: str) -> tuple[Bits, Bits]:
        """Kernels (groups*m, n, k, k) and biases (groups*m,) of a layer, as words."""
        return self._layers[name].words(self._fmt)

    def __iter__(self) -> Iterator[str]:
        """Names of layers."""
        return iter(self._layers)

    def __len__(self) -> int:
        """How many layers have numbers."""
        return len(self._layers)

    @cached_property
    def _hash(self) -> str:
        found = hashlib.sha256()
        for name, (kernels, biases) in self.items():
            found.update(name.encode())
            found.update(kernels.tobytes())
            found.update(biases.tobytes())
        return found.hexdigest()

    def __repr__(self) -> str:
        """Names all words, as results that are kept must."""
        return f"<weights {self._hash}>"


def import_model(path: Path, *, partial: bool = False) -> Imported:
    """Import the ONNX model ``path``.

    partial: keep the layers in front of what is not supported, and layers that no design runs.

    Raises:
        BadInput: onnx is not installed, the file is no model, or a node is not supported; the
            message is one line.
    """
    model = read_model(path)
    graph = Graph(path.name, model, path.parent)
    assembly = Assembly(graph, network_name(path.stem), partial)
    reason = ""
    try:
        _walk(assembly)
        layers = in_order(assembly.layers)
    except BadInput as error:
        if not partial or not assembly.layers:
            raise
        reason = str(error)
        layers = longest_whole(assembly.layers)
    if not layers:
        raise BadInput(f"{path.name}: no layers: allowed are convolutions and full connections")
    for front, layer in zip([None, *layers], layers, strict=False):
        layer.table = table_of(layer, front)
    tables = assembly.tables(layers)
    weights = ModelWeights(tuple(layers), FORMATS[assembly.format])
    kept = {None, *layers}
    done = {node for node, layer in assembly.done.items() if layer in kept}
    return Imported(
        model=model,
        network=network_of(path.name, tables, weights),
        constants=graph.constants,
        tables=tables,
        layers=tuple(layers),
        said=tuple(said for node, said in assembly.said.items() if node in done),
        left=tuple(graph.left(done)),
        reason=reason,
    )


def _walk(assembly: Assembly) -> None:
    """Take every node."""
    graph = assembly.graph
    for node in graph.nodes:
        if not any(name in assembly.values for name in node.inputs):  # of constants alone
            continue
        if not node.outputs or not node.outputs[0]:
            raise node.refuse("has no output")
        take(assembly, node)
        value = node.outputs[0]
        if value not in graph.users and value != graph.output:
            output = shown(graph.output)
            raise node.refuse(f"{shown(value)} goes nowhere: must be taken, or be output {output}")
    left = graph.left(assembly.done)
    if left:
        raise refusal(left[0])
