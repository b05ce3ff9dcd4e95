"""Export kernels and biases into the model from which their network was imported.

Each exported layer becomes one Conv or Gemm with weights and a bias. They include the operations of
the folded nodes, which are removed. All other nodes are unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.onnx.element_order import to_channels_first
from merp.models.onnx.import_model import Imported
from merp.models.onnx.layer import ModelLayer
from merp.models.onnx.model_file import BYTES
from merp.models.onnx.tensor import EXTERNAL, INLINE, KINDS, code_of


def write_back(imported: Imported, words: Mapping[str, tuple[Bits, Bits]]) -> bytes:
    """Return the bytes of the model with new kernels and biases of some layers.

    External data is moved into the model.

    Args:
        imported: the result of the import.
        words: kernels and biases, by the name of the layer.

    Raises:
        BadInput: the model is too large for a file.
    """
    model = type(imported.model)()
    model.CopyFrom(imported.model)
    graph = model.graph
    used = _uses(graph)
    gone: set[int] = set()
    for layer in imported.layers:
        if layer.name in words and layer.weight is not None:
            _write(graph, layer, words[layer.name], used)
            gone |= _unfold(graph, layer, imported.constants)
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
    """Write kernels and biases into the node of a layer; it replaces the folded nodes."""
    weights, biases = words
    assert layer.weight is not None
    node = graph.node[layer.node.index]
    if node.op_type != "Conv":
        weights = weights[:, :, 0, 0]
        if layer.flattened is not None:
            weights = to_channels_first(weights, layer.flattened)
        if layer.inputs_first:
            weights = weights.T
        # MatMul has no input for a bias, so it becomes Gemm. A Gemm without bias may have any beta.
        node.op_type = "Gemm"
        _keep(node.attribute, [each for each in node.attribute if each.name != "beta"])
    code = code_of(layer.weight.kind)
    first, old_weights, old_biases = [*node.input, "", ""][:3]
    names = (
        _put(graph, old_weights, f"{layer.name}.weight", weights, code, used),
        _put(graph, old_biases, f"{layer.name}.bias", biases, code, used),
    )
    del node.input[:]
    node.input.extend((first, *names))


def _unfold(graph: Any, layer: ModelLayer, constants: Container[str]) -> set[int]:
    """Take the folded nodes of a layer out of the graph, and return the indices of those to remove.

    It is removed with the nodes between them, which have no effect. If one of these is a Transpose,
    it becomes an Identity, and they stay.
    """
    node, gone = graph.node[layer.node.index], set()
    makers = {name: each for each in graph.node for name in each.output}
    for each in layer.folded:
        folded = graph.node[each.index]
        (value,) = (name for name in folded.input if name and name not in constants)
        before = value
        while before != node.output[0] and makers[before].op_type != "Transpose":
            before = makers[before].input[0]
        if before == node.output[0]:
            node.output[0] = folded.output[0]
            gone.add(each.index)
        else:
            folded.op_type = "Identity"
            del folded.attribute[:], folded.input[:]
            folded.input.append(value)
    return gone


def _put(graph: Any, old: str, new: str, words: Bits, code: int, used: Mapping[str, int]) -> str:
    """Write words into the initializer ``old`` if only one node uses it, otherwise into a new one.

    Returns:
        The name of the initializer.
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
    # Words are the bit patterns of the format. They have the same width as elements in raw data.
    size = KINDS[code].raw[-1]
    proto.raw_data = words.astype(f"<u{size}").tobytes()
    return name


def _drop_unused(graph: Any) -> None:
    """Remove unused constants, and nodes whose outputs are unused."""
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
    """Return the number of uses of each value, by its name."""
    return Counter(name for node in graph.node for name in node.input)


def _keep(field: Any, kept: Iterable[Any]) -> None:
    """Replace the messages of a repeated field by copies of ``kept``."""
    copies = []
    for each in kept:
        copy = type(each)()
        copy.CopyFrom(each)
        copies.append(copy)
    del field[:]
    field.extend(copies)
