"""Check the content of a folder before a front is written into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from merp.models.base import file_format
from merp.models.base.errors import BadInput, shown
from merp.models.network.network import Network

FRONT = "front.json"

ALLOWED = "allowed is a folder without points of another search, or a new name"


def check_folder(folder: Path, network: Network, names: Sequence[str]) -> None:
    """Refuse a folder with points of another search, which could be mistaken for new ones.

    Args:
        folder: the folder.
        network: the network of the search.
        names: names of the points to write.

    Raises:
        BadInput: it has a front of another network or of a newer format, or network files that
            would not be replaced.
    """
    written = {f"{name}.toml" for name in names}
    others = sorted({path.name for path in folder.glob("*.toml")} - written)
    if others:
        raise BadInput(f"-o {folder}: has {shown(others[0])}: {ALLOWED}")
    try:
        front = json.loads((folder / FRONT).read_text(encoding="utf-8"))
        file_format.check_format(f"-o {folder}: {FRONT}", front, file_format.FRONT)
        other = front["network"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        other = None
    if other != network.name:
        of = "no front" if other is None else f"of {shown(str(other))}"
        raise BadInput(f"-o {folder}: {FRONT} is {of}: {ALLOWED}")
