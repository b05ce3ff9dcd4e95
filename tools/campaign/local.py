"""Tasks on the cores of this machine, whatever happens to a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from merp.models.errors import CheckFailed
from merp.tools.campaign.orphan import end_with_parent
from merp.tools.campaign.task import Task, perform

DEATHS = 3
"""Pools that may break, one after the other, without a task done in between."""


def on_this_machine(
    tasks: Mapping[int, Task], processes: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield answers by their tasks' numbers, as they come; with one process, from this one.

    A worker that dies takes its pool with it: what is left goes to another one.

    Raises:
        CheckFailed: workers die, and nothing gets done.
    """
    if processes == 1:
        for number, task in tasks.items():
            yield number, perform(task)
        return
    left, deaths = dict(tasks), 0
    while left:
        # Not forked: numba's threads would not come along.
        pool = ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=end_with_parent
        )
        try:
            futures = {pool.submit(perform, task): number for number, task in left.items()}
            for future in as_completed(futures):
                answer = future.result()
                del left[futures[future]]
                deaths = 0
                yield futures[future], answer
        except BrokenProcessPool:
            deaths += 1
            if deaths == DEATHS:
                raise CheckFailed(
                    f"{len(left):,} tasks are left, and workers die at them: {DEATHS} times in turn"
                ) from None
        finally:
            pool.shutdown(cancel_futures=True)
