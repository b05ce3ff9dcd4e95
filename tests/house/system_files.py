"""Files of a package that ``merp system`` wrote."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from merp.models.base.bits import Bits


def read(folder: Path, name: str) -> Any:
    """The content of a JSON file."""
    return json.loads((folder / f"{name}.json").read_text())


def words_of(folder: Path, each: Mapping[str, Any]) -> Bits:
    """The words of a list, which is a row of ``lists.json``."""
    return np.fromfile(folder / each["file"], "<u4").astype(np.uint32)
