"""The audit of several passes that one start ran, one behind the other."""

from __future__ import annotations

from dataclasses import replace

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation


def audit_scheduled(record: RunRecord, expected: Expectation, cycles: int) -> Audit:
    """The audit of all passes together, and the cycles of the run on the pins.

    Where a pass begins and ends in it the pins do not show; from start to done they do.

    Args:
        expected: what the passes must do together. cycles: of the run.
    """
    found = audit(record, expected, joined={})
    if record.outcome.cycles == cycles:
        return found
    wrong = f"cycles of the run, on the pins: {record.outcome.cycles} instead of {cycles}"
    return replace(found, failures=(*found.failures, wrong))
