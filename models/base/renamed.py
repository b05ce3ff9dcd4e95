"""Former names of options, keywords, words and keys: they work until version 1.0, with a notice.

``docs/names.md`` lists all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping


class RenamedWarning(FutureWarning):
    """Somebody used a former name; the message names the new one."""


def renamed(former: str, name: str) -> None:
    """Warn that a name is a former one.

    Args:
        former: as it was written. name: as it is written now.
    """
    warnings.warn(
        f"{former} is called {name} now; the former name works until version 1.0",
        RenamedWarning,
        stacklevel=2,
    )


def in_json(name: str, former: Mapping[str, str]) -> str:
    """A word as JSON answers write it, which keep former words.

    Args:
        name: as it is written now. former: present words by former ones.
    """
    return {now: before for before, now in former.items()}.get(name, name)
