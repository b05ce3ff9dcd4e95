"""Makes the C library keep the memory of freed arrays for the next arrays.

glibc returns blocks above a limit to the system. Each new array then gets its pages one fault at a
time: about 300 for a layer of VGG-16. The limit rises to the largest freed block, up to 32 MiB
(mallopt(3), M_MMAP_THRESHOLD).
"""

from __future__ import annotations

import numpy as np

_LIMIT = 31 << 20


def keep_freed_memory() -> None:
    """Raise the limit without cost: the block is never touched. Other C libraries are not
    affected.
    """
    np.empty(_LIMIT, np.uint8)
