"""The words of verdicts: where outputs differ from MyHDL, and what an engine complains of."""

import re
from collections.abc import Sequence

from side_by_side.job import Job, Row

EQUAL = "equal"


def verdict_of(job: Job, seen: Sequence[Row]) -> str:
    """The verdict on a design: the first bit of an output that is not as in MyHDL."""
    expected = job.rows(job.outputs)
    for cycle, (row, other) in enumerate(zip(expected, seen, strict=False)):
        for port, bits, got in zip(job.outputs, row, other, strict=True):
            if bits != got:
                where = f"cycle {cycle}, port {port.name}"
                return f"differs: {where}: expected {_shown(bits)}, got {_shown(got)}"
    if len(seen) != len(expected):
        return f"differs: {len(seen)} of {len(expected)} cycles were simulated"
    return EQUAL


def _shown(bits: str) -> str:
    return f"0x{int(bits, 2):x}" if set(bits) <= set("01") else f'"{bits}"'


def first_error(said: str) -> str:
    """The first line that tells of an error, or else the first one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = re.compile(r"error|truncated|:\d+:\d+:", re.IGNORECASE)
    notes = re.compile(r"^(%Warning|make)|:(warning|note):|metavalue", re.IGNORECASE)
    told = [line for line in lines if telling.search(line) and not notes.search(line)]
    return next(iter(told or lines), "no message")[:300]
