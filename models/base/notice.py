"""Notices: facts that a user should know, but that stop nothing."""

from __future__ import annotations

import warnings


class Notice(UserWarning):
    """A fact that the user should know. A verb prints it after its answer."""


def notice(message: str) -> None:
    """Show one line to the user: on standard error, or as a warning in Python."""
    warnings.warn(message, Notice, stacklevel=2)
