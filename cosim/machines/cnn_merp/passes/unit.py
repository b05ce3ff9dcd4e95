"""Passes of a plan that are run and recorded together."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import NamedTuple

from merp.cosim.machines.cnn_merp.passes.cut import Made, PassPlace, Tiles
from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan, Wanted, differing
from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.phases.audit.run_and_audit import Audited, given
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits


class PassUnit(NamedTuple):
    """All passes of an output part of a group, or a single pass, ``inputs``.

    In a unit of all passes, each pass starts at the hardware's sums of the part before it. A single
    pass starts at golden sums.
    """

    group: int
    outputs: int
    inputs: int | None = None

    def places(self, in_parts: int) -> list[PassPlace]:
        """Return the passes, in order."""
        parts = range(in_parts) if self.inputs is None else (self.inputs,)
        return [PassPlace(self.outputs, each) for each in parts]

    def __str__(self) -> str:
        """Return the name of the unit in messages and file names."""
        one = "" if self.inputs is None else f" inputs {self.inputs}"
        return f"group {self.group} outputs {self.outputs}{one}"


class UnitRun(NamedTuple):
    """Results of a unit.

    Attributes:
        audit: audit of all its passes.
        last: the last pass.
        arrays: combined results of the passes, by name; empty for a single pass.
    """

    audit: Audit
    last: Audited
    arrays: Mapping[str, Bits]


def run_unit(
    of: OfPlan, unit: PassUnit, tiles: Tiles, wanted: Wanted
) -> Generator[GroupPass, Audited | None, UnitRun]:
    """Yield the passes of a unit, and audit them.

    Besides its own audit, each pass must move the number of bytes in the plan's formula. All passes
    of an output part together must give the results of the undivided layer.
    """
    audits: list[Audit] = []
    failures: list[str] = []
    places = iter(unit.places(of.planned.in_parts))
    row = tiles.row(unit.outputs) if unit.inputs is None else _alone(tiles, unit)
    answer: Audited | None = None
    while True:
        try:
            each = row.send(answer)
        except StopIteration as end:
            arrays = end.value
            if unit.inputs is None:
                told = differing(arrays, of.whole(unit.group, wanted, unit.outputs))
                failures += [f"{unit}: {said}" for said in told]
            break
        answer = given((yield each))
        place = next(places)
        audits.append(answer.audit)
        missed = differences(answer.audit.moved, of.bytes_of(place))
        where = unit._replace(inputs=place.inputs)
        failures += [f"{where}: {said}" for said in (*answer.audit.failures, *missed)]
    return UnitRun(replace(combine(audits), failures=tuple(failures)), given(answer), arrays)


def _alone(tiles: Tiles, unit: PassUnit) -> Made:
    """Run the single pass of a unit."""
    assert unit.inputs is not None
    yield tiles.alone(PassPlace(unit.outputs, unit.inputs))
    return {}


def differences(moved: Mapping[str, int], planned: Mapping[str, int]) -> list[str]:
    """Return the ports whose bytes differ from the plan."""
    return [
        f"port {port}: {moved.get(port, 0):,} bytes on the pins, {planned.get(port, 0):,} in the "
        "plan"
        for port in sorted(moved.keys() | planned.keys())
        if moved.get(port, 0) != planned.get(port, 0)
    ]
