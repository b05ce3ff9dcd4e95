"""The shipped networks, and how the command line finds a network."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.network.machine_checks import check_network
from merp.models.network.network import Network
from merp.models.network.network_file import read_network, read_tables
from merp.tools.common.data import DATA

MODEL = ".onnx"
FILES = (".toml", MODEL)
"""Possible endings of the name of a network's file."""


def shipped_names() -> list[str]:
    """Return the names of the shipped networks."""
    return sorted(path.stem for path in DATA.glob("*.toml"))


FUSING = (
    "plan", "simulate", "train", "traffic", "networks", "export", "registers", "resources",
)  # fmt: skip
"""Verbs that support layer fusion."""


def open_network(name: str, *, fuses: bool = False) -> Network:
    """Return the shipped network called ``name``, or that of the TOML file or ONNX model ``name``.

    The network of a model has its weights.

    Args:
        name: shipped name or path.
        fuses: whether layer fusion is allowed.

    Raises:
        BadInput: neither exists, or the file is wrong; or its ``backward`` or ``layer_fusion`` is
            not possible or not allowed.
    """
    path = network_path(name)
    if path.suffix == MODEL:
        from merp.models.onnx.import_model import import_model  # import only if needed: it is slow

        return import_model(path).network
    network = checked(read_network(path, DATA))
    return network if fuses else one_by_one(network)


def checked(network: Network) -> Network:
    """Return a network if hardware supports its layers, on a part that is large enough.

    Raises:
        BadInput: its ``backward`` or ``layer_fusion`` is not possible.
    """
    check_network(network)
    return network


def one_by_one(network: Network) -> Network:
    """Return a network whose layers run one by one.

    Raises:
        BadInput: it fuses layers.
    """
    if network.layer_fusion:
        names = ", ".join(f'"{name}"' for name in network.layer_fusion)
        raise BadInput(
            f"{network.name}: layer_fusion = [{names}]: allowed with {', '.join(FUSING)}"
        )
    return network


def open_tables(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a network's file for messages, and its tables, as ``network_of`` takes
    them.

    Raises:
        BadInput: as for ``open_network``; tables of a TOML file are not checked.
    """
    path = network_path(name)
    if path.suffix == MODEL:
        from merp.models.onnx.import_model import import_model

        return path.name, dict(import_model(path).tables)
    return path.name, read_tables(path, DATA)


def network_path(name: str) -> Path:
    """Return the file of the shipped network called ``name``, or the file ``name``.

    Raises:
        BadInput: there is no such network.
    """
    names = shipped_names()
    if name in names:
        return DATA / f"{name}.toml"
    if name.endswith(FILES) or "/" in name:
        return Path(name)
    hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, names, 1))
    raise BadInput(
        f"no network {name!r}: allowed are {', '.join(names)}, or a .toml or .onnx file{hint}"
    )
