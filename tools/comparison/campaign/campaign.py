"""A campaign: tasks whose answers are computed once, on any machine, and stored immediately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from merp.tools.common.complaint import complain
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.resumable import noted
from merp.tools.comparison.campaign.dask import on_dask
from merp.tools.comparison.campaign.kept import KeptAnswers
from merp.tools.comparison.campaign.local import on_this_machine
from merp.tools.comparison.campaign.task import Task


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where tasks are computed: in ``processes`` processes on this machine, or by a Dask
    scheduler."""

    processes: int
    dask: str | None = None

    def compute(self, tasks: Mapping[int, Task]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the answers by the numbers of their tasks, in the order of completion."""
        if self.dask is not None:
            return on_dask(tasks, self.dask)
        return on_this_machine(tasks, max(1, min(self.processes, len(tasks))))


def campaign(
    tasks: Sequence[Task], where: Where, output: Output | None, progress: Progress
) -> list[dict[str, Any]]:
    """Return the answer of each task.

    Each answer is written to the folder of ``output`` as soon as it is known. An interrupted
    campaign can therefore be resumed: tasks with an answer there are not computed again.

    Raises:
        BadInput, CheckFailed: as for ``Where.compute`` and the tasks.
    """
    kept = KeptAnswers(output, complain)
    names = [task.name for task in tasks] if output is not None else [""] * len(tasks)
    found = {number: kept.load(name) for number, name in enumerate(names)}
    answers = {number: answer for number, answer in found.items() if answer is not None}
    before = len(answers)
    left = {number: task for number, task in enumerate(tasks) if number not in answers}

    def said() -> str:
        points = f"{len(answers):,} of {len(tasks):,} points are saved"
        return f"{output.said}: {points}" if output is not None and answers else ""

    with noted(said):
        try:
            for number, answer in where.compute(left):
                answers[number] = answer
                kept.save(names[number], answer)
                done = len(answers)
                progress.count(done, len(tasks), f"{done:,} of {len(tasks):,} points", before)
        finally:
            kept.flush()
    return [answers[number] for number in range(len(tasks))]
