"""Collect notices, those about former names included, which a verb prints at its end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from merp.models.base.notice import Notice
from merp.models.base.renamed import RenamedWarning

_COLLECTED = (Notice, RenamedWarning)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect each notice once in a list; other warnings are shown as usual."""
    notices: list[str] = []
    with warnings.catch_warnings():
        for each in _COLLECTED:
            warnings.simplefilter("always", each)
        usual = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int,
            file: TextIO | None = None, line: str | None = None,
        ) -> None:  # fmt: skip
            if not issubclass(category, _COLLECTED):
                usual(message, category, filename, lineno, file, line)
            elif str(message) not in notices:
                notices.append(str(message))

        warnings.showwarning = show
        yield notices
