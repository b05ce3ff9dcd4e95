"""Replace calls of functions that a model defines by their nodes, with onnx's inliner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.base.errors import BadInput, one_line
from merp.models.onnx.model_file import NODES

Key = tuple[str, str, str]  # domain, name and overload of a function

DEEPEST = 64
"""Most functions that call each other, one in the other."""


def inlined(where: str, model: Any) -> Any:
    """Return a ``ModelProto`` without functions; without any, the model itself.

    Raises:
        BadInput: functions call each other in a circle, have too many nodes in all, or the library
            refuses them.
    """
    functions = {_key(each.domain, each.name, each): each for each in model.functions}
    if not functions:
        return model
    counts: dict[Key, int] = {}
    count = _count(where, model.graph.node, functions, counts, ())
    if count > NODES:
        raise BadInput(
            f"{where}: {count:,} nodes with its functions: allowed are at most {NODES:,} in a model"
        )
    from onnx.inliner import inline_local_functions

    try:
        return inline_local_functions(model)
    except Exception as error:  # a library in C++ raises whatever it finds
        raise BadInput(f"{where}: its functions: {one_line(str(error), 200)}") from error


def _key(domain: str, name: str, of: Any) -> Key:
    return domain, name, getattr(of, "overload", "")


def _count(
    where: str,
    nodes: Any,
    functions: Mapping[Key, Any],
    counts: dict[Key, int],
    callers: tuple[Key, ...],
) -> int:
    """Return the number of nodes after all calls are replaced; each function is counted once."""
    found = 0
    for node in nodes:
        key = _key(node.domain, node.op_type, node)
        if key not in functions:
            found += 1
            continue
        if key in callers:
            raise BadInput(f"{where}: function {node.op_type} calls itself: must be no circle")
        if len(callers) >= DEEPEST:
            raise BadInput(f"{where}: functions in {len(callers)} functions: at most {DEEPEST}")
        if key not in counts:
            body = functions[key].node
            counts[key] = _count(where, body, functions, counts, (*callers, key))
        found += counts[key]
    return found
