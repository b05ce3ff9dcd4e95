"""Whether compiled code can be kept for the next process, and that nobody else put it there.

numba refuses to *define* a cached function where no folder can be written: a package that root
installed, for a user without a home. Then code is compiled anew in each process, which takes
seconds.

numba runs what it finds: an index is a pickle, and each entry is machine code. It keeps them in
``NUMBA_CACHE_DIR``, or in ``__pycache__`` beside the sources, or in a folder of the user's caches.
Whoever can write ``__pycache__`` can change what Python itself loads of the package; the other
folders are checked here, before anything of them is loaded. A file in the working directory may
name no folder: it may have come with data that nobody trusts.
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
    """What is kept of a function; nothing where another version of the package has kept it.

    numba reads the types of an index before it compares the age of the source, and fails where one
    of their classes is gone.
    """
    try:
        return _load_index(index)
    except (AttributeError, ImportError):
        return {}


_INDEX._load_index = _load_index_of_known_types


def _nothing() -> None:
    """Stands in the package, as all that is compiled does."""


def _kept() -> bool:
    for key in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES"):
        if getattr(config, key, "") and not os.environ.get(f"NUMBA_{key}"):
            raise BadInput(
                f".numba_config.yaml: {key.lower()}: numba would run what it finds there: allowed "
                f"is the variable NUMBA_{key}"
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
"""The ``cache`` of every ``njit``."""


def is_kept(compiled: Any) -> bool:
    """Whether numba has kept something of a function of ``njit``; its source may be newer."""
    folder = getattr(getattr(compiled, "stats", None), "cache_path", None)
    if folder is None:
        return False
    line = compiled.py_func.__code__.co_firstlineno
    return any(Path(folder).glob(f"*.{compiled.__qualname__}-{line}.*.nbi"))
