"""What a measurement gives: seconds, or a ratio between two of them; and on which machine."""

import os
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple


class Seconds(NamedTuple):
    """How long something took, and what may be said of it beside that."""

    name: str
    value: float
    note: str = ""


class Ratio(NamedTuple):
    """How many times one thing is as fast, or as slow, as another in the same run."""

    name: str
    value: float
    note: str = ""


def best(task: Callable[[], Any], repeat: int) -> float:
    """Seconds of the fastest of ``repeat`` calls."""
    times = []
    for _ in range(repeat):
        began = perf_counter()
        task()
        times.append(perf_counter() - began)
    return min(times)


def machine() -> dict[str, Any]:
    """Name the machine: processor, cores that may be used, system and Python."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
