"""Whether tables are printed in one piece, on a narrow terminal too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WIDE: ContextVar[bool] = ContextVar("wide", default=False)


@contextmanager
def tables_in_one_piece(wide: bool) -> Iterator[None]:
    """Inside, print tables as into a file if ``wide``."""
    token = _WIDE.set(wide)
    try:
        yield
    finally:
        _WIDE.reset(token)


def in_one_piece() -> bool:
    """Return whether ``--wide`` was given."""
    return _WIDE.get()
