"""Simulate a run once with an engine, and return the same outcome for each repetition."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any
from unittest.mock import patch

from merp.cosim.engines.job import Job, Playing
from merp.cosim.engines.record import RunRecord
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top_bench import run_top

_known: dict[object, Outcome] = {}


def _run_job(job: Job, engine: str, progress: Progress | None = None) -> list[RunRecord]:
    playing = Playing(job, engine, "0" * 64, perf_counter())
    for run in playing.runs():
        words = {name: words.tobytes() for name, words in run.words.items()}
        key = job.top.name, repr(sorted(run.config.items())), repr(sorted(words.items()))
        if key not in _known:
            _known[key] = _simulated(job, run)
        playing.deliver(_known[key])
    return playing.records


def _simulated(job: Job, run: Run) -> Outcome:
    outcomes: list[Outcome] = []
    run_top(job.top, iter([run]), outcomes.append, job.limit, None, None)
    return outcomes[0]


def _no_charts(document: Any, _: Any) -> dict[str, str]:
    return {chart: "" for section in document["sections"] for chart in section["charts"]}


@contextmanager
def replayed() -> Iterator[None]:
    """Simulate by replay, and draw nothing."""
    with ExitStack() as held:
        held.enter_context(patch("merp.cosim.phases.audit.run_and_audit.run_job", _run_job))
        held.enter_context(patch("merp.tools.simulate.map_picture.draw", lambda *_: b"PNG"))
        charts = "merp.tools.report.page.charts"
        held.enter_context(patch(charts, _no_charts))
        held.enter_context(patch("merp.tools.train.report.draw", lambda *_: b"PNG"))
        yield
