"""Kernels and biases back into the model that their network was imported from.

Each layer that is written becomes one Conv or Gemm with weights and a bias. What was folded into it
is in them, so the nodes of that are gone; every other node is as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.onnx.element_order import to_channels_first
from merp.models.onnx.import_model import Imported
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.model_file import BYTES
from merp.models.onnx.tensor import EXTERNAL, INLINE, KINDS


def write_back(imported: Imported, words: Mapping[str, tuple[Bits, Bits]]) -> bytes:
    """The model with kernels and biases of some layers, by name; its external data is inside.

    Raises:
        BadInput: the model gets too large for a file.
    """
    model = type(imported.model)()
    model.CopyFrom(imported.model)
    graph = model.graph
    used = _uses(graph)
    gone: set[int] = set()
    for layer in imported.layers:
        if layer.name in words:
            _write(graph, layer, words[layer.name], used)
            gone.update(node.index for node in layer.folded)
    _keep(graph.node, [node for index, node in enumerate(graph.node) if index not in gone])
    _drop_unused(graph)
    for proto in graph.initializer:
        if proto.data_location == EXTERNAL:
            content = imported.constants[proto.name].stored().tobytes()
            proto.ClearField("external_data")
            proto.data_location, proto.raw_data = INLINE, content
    if model.ByteSize() > BYTES:
        raise BadInput(
            f"{imported.network.name}: {model.ByteSize():,} bytes: allowed are at most {BYTES:,}"
        )
    return bytes(model.SerializeToString(deterministic=True))


def _write(
    graph: Any, layer: ModelLayer, words: tuple[Bits, Bits], used: Mapping[str, int]
) -> None:
    """Give the node of a layer its kernels and biases, and the place of what is folded into it."""
    weights, biases = words
    node = graph.node[layer.node.index]
    if node.op_type != "Conv":
        weights = weights[:, :, 0, 0]
        if layer.flattened is not None:
            weights = to_channels_first(weights, layer.flattened)
        if layer.inputs_first:
            weights = weights.T
        # Of a MatMul the bias has no place; of a Gemm without one beta did not count.
        node.op_type = "Gemm"
        _keep(node.attribute, [each for each in node.attribute if each.name != "beta"])
    code = next(code for code, kind in KINDS.items() if kind == layer.weight.kind)
    first, old_weights, old_biases = [*node.input, "", ""][:3]
    names = (
        _put(graph, old_weights, f"{layer.name}.weight", weights, code, used),
        _put(graph, old_biases, f"{layer.name}.bias", biases, code, used),
    )
    del node.input[:]
    node.input.extend((first, *names))
    node.output[0] = layer.output


def _put(graph: Any, old: str, new: str, words: Bits, code: int, used: Mapping[str, int]) -> str:
    """Put words in the place of the initializer ``old``, if it is one node's alone; else a new one.

    Returns its name.
    """
    at = {proto.name: proto for proto in graph.initializer}
    if old in at and used[old] == 1 and tuple(at[old].dims) == words.shape:
        name, proto = old, at[old]
    else:
        taken = at.keys() | _uses(graph).keys() | {name for x in graph.node for name in x.output}
        name = new
        while name in taken:
            name += "_"
        proto = graph.initializer.add()
    proto.Clear()
    proto.name, proto.data_type = name, code
    proto.dims.extend(words.shape)
    # Words are the formats' own bit patterns, in as many bytes as an element has in raw data.
    size = KINDS[code].raw[-1]
    proto.raw_data = words.astype(f"<u{size}").tobytes()
    return name


def _drop_unused(graph: Any) -> None:
    """Drop what nothing takes any more: constants, and nodes in front of what was folded."""
    kept: list[Any] = []
    used = {each.name for each in graph.output}
    for node in reversed(graph.node):
        if not used & set(node.output):
            continue
        kept.append(node)
        used.update(node.input)
    _keep(graph.node, kept[::-1])
    _keep(graph.initializer, [each for each in graph.initializer if each.name in used])
    _keep(graph.input, [each for each in graph.input if each.name in used])
    made = {name for node in graph.node for name in node.output}
    _keep(graph.value_info, [each for each in graph.value_info if each.name in made | used])


def _uses(graph: Any) -> Counter[str]:
    """How many nodes take a value, by its name."""
    return Counter(name for node in graph.node for name in node.input)


def _keep(field: Any, kept: Iterable[Any]) -> None:
    """Leave only some messages in a repeated field."""
    copies = []
    for each in kept:
        copy = type(each)()
        copy.CopyFrom(each)
        copies.append(copy)
    del field[:]
    field.extend(copies)
