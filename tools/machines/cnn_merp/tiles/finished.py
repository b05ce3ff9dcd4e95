"""Units of passes that are kept while a long run lasts, so that an interrupted one can go on."""

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
    """Keeps what each unit did in the folder of an output."""

    def __init__(self, kept: KeptFiles, choice: TilesChoice) -> None:
        """See that units can be kept, before the first one runs.

        Raises:
            BadInput: something stands in the way.
        """
        for planned in choice.planned:
            kept.check(_name(planned, PassUnit(0, 0)))
        self._kept = kept

    def load(self, planned: PlannedPhase, unit: PassUnit) -> RanUnit | None:
        """What a unit did, if it was kept by an equal run."""

        def read(about: Mapping[str, Any], arrays: Arrays) -> RanUnit:
            sha, seconds = about["elaboration_sha"], about["build_seconds"]
            if not (is_text(sha) and is_number(seconds)):
                raise ValueError("no build")
            return RanUnit(unit, audit_from(about["audit"]), sha, seconds)

        said = f"{planned.work.name} {planned.work.phase} {unit}"
        return self._kept.load(_name(planned, unit), _place(planned, unit), said, read)

    def save(self, planned: PlannedPhase, ran: RanUnit) -> None:
        """Keep what a unit did; a crash leaves the whole file or none."""
        about = {
            "audit": asdict(ran.audit),
            "elaboration_sha": ran.elaboration_sha,
            "build_seconds": ran.build_seconds,
        }
        self._kept.save(_name(planned, ran.unit), _place(planned, ran.unit), about, {})


def _place(planned: PlannedPhase, unit: PassUnit) -> list[object]:
    return [planned.work.name, planned.work.phase, *unit]


def _name(planned: PlannedPhase, unit: PassUnit) -> str:
    """Of the file: numbers that are not there are all parts of the inputs."""
    numbers = [str(each) for each in unit if each is not None]
    work = planned.work
    return file_name("tiles", work.name, work.phase, *numbers, suffix=".npz")


def fingerprint(choice: TilesChoice, image: Bits, parameters: Mapping[str, bytes]) -> str:
    """Name everything that what a unit does depends on.

    Which layers, phases and passes run is left out: one run may take what another kept.

    image: what goes into the network. parameters: what its parameters come from beside the seed,
    contents by name.
    """
    plan = choice.plan
    of = plan.network, plan.board, plan.batch, plan.state, plan.goal, choice.apart
    return of_everything(repr((of, choice.seed, choice.engine, choice.array)), image, parameters)
