"""Run ranges of cases in separate processes: the cases do not depend on the number of processes."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from harness import sandbox
from kinds import case

Case = tuple[str, int]

TOGETHER = 100
"""Number of cases that a process takes at a time."""

os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # the only one that a copy of a process may use


class Ran(NamedTuple):
    """The results of some cases.

    Attributes:
        took, ran: seconds of processor time and number of cases, by kind.
        faults: of each case that has any.
    """

    took: Counter[str]
    ran: Counter[str]
    faults: dict[Case, list[str]]


def in_processes(chosen: Sequence[Case], jobs: int) -> Iterator[Ran]:
    """Run cases in parallel and yield their results: all kinds advance together.

    Processes are started, not forked. A case must not depend on earlier work, and a process with
    threads cannot be forked.
    """
    parts: list[tuple[float, Sequence[Case]]] = []
    for kind in dict.fromkeys(name for name, _ in chosen):
        some = [each for each in chosen if each[0] == kind]
        for low in range(0, len(some), TOGETHER):
            parts.append((low / len(some), some[low : low + TOGETHER]))
    parts.sort(key=lambda part: part[0])
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(_run, [some for _, some in parts])


def _run(chosen: Sequence[Case]) -> Ran:
    found = Ran(Counter(), Counter(), {})
    with sandbox():
        for name, index in chosen:
            began = time.process_time(), os.times()
            faults = case(name, index)
            ended = os.times()
            found.took[name] += time.process_time() - began[0]
            found.took[name] += ended.children_user - began[1].children_user
            found.took[name] += ended.children_system - began[1].children_system
            found.ran[name] += 1
            if faults:
                found.faults[name, index] = faults
    return found
