"""Memory that a job takes, against what there is: told before anything is allocated.

Each job knows a size that it cannot stay below, from the sizes of its network; here that size meets
the machine. A job that passes may still need more than there is, and fail when it asks for it.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from merp.models.base.errors import BadInput

CGROUP = Path("/sys/fs/cgroup/memory.max")
"""Bytes that a container may have, or ``max``."""


def machine_memory() -> int:
    """Bytes that this process may have: of the machine, its container and its own limit."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    own = resource.getrlimit(resource.RLIMIT_AS)[0]
    if own != resource.RLIM_INFINITY:
        limits.append(own)
    with suppress(OSError, ValueError):  # no container, no limit
        limits.append(int(CGROUP.read_text(encoding="ascii")))
    return min(limits)


def check_memory(what: str, needed: int) -> None:
    """Refuse what needs at least ``needed`` bytes where there are fewer.

    ``what`` opens the message: the job, and the sizes that it is asked for.

    Raises:
        BadInput: there are fewer.
    """
    there = machine_memory()
    if needed > there:
        raise BadInput(
            f"{what}: needs at least {_said(needed)} of memory: allowed are the {_said(there)} "
            "that this machine lets it have"
        )


def _said(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
