"""One board of a chain as a task, and the messages while it runs."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.beats import BeatPeer
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.testbenches.top.border import Border, Come, Left
from merp.testbenches.top.run import Run


class BoardTask(NamedTuple):
    """The task of a process.

    Attributes:
        cluster: the chain.
        place: place of the board, from 0.
        run: the board's part of the chain's run.
        array: as in ``Top``.
        engine: as in ``run_job``.
        limit: as in ``Job``.
    """

    cluster: Cluster
    place: int
    run: Run
    array: str
    engine: str
    limit: int


class WindowReport(NamedTuple):
    """The message of a process at the end of a window.

    Attributes:
        left: the outputs of the board in the window.
        words: a recent count of the words that have left its streams.
    """

    left: Left
    words: int


def serve(caller: BeatPeer) -> None:
    """Run tasks as they arrive, and send the result of each: a record or an exception.

    At the end of each window the process sends a ``WindowReport`` and receives the inputs of the
    next window. If the other end is closed, the process ends silently.
    """
    with suppress(EOFError, ConnectionError):
        while True:
            caller.send(_answer(caller.recv(), caller))


def _answer(task: BoardTask, caller: BeatPeer) -> RunRecord | Exception:
    words = 0

    def progress(_cycles: int, out: int) -> None:
        nonlocal words
        words = out

    def exchange(left: Left) -> Come:
        caller.send(WindowReport(left, words))
        come: Come = caller.recv()
        return come

    try:
        top = task.cluster.board(task.place, task.array)
        border = Border(task.cluster.design.link.latency, exchange)
        job = Job(top, [task.run], limit=task.limit, border=border)
        (record,) = run_job(job, task.engine, progress)
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        return error
    return record
