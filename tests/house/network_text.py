"""Network files of tests, written from a table of their layers."""

from collections.abc import Mapping
from typing import Any


def network_text(
    name: str,
    size: tuple[int, int, int],
    *layers: Mapping[str, Any],
    designs: Mapping[str, Mapping[str, Any]] | None = None,
    **settings: Any,
) -> str:
    """A network file.

    Args:
        name: of the network.
        size: rows, columns and channels of its input.
        layers: of ``layer``, in order.
        designs: keys of each ``[design]`` by its name.
        settings: other keys of ``[network]``.
    """
    size_table = dict(zip(("rows", "columns", "channels"), size, strict=True))
    tables = [("[network]", {"name": name, "input": size_table, **settings})]
    tables += [("[[layer]]", each) for each in layers]
    tables += [(f"[design.{each}]", keys) for each, keys in (designs or {}).items()]
    return "\n".join(
        "".join(f"{line}\n" for line in (head, *(f"{key} = {_value(keys[key])}" for key in keys)))
        for head, keys in tables
    )


def layer(name: str, maps: int, **keys: Any) -> dict[str, Any]:
    """A layer with its output maps; fully connected without a ``kernel``."""
    return {"name": name, "maps": maps, **keys}


def max_pool(window: int, stride: int, **keys: Any) -> dict[str, Any]:
    """Maximum pooling."""
    return {"kind": "max", "window": window, "stride": stride, **keys}


def average_pool(window: int, stride: int, **keys: Any) -> dict[str, Any]:
    """Average pooling."""
    return {"kind": "average", "window": window, "stride": stride, **keys}


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(value)
