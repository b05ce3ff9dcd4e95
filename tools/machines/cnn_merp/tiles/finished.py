"""Finished units of a long run, which are saved so that an interrupted run can continue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from merp.cosim.machines.cnn_merp.passes.unit import PassUnit
from merp.models.base.bits import Bits
from merp.models.base.names import file_name
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.tools.common.json_value import is_number, is_text
from merp.tools.common.seal import Arrays
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice
from merp.tools.machines.cnn_merp.tiles.result import RanUnit
from merp.tools.simulate.kept_audit import audit_from
from merp.tools.simulate.kept_files import KeptFiles, of_everything


class FinishedUnits:
    """Save the results of each unit in the folder of an output."""

    def __init__(self, kept: KeptFiles, choice: TilesChoice) -> None:
        """Check that units can be saved, before the first one runs.

        Raises:
            BadInput: units cannot be saved.
        """
        for planned in choice.planned:
            kept.check(_name(planned, PassUnit(0, 0)))
        self._kept = kept

    def load(self, planned: PlannedPhase, unit: PassUnit) -> RanUnit | None:
        """Return the results of a unit, if an equal run saved them."""

        def read(about: Mapping[str, Any], arrays: Arrays) -> RanUnit:
            sha, seconds = about["elaboration_sha"], about["build_seconds"]
            if not (is_text(sha) and is_number(seconds)):
                raise ValueError("no build")
            return RanUnit(unit, audit_from(about["audit"]), sha, seconds)

        said = f"{planned.work.name} {planned.work.phase} {unit}"
        return self._kept.load(_name(planned, unit), _place(planned, unit), said, read)

    def save(self, planned: PlannedPhase, ran: RanUnit) -> None:
        """Save the results of a unit. After a crash the file is complete or missing."""
        about = {
            "audit": asdict(ran.audit),
            "elaboration_sha": ran.elaboration_sha,
            "build_seconds": ran.build_seconds,
        }
        self._kept.save(_name(planned, ran.unit), _place(planned, ran.unit), about, {})


def _place(planned: PlannedPhase, unit: PassUnit) -> list[object]:
    return [planned.work.name, planned.work.phase, *unit]


def _name(planned: PlannedPhase, unit: PassUnit) -> str:
    """Return the name of the file. Without a number of an input part, it covers all input parts."""
    numbers = [str(each) for each in unit if each is not None]
    work = planned.work
    return file_name("tiles", work.name, work.phase, *numbers, suffix=".npz")


def fingerprint(choice: TilesChoice, image: Bits, parameters: Mapping[str, bytes]) -> str:
    """Return a hash of everything that affects the results of a unit.

    The selected layers, phases and passes are excluded, because a run may use the results of
    another run.

    Args:
        choice: the selected passes.
        image: input of the network.
        parameters: sources of the parameters besides the seed, contents by name.
    """
    plan = choice.plan
    of = plan.network, plan.board, plan.batch, plan.state, plan.goal, choice.apart
    return of_everything(repr((of, choice.seed, choice.engine, choice.array)), image, parameters)
