"""Workers that end when the process that started them does.

A pool's worker waits for work on a pipe that it holds both ends of: behind a parent that was
killed it would finish its point, for minutes where Yosys is in it, and then wait for ever.
"""

from __future__ import annotations

import os
import signal
from multiprocessing import parent_process
from threading import Thread
from time import sleep

GRACE_SECONDS = 2
"""For what an interrupt ends by itself: a program that the worker waits for is ended with it."""


def end_with_parent() -> None:
    """Begin to watch the parent; to be called in a worker, once."""
    Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGINT)
    sleep(GRACE_SECONDS)
    os._exit(1)
