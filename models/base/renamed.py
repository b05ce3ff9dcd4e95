"""Former names of options, keywords, words and keys: they work until version 1.0, with a notice.

``docs/names.md`` lists all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping


class RenamedWarning(FutureWarning):
    """A former name was used; the message gives the new name."""


def renamed(former: str, name: str) -> None:
    """Warn that a former name was used.

    Args:
        former: the name as it was written.
        name: the present name.
    """
    warnings.warn(
        f"{former} is called {name} now; the former name works until version 1.0",
        RenamedWarning,
        stacklevel=2,
    )


def in_json(name: str, former: Mapping[str, str]) -> str:
    """Return a word as it appears in JSON answers, which keep former words.

    Args:
        name: the present word.
        former: present words by former ones.
    """
    return {now: before for before, now in former.items()}.get(name, name)
