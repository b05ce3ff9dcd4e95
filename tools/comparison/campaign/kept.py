"""Answers in the folder of an output, each in a file that is called after its task.

A file is whole or not there, and counts only for the very task that it is named after; one that is
damaged or forged is computed again, and said to be.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from merp.models.base.errors import BadInput
from merp.tools.common.json_file import read_json
from merp.tools.common.output import Output

FOLDER = "finished"
SECONDS = 1.0
"""Between writes: a file by itself takes longer to write than many an answer to compute."""


class KeptAnswers:
    """Answers by the names of tasks, in the folder of ``output``; none without one."""

    def __init__(self, output: Output | None, tell: Callable[[str], object]) -> None:
        self._output = output
        self._tell = tell
        self._waiting: dict[str, str] = {}
        self._written = monotonic()

    def load(self, name: str) -> dict[str, Any] | None:
        """Return the answer of a task that was finished before."""
        if self._output is None:
            return None
        path = self._output.root / FOLDER / f"{name}.json"
        if not path.exists():
            return None
        try:
            kept = read_json(path)
            answer: dict[str, Any] = kept["answer"]
            if kept["task"] != name or kept["sha256"] != _seal(name, answer):
                raise ValueError("the seal is broken")
        except (BadInput, ValueError, KeyError, TypeError):
            self._tell(f"{path}: not as it was kept: it is computed again")
            return None
        return answer

    def save(self, name: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer; with others, after a while."""
        if self._output is None:
            return
        kept = {"task": name, "answer": answer, "sha256": _seal(name, answer)}
        self._waiting[f"{FOLDER}/{name}.json"] = json.dumps(kept) + "\n"
        if monotonic() - self._written > SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not written yet."""
        if self._output is not None and self._waiting:
            self._output.write(self._waiting)
            self._waiting = {}
        self._written = monotonic()


def _seal(name: str, answer: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([name, answer], sort_keys=True).encode()).hexdigest()
