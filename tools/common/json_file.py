"""Read a JSON file that a verb left, which somebody may have changed since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput
from merp.models.params.text_file import read_text

BYTES = 1 << 26


def read_json(path: Path) -> Any:
    """Parse the JSON file ``path``.

    Raises:
        BadInput: it cannot be read, is larger than ``BYTES``, or is not JSON.
    """
    text = read_text(path, BYTES)
    try:
        return json.loads(text)
    except RecursionError:
        raise BadInput(f"{path}: not JSON: nested too deep") from None
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
