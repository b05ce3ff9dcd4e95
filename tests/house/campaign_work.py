"""Work for campaigns: it leaves a line in a log whenever it is done, and may kill who does it."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from time import sleep
from typing import Any


def square(given: Mapping[str, Any]) -> dict[str, Any]:
    """The square of ``of``, after ``seconds``; its begin is told in the file ``log``."""
    with Path(given["log"]).open("a") as log:
        log.write(f"{given['of']}\n")
    sleep(given.get("seconds", 0))
    return {"square": given["of"] ** 2, "third": given["of"] / 3}


def deadly(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same, but at 2 the first one dies, or every one that finds ``always``."""
    log = Path(given["log"])
    first = not log.exists() or "2" not in log.read_text().split()
    found = square(given)
    if given["of"] == 2 and (first or given.get("always")):
        os.kill(os.getpid(), signal.SIGKILL)
    return found


def stopping(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same, but at 2 the first one stops itself."""
    log = Path(given["log"])
    first = not log.exists() or "2" not in log.read_text().split()
    found = square(given)
    if given["of"] == 2 and first:
        os.kill(os.getpid(), signal.SIGSTOP)
    return found
