"""Whether tables are to be printed in one piece, however narrow the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WIDE: ContextVar[bool] = ContextVar("wide", default=False)


@contextmanager
def tables_in_one_piece(wide: bool) -> Iterator[None]:
    """Inside, tables are as in a file if ``wide``."""
    token = _WIDE.set(wide)
    try:
        yield
    finally:
        _WIDE.reset(token)


def in_one_piece() -> bool:
    """Whether ``--wide`` was given."""
    return _WIDE.get()
