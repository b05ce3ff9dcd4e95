"""The passes of a plan that a hardware simulation ran: records of ``merp simulate --board``.

A figure of the plan is measured under three conditions. Every pass of it ran on the same number of
images, every bit was correct, and each port moved the bytes of the *present* plan. The plan's
figures in the record itself are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.base.errors import one_line
from merp.models.base.file_format import PASSES
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.network.network import Network
from merp.tools.common.json_value import is_list, is_table, is_text, is_whole
from merp.tools.report.record import Record, differing_counts, is_ports, read_record

FILE = "board.json"


@dataclass(frozen=True, kw_only=True)
class TileRecord:
    """The simulated passes of a layer and phase.

    Attributes:
        layer: name of the layer.
        phase: name of the phase.
        images: number of images of each pass.
        tile: input maps and output maps of the largest parts.
        passes: number of simulated passes.
        moved: bytes on the pins of each port, over these passes.
        faults: failed checks; empty if there are none.
    """

    layer: str
    phase: str
    images: int
    tile: tuple[int, int]
    passes: int
    moved: Mapping[str, int]
    faults: tuple[str, ...]

    @property
    def confirms(self) -> bool:
        """Whether every check succeeded."""
        return not self.faults

    def of(self, planned: PlannedPhase) -> bool:
        """Return whether the record has such passes, for any number of passes and images."""
        work = planned.work
        return (self.layer, self.phase, self.tile) == (work.name, work.phase, planned.tile)

    def shows(self, planned: PlannedPhase) -> bool:
        """Return whether all bytes of the plan were counted on the pins."""
        return (
            self.of(planned)
            and self.confirms
            and self.images == planned.work.images
            and self.passes == planned.passes
            and self.moved == planned.ports
        )


def confirmed(planned: PlannedPhase, records: Sequence[TileRecord]) -> str:
    """Return a description of the records of a plan's passes."""
    told = [
        f"{record.passes:,} of {planned.passes:,} passes, {record.images} image(s)"
        for record in records
        if record.of(planned) and record.confirms
    ]
    return "; ".join(told) or "-"


def read_tiles(directories: Sequence[Path], network: Network) -> list[TileRecord]:
    """Return the simulated passes of the ``directories`` with such a record, in order.

    Raises:
        BadInput: a record belongs to another network, or ``merp simulate`` did not write it.
    """
    found = []
    for path in (directory / FILE for directory in directories):
        if not path.is_file():
            continue
        found += read_record(path, network, PASSES, _records)
    return found


def _records(record: Record) -> list[TileRecord]:
    return [_record(record, run) for run in record["runs"] if run["passes_run"]]


def _record(record: Record, run: Mapping[str, Any]) -> TileRecord:
    """Return a run of a record.

    Raises:
        KeyError, TypeError, ValueError: the record is invalid.
    """
    plan, audit = run["plan"], run["audit"]
    moved = {port: each["pins"] for port, each in run["bytes"].items()}
    counts = audit["ports"]
    sizes = record["images"], run["passes_run"], plan["input_part"], plan["output_part"]
    if not (
        is_text(run["layer"])
        and is_text(run["phase"])
        and all(is_whole(size, least=1) for size in sizes)
        and is_table(moved, is_whole)
        and is_ports(counts)
        and is_list(run["failures"], of=lambda each: isinstance(each, str))
    ):
        raise ValueError("a value of another type")
    faults = [one_line(failure) for failure in run["failures"]]
    if audit["bit_exact"] is not True or audit["mismatches"] != 0:
        faults.append(f"{audit['mismatches']} words differ from the golden model")
    faults += differing_counts(counts)
    return TileRecord(
        layer=run["layer"],
        phase=run["phase"],
        images=record["images"],
        tile=(plan["input_part"], plan["output_part"]),
        passes=run["passes_run"],
        moved=moved,
        faults=tuple(faults),
    )
