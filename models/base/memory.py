"""Check the memory of a job against the available memory before it allocates any.

Each job calculates a lower bound of its memory from the sizes of its network. This module compares
the bound with the available memory. A job that passes may still need more memory, and fail when it
requests it.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from merp.models.base.errors import BadInput

CGROUP = Path("/sys/fs/cgroup/memory.max")
"""File with the memory limit of a container, in bytes, or ``max``."""


def machine_memory() -> int:
    """Return the bytes that this process may use: of the machine, its container and its own
    limit.
    """
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    own = resource.getrlimit(resource.RLIMIT_AS)[0]
    if own != resource.RLIM_INFINITY:
        limits.append(own)
    with suppress(OSError, ValueError):  # no container, no limit
        limits.append(int(CGROUP.read_text(encoding="ascii")))
    return min(limits)


def check_memory(what: str, needed: int) -> None:
    """Refuse a job that needs at least ``needed`` bytes if less memory is available.

    ``what`` is the start of the message: the job, and the sizes that were requested.

    Raises:
        BadInput: less memory is available.
    """
    there = machine_memory()
    if needed > there:
        raise BadInput(
            f"{what}: needs at least {_said(needed)} of memory: allowed are the {_said(there)} "
            "available on this machine"
        )


def _said(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
