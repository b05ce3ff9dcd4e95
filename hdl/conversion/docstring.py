"""Read the docstring of a block, which is part of an export, and is the same on every platform."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from merp.hdl.conversion.base.function_source import source_of


def docstring(function: Callable[..., Any]) -> str:
    """Return the docstring of a function or an entity without its indentation; empty if none.

    It is read from the source. ``__doc__`` has other white space since Python 3.13, and is empty
    under ``python -OO``.

    Raises:
        OSError: there is no source.
    """
    source = source_of(inspect.unwrap(function).__code__).text
    return ast.get_docstring(ast.parse(source).body[0]) or ""  # type: ignore[arg-type]
