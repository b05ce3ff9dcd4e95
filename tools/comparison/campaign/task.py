"""A task of a campaign: a pure function and its argument. Its name is a hash of both."""

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
    """A task that can be computed on any machine.

    Attributes:
        work: a function at the top of a module. Its answer depends on ``given`` only, and is plain
            JSON.
        given: plain JSON.
        tools: versions of other programs that it runs.
    """

    work: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    given: Mapping[str, Any]
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """SHA-256 of everything that the answer depends on, including the sources of merp."""
        work = f"{self.work.__module__}.{self.work.__qualname__}"
        parts = [work, self.given, {**made_by(), **self.tools}]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def perform(task: Task) -> dict[str, Any]:
    """Run a task; return its answer in the form that its file would have."""
    found: dict[str, Any] = json.loads(json.dumps(task.work(task.given), allow_nan=False))
    return found


def perform_as(task: Task, by: Mapping[str, str]) -> dict[str, Any]:
    """Run a task on another machine.

    Raises:
        BadInput: the sources of merp differ from those of the campaign.
    """
    if made_by() != by:
        raise BadInput(
            f"a worker has merp {made_by()['version']} of other sources: allowed is the same merp "
            f"({by['version']}) on all machines"
        )
    return perform(task)
