"""Former names of options, keywords, words and keys: they work until version 1.0, with a notice.

``docs/names.md`` lists all of them.
"""

from __future__ import annotations

import warnings


class RenamedWarning(FutureWarning):
    """Somebody used a former name; the message names the new one."""


def renamed(former: str, name: str) -> None:
    """Warn of a former name, once for each place that calls, as Python's filters have it.

    Args:
        former: as it was written. name: as it is written now.
    """
    warnings.warn(
        f"{former} is called {name} now; the former name works until version 1.0",
        RenamedWarning,
        stacklevel=2,
    )
