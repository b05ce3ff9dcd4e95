"""Read a JSON file that a verb wrote and that may have been edited."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.text_file import read_text

BYTES = 1 << 26


def read_json(path: Path) -> Any:
    """Parse the JSON file ``path``. All numbers must be finite.

    Raises:
        BadInput: it is not a regular file, cannot be read, is larger than ``BYTES``, or is not
            JSON.
    """
    return parse_json(read_text(path, BYTES, regular=True), str(path))


def parse_json(text: str, where: str) -> Any:
    """Parse JSON text. All numbers must be finite. ``where`` starts the error message.

    Raises:
        BadInput: it is not JSON.
    """
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise BadInput(f"{where}: not JSON: nested too deep") from None
    except ValueError as error:
        raise BadInput(f"{where}: not JSON: {error}") from error


def _finite(text: str) -> float:
    """Return a finite number. Python also accepts NaN and infinities, which JSON does not have."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)}: allowed are finite numbers")
    return value
