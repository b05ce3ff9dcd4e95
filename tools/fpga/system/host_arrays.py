"""The arrays that a host writes and reads around the lists of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from merp.cosim.board.step_plan import PlannedPass, StepPlan


@dataclass(frozen=True)
class HostArrays:
    """The arrays that the host writes and reads.

    Attributes:
        kept: arrays that a step reads and writes. The host writes them before the first step.
        writes: for each list, arrays that the host writes before each ring. Engines read them only.
        reads: for each list, arrays that engines write and never read: results for the host.
    """

    kept: tuple[str, ...]
    writes: Mapping[str, tuple[str, ...]]
    reads: Mapping[str, tuple[str, ...]]


def host_arrays(plan: StepPlan) -> HostArrays:
    """Return the arrays that the host writes and reads, from the passes of a step."""
    uses = {name: list(_uses(plan, passes)) for name, passes in plan.lists.items()}
    every = [use for own in uses.values() for use in own]
    read = {array for array, is_input in every if is_input}
    written = {array for array, is_input in every if not is_input}
    first: dict[str, bool] = {}  # whether the first use of each array reads it
    writes: dict[str, tuple[str, ...]] = {}
    reads: dict[str, tuple[str, ...]] = {}
    for name, own in uses.items():
        new = [array for array in dict.fromkeys(array for array, _ in own) if array not in first]
        writes[name] = tuple(array for array in new if array not in written)
        reads[name] = tuple(array for array in new if array not in read)
        for array, is_input in own:
            first.setdefault(array, is_input)
    kept = tuple(array for array, is_input in first.items() if is_input and array in written)
    return HostArrays(kept, writes, reads)


def _uses(plan: StepPlan, passes: Sequence[PlannedPass]) -> Iterator[tuple[str, bool]]:
    """Yield each use of an array, and whether it is a read; a pass reads before it writes."""
    for each in passes:
        inputs = {pin.name for pin in plan.tops[each.engine].ports.inputs}
        for is_input in (True, False):
            for stream, part in each.parts.items():
                if (stream in inputs) == is_input:
                    yield part.array, is_input
