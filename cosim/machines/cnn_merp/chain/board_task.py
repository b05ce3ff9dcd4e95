"""One board of a chain as a task, and what is said while it is played."""

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
    """What a process is to play.

    Attributes:
        cluster: the chain. place: of the board, from 0. run: its part of the chain's.
        array, engine, limit: as of ``Top``, ``run_job`` and ``Job``.
    """

    cluster: Cluster
    place: int
    run: Run
    array: str
    engine: str
    limit: int


class WindowReport(NamedTuple):
    """What a process says at the end of a window.

    Attributes:
        left: what leaves the board. words: that have left its streams, not long ago.
    """

    left: Left
    words: int


def serve(caller: BeatPeer) -> None:
    """Play tasks as they come and send what came of each, a record or what was raised.

    At the end of each window the other side gets a ``WindowReport``, and says what comes. If nobody
    listens any more, it ends quietly.
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
