"""Memory that the C library keeps when arrays are freed, for the arrays that follow.

glibc gives blocks above a limit back to the system, so that each new array fetches its pages one
fault at a time: some 300 a layer of VGG-16. The limit rises to the largest block that it has seen
freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD).
"""

from __future__ import annotations

import numpy as np

_LIMIT = 31 << 20


def keep_freed_memory() -> None:
    """Raise the limit, at no cost: nobody touches the block. Other C libraries do as they do."""
    np.empty(_LIMIT, np.uint8)
