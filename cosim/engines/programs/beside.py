"""Run jobs concurrently, one per core. The work of each job is a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from merp.cosim.engines.programs.children import Children, start_in

Result = TypeVar("Result")


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def beside(jobs: Sequence[Callable[[], Result]]) -> Generator[Result, None, None]:
    """Yield the results of jobs in the order of the jobs. Each job starts programs with ``run``.

    If a job fails or an interrupt arrives, no further job begins, and the running commands are
    ended. Cache entries of earlier jobs remain.
    """
    with (
        Children() as children,
        ThreadPoolExecutor(cores(), initializer=start_in, initargs=(children,)) as pool,
    ):
        futures = [pool.submit(job) for job in jobs][::-1]
        try:
            while futures:
                yield futures[-1].result()
                futures.pop()  # a netlist needs much memory
        except BaseException:
            for future in futures:
                future.cancel()
            children.end()
            raise
