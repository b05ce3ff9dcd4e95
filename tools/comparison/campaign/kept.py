"""Answers in the output folder, each in a file with the name of its task.

A file is either complete or missing, and is used only for the task in its name. If it is damaged or
forged, a message is printed and the task is computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.file_format import FINISHED, NewerFormat, check_format, numbered
from merp.tools.common.json_file import read_json
from merp.tools.common.output import Output

FOLDER = "finished"
SECONDS = 1.0
"""Time between writes, because writing a file often takes longer than computing an answer."""


class KeptAnswers:
    """Stores answers by the names of tasks in the folder of ``output``, if there is one."""

    def __init__(self, output: Output | None, tell: Callable[[str], object]) -> None:
        self._output = output
        self._tell = tell
        self._waiting: dict[str, str] = {}
        self._written = monotonic()

    def load(self, name: str) -> dict[str, Any] | None:
        """Return the stored answer of a task, if there is one."""
        if self._output is None:
            return None
        path = self._output.root / FOLDER / f"{name}.json"
        if not path.exists():
            return None
        try:
            kept = read_json(path)
            check_format(path, kept, FINISHED)
            answer: dict[str, Any] = kept["answer"]
            if kept["task"] != name or kept["sha256"] != _seal(name, answer):
                raise ValueError("the seal is broken")
        except NewerFormat:
            raise
        except (BadInput, ValueError, KeyError, TypeError):
            self._tell(f"{path}: damaged: it is computed again")
            return None
        return answer

    def save(self, name: str, answer: Mapping[str, Any]) -> None:
        """Store an answer; it is written later, together with others."""
        if self._output is None:
            return
        content = {"task": name, "answer": answer, "sha256": _seal(name, answer)}
        self._waiting[f"{FOLDER}/{name}.json"] = json.dumps(numbered(content, FINISHED)) + "\n"
        if monotonic() - self._written > SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write all answers that are not written yet."""
        if self._output is not None and self._waiting:
            self._output.write(self._waiting)
            self._waiting = {}
        self._written = monotonic()


def _seal(name: str, answer: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([name, answer], sort_keys=True).encode()).hexdigest()
