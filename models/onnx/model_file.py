"""Read an ONNX file, and check its size, its names and its operator set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.memory import check_memory
from merp.models.base.regular_file import check_regular, check_whole

BYTES = (1 << 31) - 1
"""Largest size of a protobuf message, and therefore of a file without external data."""

NODES = 1 << 14
OLDEST = 7
"""The first operator set with today's rules for broadcasting operands."""

OWN_DOMAINS = ("", "ai.onnx")
COPIES = 3
"""Copies of a file's bytes in memory: the file, the message, and the words of its weights."""


def onnx_package(where: str) -> Any:
    """Import and return the optional package ``onnx``.

    Raises:
        BadInput: it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise BadInput(f"{where}: needs onnx: pip install 'merp[onnx]'") from error
    return onnx


def read_model(path: Path) -> Any:
    """Return the ``ModelProto`` of the file ``path``; external data is not read.

    Raises:
        BadInput: onnx is not installed, the file cannot be read or is too large, or it is not a
            model of a supported operator set.
    """
    onnx = onnx_package(str(path))
    try:
        check_regular(path)
        size = path.stat().st_size
        if size > BYTES:
            raise BadInput(
                f"{path}: {size:,} bytes: allowed are at most {BYTES:,}, larger weights as "
                "external data"
            )
        check_whole(path)
        check_memory(str(path), COPIES * size)
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or "no such name is allowed"
        raise BadInput(f"{path}: cannot be read: {reason}") from error
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # protobuf has several classes of errors
        raise BadInput(f"{path}: cannot be read: allowed is an ONNX model") from error
    _check(path, model, onnx.defs.onnx_opset_version())
    return model


def _texts(graph: Any) -> Iterator[object]:
    """Yield the names in a graph. If a name is not UTF-8, protobuf returns it as bytes."""
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (each.name for each in node.attribute)
    constants = (each.t for node in graph.node for each in node.attribute)
    for tensor in (*graph.initializer, *constants):
        yield tensor.name
        yield from (text for each in tensor.external_data for text in (each.key, each.value))
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (each.dim_param for each in value.type.tensor_type.shape.dim)


def _check(path: Path, model: Any, newest: int) -> None:
    graph = model.graph
    if not graph.node:
        raise BadInput(f"{path.name}: no nodes: allowed is an ONNX model of a network")
    if len(graph.node) > NODES:
        raise BadInput(
            f"{path.name}: {len(graph.node):,} nodes: allowed are at most {NODES:,} in a model"
        )
    if not all(isinstance(text, str) for text in _texts(graph)):
        raise BadInput(f"{path.name}: a name is not UTF-8 text")
    sets = [each.version for each in model.opset_import if each.domain in OWN_DOMAINS]
    if len(sets) != 1 or not OLDEST <= sets[0] <= newest:
        found = ", ".join(map(str, sets)) or "none"
        raise BadInput(
            f"{path.name}: operator set {shown(found)}: must be one from {OLDEST} to {newest}"
        )
