"""A network of an ONNX model: tables of a network file, and kernels and biases by layer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.onnx.chain import Chain
from merp.models.onnx.graph import Graph
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.layer_names import network_name
from merp.models.onnx.model_file import read_model
from merp.models.onnx.node import Node
from merp.models.onnx.operators import refusal, take
from merp.models.onnx.tensor import Tensor
from merp.models.params.bits import Bits
from merp.models.params.formats import FORMATS, FloatFormat


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
    chain = Chain(graph, network_name(path.stem), partial)
    done: list[Node] = []
    reason = ""
    try:
        _walk(chain, done)
    except BadInput as error:
        if not partial or not chain.layers:
            raise
        reason = str(error)
    if not chain.layers:
        raise BadInput(f"{path.name}: no layers: allowed are convolutions and full connections")
    layers = tuple(chain.layers)
    network = network_of(path.name, chain.tables, ModelWeights(layers, FORMATS[chain.format]))
    return Imported(
        model=model,
        network=network,
        constants=graph.constants,
        tables=chain.tables,
        layers=layers,
        said=tuple(chain.said),
        left=tuple(graph.left(done)),
        reason=reason,
    )


def _walk(chain: Chain, done: list[Node]) -> None:
    """Take node after node from the image on, each of them into ``done``."""
    graph = chain.graph
    value = graph.image.name
    while (node := graph.after(value)) is not None:
        if not node.outputs or not node.outputs[0]:
            raise node.refuse("has no output")
        take(chain, node)
        done.append(node)
        value = node.outputs[0]
    left = graph.left(done)
    if left:
        raise refusal(left[0])
