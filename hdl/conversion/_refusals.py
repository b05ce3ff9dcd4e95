"""What MyHDL refuses, said as the converter says it: which block, and what to do about it.

MyHDL raises classes of its own for what it foresees and any Python error for what it does not.
An error that a design's own code raises, a check of its parameters say, passes as it is.
"""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import myhdl

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import FOLDER

ELABORATION = "simulate the block: elaboration fails there in the same way"
ANALYSIS = "write its processes with what is converted (docs/conversion.md#refused)"
_RETURNS = (
    "return its block instances and processes and nothing else, and decorate the functions that "
    "make them with @block or @entity"
)
_STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"]).resolve()


@contextmanager
def refusals(block: str, advice: str) -> Iterator[None]:
    """Within this context an error of MyHDL's becomes an ``ExportError``.

    Args:
        block: the function that is elaborated or analysed.
        advice: what its author can do.
    """
    try:
        yield
    except ExportError:
        raise
    except myhdl.Error as error:
        remedy = _RETURNS if isinstance(error, myhdl.BlockError) else advice
        said = " ".join(str(error).split())  # MyHDL breaks its lines
        raise ExportError(f"{block}: {said}; {remedy}") from error
    except Exception as error:
        if not _raised_in_myhdl(error):
            raise
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise ExportError(f"{block}: MyHDL fails with {said}; {advice}") from error


def _raised_in_myhdl(error: Exception) -> bool:
    """Whether MyHDL raised it, itself or by a call into Python's library."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(FOLDER):
            return True
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        if installed or not path.is_relative_to(_STANDARD_LIBRARY):
            return False
    return False
