"""One board of a chain as a task, and what is said while it is played."""

from __future__ import annotations

from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from merp.cosim.cluster.cluster import Cluster
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.testbenches.top.border import Border, Come, Left
from merp.testbenches.top.run import Run


class Task(NamedTuple):
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


class Told(NamedTuple):
    """What a process says at the end of a window.

    Attributes:
        left: what leaves the board. words: that have left its streams, not long ago.
    """

    left: Left
    words: int


def play(task: Task, connection: Connection) -> None:
    """Play a task and send what came of it, a record or what was raised.

    At the end of each window the other side is ``Told``, and says what comes. If nobody listens any
    more, it ends quietly.
    """
    with suppress(EOFError, ConnectionError):
        connection.send(_answer(task, connection))


def _answer(task: Task, connection: Connection) -> Record | Exception:
    words = 0

    def progress(_cycles: int, out: int) -> None:
        nonlocal words
        words = out

    def exchange(left: Left) -> Come:
        connection.send(Told(left, words))
        come: Come = connection.recv()
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
