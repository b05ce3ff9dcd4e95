"""Plant faults in the writer: trials must detect each of them, otherwise they prove nothing."""

import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from child import Plant
from merp.tools.common import output, stage
from merp.tools.common.output import Output
from merp.tools.common.stage import Stage


def _in_place() -> None:
    """Write files directly to their places, not as drafts."""

    def draft(self: Output, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    Output.draft = draft  # type: ignore[method-assign]
    Stage.commit = lambda self, others=(): None  # type: ignore[method-assign]


def _early() -> None:
    """Move files before the set is declared ready."""

    def commit(self: Any, others: object = ()) -> None:
        for draft in sorted(path for path in self.files.rglob("*") if path.is_file()):
            place = self.root / draft.relative_to(self.files)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft, place)
        for draft in self.folders.iterdir() if self.folders.is_dir() else ():
            shutil.rmtree(self.root / draft.name, ignore_errors=True)
            draft.rename(self.root / draft.name)
        shutil.rmtree(self.files.parent)

    Stage.commit = commit  # type: ignore[method-assign]


def _twice() -> None:
    """Remove a file before its draft is moved."""
    replace = os.replace

    def twice(draft: Path, place: Path) -> None:
        place.unlink(missing_ok=True)
        replace(draft, place)

    os.replace = twice  # type: ignore[assignment]


def _unfinished() -> None:
    """Let the next run drop a set that was ready."""

    def settle(self: Any) -> None:
        for part in ("ready", "done", "new"):
            shutil.rmtree(self.files.parents[1] / part, ignore_errors=True)

    Stage.settle = settle  # type: ignore[method-assign]


def _unswept() -> None:
    """Leave the drafts of killed processes."""
    output.sweep = lambda root: None  # type: ignore[attr-defined]


def _unlocked() -> None:
    """Let every process write without a lock."""
    fcntl.flock = lambda descriptor, how: None


def _uncarried() -> None:
    """Drop the user's files when a package is replaced."""
    stage._carry = lambda old, new: None


@dataclass(frozen=True)
class Fault:
    """A fault, and the cheapest row that shows it.

    Attributes:
        plant: called by a process to get the fault.
        row: name of the verb, or of the cache.
        kind: of the trials.
        number: of trials.
    """

    plant: Plant
    row: str
    kind: str
    number: int


FAULTS = {
    "in-place": Fault(_in_place, "workload -o", "kills", 16),
    "early": Fault(_early, "workload -o", "kills", 16),
    "twice": Fault(_twice, "workload -o", "kills", 40),
    "unfinished": Fault(_unfinished, "workload -o", "kills", 30),
    "unswept": Fault(_unswept, "verify-float -o", "kills", 40),
    "unlocked": Fault(_unlocked, "train --save", "pairs", 40),
    "unlocked-cache": Fault(_unlocked, "build cache", "pairs", 40),
    "uncarried": Fault(_uncarried, "export -o", "kills", 4),
}
