"""Runs of a phase on a simulator, audited, and the same runs on two of them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.expectation import Expectation

Case = TypeVar("Case")

IN_MYHDL = 4
"""Cases of many in Verilog that run in MyHDL as well."""


def audited(job: Job, engine: str, expected: Sequence[Expectation]) -> list[RunRecord]:
    """Run a job, and audit each of its runs: every count agrees, and every bit."""
    records = run_job(job, engine)
    for run, (record, wanted) in enumerate(zip(records, expected, strict=True)):
        found = audit(record, wanted)
        assert found.passed, f"run {run}: {found.failures}"
        assert found.bit_exact, f"run {run}"
    return records


def assert_same(ours: Sequence[RunRecord], theirs: Sequence[RunRecord]) -> None:
    """Each record is the other one, in every word, count and cycle."""
    for one, other in zip(ours, theirs, strict=True):
        differences = one.differences(other)
        assert not differences, differences


def many_in_verilog(
    play: Callable[[Sequence[Case], str, str], list[RunRecord]], cases: Sequence[Case]
) -> None:
    """Run many cases of one elaboration in Verilog, and the first few of them in MyHDL, too.

    MyHDL would take ten times as long. Each case is audited on each engine. Cases that run twice
    give the same records.

    play: runs cases back to back on an engine, with arrays of a kind, and audits each.
    """
    found = play(cases, "verilator", "behavioural")
    few = cases[:IN_MYHDL]
    assert_same(found[: len(few)], play(few, "myhdl", "behavioural"))
