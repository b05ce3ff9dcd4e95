"""Convert errors of MyHDL into refusals of the converter, with the block and a remedy.

MyHDL raises its own error classes for expected errors, and any Python error for unexpected ones. An
error that a design's own code raises, such as a check of its parameters, is passed on unchanged.
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
ANALYSIS = "write its processes in supported Python (docs/conversion.md#refused)"
_RETURNS = (
    "return its block instances and processes and nothing else, and decorate the functions that "
    "make them with @block or @entity"
)
_STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"]).resolve()


@contextmanager
def refusals(block: str, advice: str) -> Iterator[None]:
    """Convert an error of MyHDL in this context into an ``ExportError``.

    Args:
        block: the function that is elaborated or analysed.
        advice: the remedy for its author.
    """
    try:
        yield
    except ExportError:
        raise
    except myhdl.Error as error:
        remedy = _RETURNS if isinstance(error, myhdl.BlockError) else advice
        said = " ".join(str(error).split())  # MyHDL's messages have line breaks
        raise ExportError(f"{block}: {said}; {remedy}") from error
    except Exception as error:
        if not _raised_in_myhdl(error):
            raise
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise ExportError(f"{block}: MyHDL fails with {said}; {advice}") from error


def _raised_in_myhdl(error: Exception) -> bool:
    """Return whether MyHDL raised the error, itself or by a call into Python's library."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(FOLDER):
            return True
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        if installed or not path.is_relative_to(_STANDARD_LIBRARY):
            return False
    return False
