"""A task of a campaign: a pure function and what it is given, both of which a name stands for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from merp.models.base.errors import BadInput
from merp.tools.common.sources import made_by


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is computed, wherever.

    Attributes:
        work: a function at the top of a module; its answer follows from ``given`` alone, and is
            plain JSON. given: plain JSON. tools: versions of other programs that it runs.
    """

    work: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    given: Mapping[str, Any]
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """SHA-256 of all that the answer depends on, this package's sources among it."""
        work = f"{self.work.__module__}.{self.work.__qualname__}"
        parts = [work, self.given, {**made_by(), **self.tools}]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def perform(task: Task) -> dict[str, Any]:
    """Do a task; what comes is what would be read from its file."""
    found: dict[str, Any] = json.loads(json.dumps(task.work(task.given), allow_nan=False))
    return found


def perform_as(task: Task, by: Mapping[str, str]) -> dict[str, Any]:
    """Do a task on another machine.

    Raises:
        BadInput: this is not the package that the campaign was begun with.
    """
    if made_by() != by:
        raise BadInput(
            f"a worker has merp {made_by()['version']} of other sources: allowed is the same merp "
            f"({by['version']}) on all machines"
        )
    return perform(task)
