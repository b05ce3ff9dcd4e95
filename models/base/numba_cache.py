"""Checks that numba may keep compiled code, and that no other user has put code into its cache.

numba refuses to *define* a cached function if it can write to no folder. An example is a package
that root installed, used by a user without a home. In this case code is compiled again in each
process, which takes seconds.

numba executes the contents of its cache: an index is a pickle, and each entry is machine code. The
cache is in ``NUMBA_CACHE_DIR``, in ``__pycache__`` next to the sources, or in a folder of the
user's caches. A user who can write ``__pycache__`` can change the package itself, because Python
loads its code from there. This module checks the other folders before anything in them is loaded. A
file in the working directory may not name a folder: it may be part of untrusted data.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import caching

from merp.models.base.errors import BadInput
from merp.models.base.private_folder import check_private, make_private

NAMED = "NUMBA_CACHE_DIR"


_INDEX: Any = caching.IndexDataCacheFile
_load_index = _INDEX._load_index


def _load_index_of_known_types(index: Any) -> Any:
    """Load the index of a cached function; return nothing if another version of the package wrote
    it.

    numba reads the types of an index before it compares the age of the source. It fails if one of
    their classes no longer exists.
    """
    try:
        return _load_index(index)
    except (AttributeError, ImportError):
        return {}


_INDEX._load_index = _load_index_of_known_types


def _nothing() -> None:
    """A function of the package, like every compiled function."""


def _kept() -> bool:
    for key in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES"):
        if getattr(config, key, "") and not os.environ.get(f"NUMBA_{key}"):
            raise BadInput(
                f".numba_config.yaml: {key.lower()}: numba would run the code in this folder: "
                f"allowed is the variable NUMBA_{key}"
            )
    if getattr(config, "DISABLE_JIT", False):  # nothing is compiled, and so nothing is loaded
        return False
    named = os.environ.get(NAMED)
    if named:
        make_private(Path(named), NAMED)
    try:
        made = njit(cache=True)(_nothing)
    except (RuntimeError, OSError):
        return False
    folder = Path(str(made.stats.cache_path))
    if folder != Path(__file__).parent / "__pycache__":
        check_private(folder.parent, NAMED if named else "numba's cache")
    return True


KEPT = _kept()
"""The ``cache`` option of every ``njit``."""


def is_kept(compiled: Any) -> bool:
    """Return whether numba's cache has a function of ``njit``; its source may be newer."""
    folder = getattr(getattr(compiled, "stats", None), "cache_path", None)
    if folder is None:
        return False
    line = compiled.py_func.__code__.co_firstlineno
    return any(Path(folder).glob(f"*.{compiled.__qualname__}-{line}.*.nbi"))
