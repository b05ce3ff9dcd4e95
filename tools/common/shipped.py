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
    names = shipped_names()
    if name in names:
        return read_network(DATA / f"{name}.toml")
    if name.endswith(".toml") or "/" in name:
        return read_network(Path(name), DATA)
    hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, names, 1))
    raise BadInput(f"no network {name!r}: allowed are {', '.join(names)}, or a .toml file{hint}")
