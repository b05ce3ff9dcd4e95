"""What of a plan's passes is run, and kept, as one."""

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
    """The passes of a part of the outputs of a group; or one of them, ``inputs``, by itself.

    Of all of them each takes the sums that the hardware made of the part in front; one by itself
    takes the golden's.
    """

    group: int
    outputs: int
    inputs: int | None = None

    def places(self, in_parts: int) -> list[PassPlace]:
        """The passes, in order."""
        parts = range(in_parts) if self.inputs is None else (self.inputs,)
        return [PassPlace(self.outputs, each) for each in parts]

    def __str__(self) -> str:
        """As people and names of files say it."""
        one = "" if self.inputs is None else f" inputs {self.inputs}"
        return f"group {self.group} outputs {self.outputs}{one}"


class UnitRun(NamedTuple):
    """What became of a unit.

    Attributes:
        audit: of all its passes. last: of them. arrays: what they gave together, by name; nothing
            of one pass by itself.
    """

    audit: Audit
    last: Audited
    arrays: Mapping[str, Bits]


def run_unit(
    of: OfPlan, unit: PassUnit, tiles: Tiles, wanted: Wanted
) -> Generator[GroupPass, Audited | None, UnitRun]:
    """Yield the passes of a unit, and audit them.

    Beside its own audit each pass must move the bytes of the plan's formula for it, and all passes
    of a part of the outputs together give what the layer in one piece does.
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
    """The one pass of a unit."""
    assert unit.inputs is not None
    yield tiles.alone(PassPlace(unit.outputs, unit.inputs))
    return {}


def differences(moved: Mapping[str, int], planned: Mapping[str, int]) -> list[str]:
    """Ports that moved other bytes than a plan says."""
    return [
        f"port {port}: {moved.get(port, 0):,} bytes on the pins, {planned.get(port, 0):,} by the "
        "plan"
        for port in sorted(moved.keys() | planned.keys())
        if moved.get(port, 0) != planned.get(port, 0)
    ]
