"""Notices of former names: each in one line on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from merp.models.base.renamed import RenamedWarning
from merp.tools.common.complaint import complain


@contextmanager
def notices_in_lines() -> Iterator[None]:
    """Inside, a ``RenamedWarning`` is a line, once for each name; other warnings are as before."""
    said: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", RenamedWarning)
        usual = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int,
            file: TextIO | None = None, line: str | None = None,
        ) -> None:  # fmt: skip
            if not issubclass(category, RenamedWarning):
                usual(message, category, filename, lineno, file, line)
            elif str(message) not in said:
                said.add(str(message))
                complain(str(message))

        warnings.showwarning = show
        yield
