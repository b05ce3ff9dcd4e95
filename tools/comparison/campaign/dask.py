"""Tasks on the workers of a Dask scheduler, which may be on many machines.

Every wait has a limit. If a scheduler does not answer a call in time, the run fails. The scheduler
reports when it last heard from its workers. While this time advances, they may compute for days.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from merp.models.base.errors import BadInput, CheckFailed
from merp.tools.common.sources import made_by
from merp.tools.comparison.campaign.task import Task, perform_as

CONNECT_SECONDS = 10
"""Limit for an answer of the scheduler."""

LOOK_SECONDS = 2
"""Time between checks of the scheduler while no answer arrives."""

PATIENCE = 60
"""Limit in seconds without a sign of life of any worker."""


def on_dask(tasks: Mapping[int, Task], address: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield answers by their tasks' numbers, in the order of completion.

    Dask replaces workers that die.

    Raises:
        BadInput: ``distributed`` is not installed, no scheduler answers, it has no workers, or a
            worker has another version of merp.
        CheckFailed: the scheduler or its workers are lost, or workers die at a task.
    """
    said = f"--dask {address}"
    try:
        import distributed
    except ImportError as error:
        raise BadInput(f"{said}: needs distributed: pip install 'merp[sweep]'") from error
    came: SimpleQueue[Any] = SimpleQueue()
    with _quiet(), _connected(address, said) as client:
        watch = _Watch(client, said)
        submitted = client.map(perform_as, list(tasks.values()), by=made_by(), pure=False)
        numbers = dict(zip((each.key for each in submitted), tasks, strict=True))
        for future in submitted:
            future.add_done_callback(came.put)
        while numbers:
            try:
                future = came.get(timeout=LOOK_SECONDS)
            except Empty:
                watch.look()
                continue
            if future.status == "finished":
                with watch.asked():
                    answer = future.result(timeout=CONNECT_SECONDS)
                yield numbers.pop(future.key), answer
            elif future.status == "error":
                with watch.asked():
                    failure = future.exception(timeout=CONNECT_SECONDS)
                if isinstance(failure, distributed.KilledWorker):
                    raise CheckFailed(f"{said}: workers die at a task, one after the other")
                raise failure
            else:
                raise watch.lost()


class _Watch:
    """Watches for signs of life of a scheduler and of its workers."""

    def __init__(self, client: Any, said: str) -> None:
        self._client = client
        self._said = said
        self._heard = 0.0
        self._since = monotonic()
        self._any = False

    def look(self) -> None:
        """Ask the scheduler when it last heard from a worker.

        Raises:
            BadInput: there have been no workers for ``PATIENCE`` seconds.
            CheckFailed: it does not answer, or all workers have been silent for that time.
        """
        with self.asked():
            found = self._client.sync(
                self._client.scheduler.identity, n_workers=-1, callback_timeout=CONNECT_SECONDS
            )
        workers = found["workers"].values()
        self._any |= bool(workers)
        heard = max((each["last_seen"] for each in workers), default=self._heard)
        if heard != self._heard:
            self._heard, self._since = heard, monotonic()
        elif monotonic() - self._since > PATIENCE:
            if self._any:
                raise CheckFailed(
                    f"{self._said}: no worker has given a sign of life for {PATIENCE} s"
                )
            raise BadInput(
                f"{self._said}: the scheduler has had no workers for {PATIENCE} s: start one with "
                f"dask worker"
            )

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Inside, a request to the scheduler is made.

        Raises:
            CheckFailed: it does not answer.
        """
        try:
            yield
        except (TimeoutError, OSError, asyncio.CancelledError) as error:
            raise self.lost() from error

    def lost(self) -> CheckFailed:
        """Return the error for a scheduler that has stopped to answer."""
        return CheckFailed(f"{self._said}: the scheduler does not answer any more")


@contextmanager
def _connected(address: str, said: str) -> Iterator[Any]:
    """Connect to the scheduler and yield the client.

    Raises:
        BadInput: no program answers, or it is not a scheduler.
    """
    from distributed import Client, Security

    connect: Callable[..., Any] = Client  # it has no type annotations
    secured: Callable[..., Any] = Security
    security = secured()
    if address.startswith("tls:") and security.tls_client_cert is None:
        raise BadInput(f"{said}: needs distributed.comm.tls.client in Dask's configuration")
    _knock(address, said, security)
    try:
        client = connect(address, timeout=CONNECT_SECONDS, security=security)
    except Exception as error:
        raise _stranger(said) from error
    try:
        yield client
    finally:
        with suppress(OSError, asyncio.TimeoutError):
            client.close(timeout=CONNECT_SECONDS)


def _knock(address: str, said: str, security: Any) -> None:
    """Check the scheduler, because ``Client`` waits forever for a server that accepts but is
    silent.

    Raises:
        BadInput: no program answers within ``CONNECT_SECONDS``, or it is not a scheduler.
    """
    from distributed import rpc

    called: Callable[..., Any] = rpc

    async def ask() -> Any:
        async with called(address, connection_args=security.get_connection_args("client")) as one:
            return await asyncio.wait_for(one.identity(n_workers=0), CONNECT_SECONDS)

    try:
        found = asyncio.run(ask())
    except (TimeoutError, OSError) as error:
        raise BadInput(
            f"{said}: nobody answers: allowed is a scheduler, as tcp://HOST:8786"
        ) from error
    except Exception as error:  # another kind of server can cause any error
        raise _stranger(said) from error
    if not isinstance(found, dict) or found.get("type") != "Scheduler":
        raise _stranger(said)


def _stranger(said: str) -> BadInput:
    version = metadata.version("distributed")
    return BadInput(
        f"{said}: no scheduler of Dask {version} answers: allowed is one of the same version"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside, silence logs and warnings of Dask; failures are reported in one line."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in (*names, "tornado", "asyncio")]
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for each, disabled in zip(loggers, before, strict=True):
            each.disabled = disabled
