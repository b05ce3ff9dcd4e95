"""Jobs beside each other, as many at once as there are cores; the work of each is a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from merp.cosim.engines.programs.children import Children, start_in

Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def beside(jobs: Sequence[Callable[[], Result]]) -> Generator[Result, None, None]:
    """Yield the results of jobs, in the order of the jobs; each starts programs by ``run``.

    If one fails, or an interrupt comes, no further job begins, and the commands that run are ended.
    What earlier jobs have put into the cache stays there.
    """
    with (
        Children() as children,
        ThreadPoolExecutor(cores(), initializer=start_in, initargs=(children,)) as pool,
    ):
        futures = [pool.submit(job) for job in jobs][::-1]
        try:
            while futures:
                yield futures[-1].result()
                futures.pop()  # a netlist takes room
        except BaseException:
            for future in futures:
                future.cancel()
            children.end()
            raise
