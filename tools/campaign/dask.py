"""Tasks on the workers of a Dask scheduler, which may be on many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from merp.models.errors import BadInput
from merp.tools.campaign.task import Task, perform_as
from merp.tools.common.sources import made_by

CONNECT_SECONDS = 10


def on_dask(tasks: Mapping[int, Task], address: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield answers by their tasks' numbers, as they come; Dask replaces workers that die.

    Raises:
        BadInput: ``distributed`` is not installed, nobody answers, or a worker has another merp.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise BadInput(f"--dask {address}: needs distributed: pip install 'merp[sweep]'") from error
    connect: Callable[..., Any] = Client  # they carry no types
    coming: Callable[..., Any] = as_completed
    try:
        client = connect(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--dask {address}: nobody answers: allowed is a scheduler, as tcp://HOST:8786"
        ) from error
    with client:
        submitted = client.map(perform_as, list(tasks.values()), by=made_by(), pure=False)
        numbers = dict(zip((each.key for each in submitted), tasks, strict=True))
        for future in coming(submitted):
            yield numbers[future.key], future.result()
