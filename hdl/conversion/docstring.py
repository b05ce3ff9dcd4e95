"""The docstring of a block: part of what an export writes, and the same wherever it runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from merp.hdl.conversion.base.function_source import source_of


def docstring(function: Callable[..., Any]) -> str:
    """The docstring of a function or an entity without its indentation; empty if there is none.

    It is read from the source. ``__doc__`` has other white space since Python 3.13, and nothing
    under ``python -OO``.

    Raises:
        OSError: there is no source.
    """
    source = source_of(inspect.unwrap(function).__code__).text
    return ast.get_docstring(ast.parse(source).body[0]) or ""  # type: ignore[arg-type]
