"""Tasks on the cores of this machine. Workers that die are replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

from merp.cosim.engines.programs.children import Children, join
from merp.cosim.engines.programs.interrupts import interrupts_that_last, status_of
from merp.cosim.engines.programs.pulse import LOOK_SECONDS, Pulse
from merp.models.base.errors import CheckFailed
from merp.tools.comparison.campaign.task import Task, perform

DEATHS = 3
"""Limit of pools that break one after the other without a finished task in between."""


def on_this_machine(
    tasks: Mapping[int, Task], processes: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield answers by their tasks' numbers, in the order of completion.

    With one process, the tasks run in this process. A worker that dies breaks its pool; a new pool
    computes the remaining tasks.

    Raises:
        CheckFailed: workers die, and no task is finished.
    """
    if processes == 1:
        for number, task in tasks.items():
            yield number, perform(task)
        return
    left, deaths = dict(tasks), 0
    while left:
        with Children() as workers:
            # Spawn the workers, because a fork would lose numba's threads.
            pool = ProcessPoolExecutor(
                processes, mp_context=get_context("spawn"),
                initializer=join, initargs=(workers.group,),
            )  # fmt: skip
            try:
                futures = {pool.submit(_performed, task): each for each, task in left.items()}
                for future in _completed(futures):
                    answer = future.result()
                    del left[futures[future]]
                    deaths = 0
                    yield futures[future], answer
            except BrokenProcessPool:
                deaths += 1
                if deaths == DEATHS:
                    raise CheckFailed(
                        f"{len(left):,} tasks are left, and workers die at them: {DEATHS} times in "
                        f"a row"
                    ) from None
            except BaseException:  # the answers of the workers are no longer needed
                workers.end()
                raise
            finally:
                pool.shutdown(cancel_futures=True)


def _completed(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """Yield futures in the order of completion.

    If all workers are still, they are killed, as if they had died. Workers without a task are
    still, too.
    """
    left, pulses = set(futures), dict[int, Pulse]()
    while left:
        done, left = wait(left, LOOK_SECONDS, FIRST_COMPLETED)
        yield from done
        workers = {} if done else {each.pid: each for each in active_children() if each.pid}
        found = [pulses.setdefault(pid, Pulse(pid)).is_still() for pid in workers]
        if all(found):
            for worker in workers.values():
                worker.kill()


def _performed(task: Task) -> dict[str, Any]:
    """Do a task in a worker. A signal ends both after the task has cleaned up.

    Between tasks there is nothing to clean up, and the signal ends the worker directly.
    """
    try:
        with interrupts_that_last():
            return perform(task)
    except KeyboardInterrupt as error:
        os._exit(status_of(error))  # the pool would keep a worker that raises
