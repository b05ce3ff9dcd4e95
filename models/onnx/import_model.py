"""Import an ONNX model: tables of a network file, and kernels and biases by layer."""

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
from merp.models.onnx.assembly import NO_DIFFERENCE, Allowed, Assembly
from merp.models.onnx.branches import in_order, longest_whole, table_of
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.layer_names import network_name
from merp.models.onnx.local_functions import inlined
from merp.models.onnx.model_file import read_model
from merp.models.onnx.node import Node
from merp.models.onnx.normalise import is_normal, normalised
from merp.models.onnx.operators import refusal, take
from merp.models.onnx.tensor import Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Imported:
    """The result of an import.

    Attributes:
        model: the ``ModelProto``.
        network: the network, with the model's numbers as its weights.
        constants: constants of the graph, by name.
        tables: the tables of a network file.
        layers: the layers, with their nodes.
        said: notes on nodes that are not layers, one line per node.
        left: nodes that are not in the network, after a partial import.
        reason: the reason why the first of these nodes is not; "" if there are none.
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
    """Kernels and biases of the layers for which a model has numbers, computed on demand."""

    def __init__(self, layers: tuple[ModelLayer, ...], fmt: FloatFormat) -> None:
        self._layers = {
            layer.name: layer for layer in layers if layer.weight is not None and layer.has_data
        }
        self._fmt = fmt

    def __getitem__(self, name: str) -> tuple[Bits, Bits]:
        """Return the words of kernels (groups*m, n, k, k) and biases (groups*m,) of a layer."""
        return self._layers[name].words(self._fmt)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the layers with numbers."""
        return iter(self._layers)

    def __len__(self) -> int:
        """Return the number of layers with numbers."""
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
        """Return a text that identifies all words; caches of results use it as a key."""
        return f"<weights {self._hash}>"


def import_model(path: Path, allowed: Allowed = NO_DIFFERENCE) -> Imported:
    """Import the ONNX model ``path``.

    With ``allowed.partial``, the layers before an unsupported node are imported. Layers that no
    design can run are imported, too.

    Raises:
        BadInput: onnx is not installed, the file is not a model, or a node is not supported.
    """
    model = inlined(path.name, read_model(path))
    graph = Graph(path.name, model, path.parent)
    if not is_normal(graph):
        graph = normalised(graph, model)
    assembly = Assembly(graph, network_name(path.stem), allowed)
    reason = ""
    try:
        _walk(assembly)
        layers = in_order(assembly.layers)
    except BadInput as error:
        if not allowed.partial or not assembly.layers:
            raise
        reason = str(error)
        layers = longest_whole(assembly.layers)
    if not layers:
        raise BadInput(f"{path.name}: no layers: allowed are convolutions and full connections")
    for front, layer in zip([None, *layers], layers, strict=False):
        layer.table = table_of(layer, front)
    tables = assembly.tables(layers)
    weights = ModelWeights(tuple(layers), FORMATS[assembly.format])
    kept = set(layers)
    done = {node for node, found in assembly.done.items() if kept.issuperset(found)}
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
    """Convert every node."""
    graph = assembly.graph
    for node in graph.nodes:
        if not any(name in assembly.values for name in node.inputs):  # it depends on constants only
            continue
        if not node.outputs or not node.outputs[0]:
            raise node.refuse("has no output")
        take(assembly, node)
        value = node.outputs[0]
        if value not in graph.users and value != graph.output:
            output = shown(graph.output)
            raise node.refuse(f"{shown(value)} is unused: must be used, or be output {output}")
    left = graph.left(assembly.done)
    if left:
        raise refusal(left[0])
    last = assembly.values[graph.output]
    if last.padding is not None:
        raise last.padding.node.refuse("is the last node: must precede a convolution or pooling")
    if last.halved is not None:
        raise last.halved.node.refuse("is the last node: must precede a mean over the other axis")
