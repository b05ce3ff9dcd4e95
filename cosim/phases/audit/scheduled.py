"""The audit of several consecutive passes that were run with one start."""

from __future__ import annotations

from dataclasses import replace

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation


def audit_scheduled(record: RunRecord, expected: Expectation, cycles: int) -> Audit:
    """Return the audit of all passes together, with the cycles of the run on the pins.

    The pins show the start and the done flag of the run, but not the borders of single passes.

    Args:
        expected: the combined expectation of the passes.
        cycles: expected cycles of the run.
    """
    found = audit(record, expected, joined={})
    if record.outcome.cycles == cycles:
        return found
    wrong = f"cycles of the run, on the pins: {record.outcome.cycles} instead of {cycles}"
    return replace(found, failures=(*found.failures, wrong))
