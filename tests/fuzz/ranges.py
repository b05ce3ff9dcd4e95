"""Run ranges of cases in processes of their own: the same cases however many there are."""

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
"""Cases that a process takes at a time."""

os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # the one that a copy of a process may use


class Ran(NamedTuple):
    """What came of some cases.

    Attributes:
        took, ran: seconds of the processor and cases, by kind.
        faults: of each case that has any.
    """

    took: Counter[str]
    ran: Counter[str]
    faults: dict[Case, list[str]]


def in_processes(chosen: Sequence[Case], jobs: int) -> Iterator[Ran]:
    """Run cases, some at a time, and yield what came of them: all kinds advance together.

    Processes start anew: cases must not meet what was done before, and one with threads is no
    good to copy.
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
