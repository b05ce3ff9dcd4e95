"""Points computed on all cores, or on the workers of a Dask cluster, by the same function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from merp.models.errors import BadInput
from merp.tools.common.progress import Progress
from merp.tools.sweep.evaluate import Job, evaluate
from merp.tools.sweep.orphan import end_with_parent

CONNECT_SECONDS = 10


def run_here(jobs: Sequence[Job], processes: int, progress: Progress) -> list[dict[str, Any]]:
    """Compute in so many processes; with one, in this."""
    if processes == 1:
        return _gathered(map(evaluate, jobs), len(jobs), progress)
    # Not forked: numba's threads would not come along.
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=end_with_parent
    )
    try:
        chunk = max(1, len(jobs) // (8 * processes))
        return _gathered(pool.map(evaluate, jobs, chunksize=chunk), len(jobs), progress)
    finally:
        pool.shutdown(cancel_futures=True)


def run_on_dask(jobs: Sequence[Job], address: str, progress: Progress) -> list[dict[str, Any]]:
    """Compute on the workers of the scheduler at ``address``, which have merp installed.

    Raises:
        BadInput: ``distributed`` is not installed, or nobody answers there.
    """
    with _client(address) as submit:
        return _gathered((each.result() for each in submit(jobs)), len(jobs), progress)


@contextmanager
def _client(address: str) -> Iterator[Callable[[Sequence[Job]], Sequence[Any]]]:
    """What submits jobs, in order."""
    try:
        from distributed import Client
    except ImportError as error:
        raise BadInput(f"--dask {address}: needs distributed: pip install 'merp[sweep]'") from error
    connect: Callable[..., Any] = Client  # it carries no types
    try:
        client = connect(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--dask {address}: nobody answers: allowed is a scheduler, as tcp://HOST:8786"
        ) from error
    with client:
        yield lambda jobs: client.map(evaluate, jobs, pure=False)


def _gathered(
    found: Iterator[dict[str, Any]], total: int, progress: Progress
) -> list[dict[str, Any]]:
    results = []
    for each in found:
        results.append(each)
        progress.count(len(results), total, f"{len(results):,} of {total:,} points")
    return results
