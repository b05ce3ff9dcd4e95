"""Load networks by name or file."""

from __future__ import annotations

from os import PathLike, fspath

from merp.library.network import Network
from merp.models.base.errors import BadInput, shown
from merp.tools.common.shipped import open_network, shipped_names


def load(source: str | PathLike[str]) -> Network:
    """Return the network of a TOML file, an ONNX model, or a shipped one by its name.

    ``merp.networks()`` lists the shipped names.

    Raises:
        BadInput: there is no such network, or the file is wrong. The message has the file, the key,
            the value and the allowed values.
    """
    if not isinstance(source, str | PathLike):
        raise BadInput(f"load: {shown(source)}: allowed is a name or a path")
    name = fspath(source)
    if not isinstance(name, str):
        raise BadInput(f"load: {shown(source)}: allowed is a path of text, not of bytes")
    return Network(open_network(name, fuses=True))


def networks() -> list[str]:
    """Return the names of the shipped networks."""
    return shipped_names()
