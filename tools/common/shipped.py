"""The shipped networks, and how the command line finds a network."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from merp.models.errors import BadInput
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.tools.common.data import DATA


def shipped_names() -> list[str]:
    """Return the names of the shipped networks."""
    return sorted(path.stem for path in DATA.glob("*.toml"))


def open_network(name: str) -> Network:
    """Return the shipped network called ``name``, or that of the TOML file ``name``.

    Raises:
        BadInput: neither exists, or the file is wrong.
    """
    return read_network(network_path(name), DATA)


def network_path(name: str) -> Path:
    """Return the file of the shipped network called ``name``, or the TOML file ``name``.

    Raises:
        BadInput: there is no such network.
    """
    names = shipped_names()
    if name in names:
        return DATA / f"{name}.toml"
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, names, 1))
    raise BadInput(f"no network {name!r}: allowed are {', '.join(names)}, or a .toml file{hint}")
