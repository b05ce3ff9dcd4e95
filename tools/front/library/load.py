"""Networks by name or file."""

from __future__ import annotations

from os import PathLike, fspath

from merp.library.network import Network
from merp.models.base.errors import BadInput, shown
from merp.tools.common.shipped import open_network, shipped_names


def load(source: str | PathLike[str]) -> Network:
    """The network of a TOML file, an ONNX model, or a shipped one (``merp.networks()``) by name.

    Raises:
        BadInput: there is none, or the file is wrong: file, key, value, and what is allowed.
    """
    if not isinstance(source, str | PathLike):
        raise BadInput(f"load: {shown(source)}: allowed is a name or a path")
    name = fspath(source)
    if not isinstance(name, str):
        raise BadInput(f"load: {shown(source)}: allowed is a path of text, not of bytes")
    return Network(open_network(name, fuses=True))


def networks() -> list[str]:
    """Names of the networks that are shipped."""
    return shipped_names()
