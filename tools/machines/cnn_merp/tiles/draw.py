"""Select the passes of a layer and phase to run: all, or a random sample."""

from __future__ import annotations

import numpy as np

from merp.cosim.machines.cnn_merp.passes.unit import PassUnit
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice


def drawn(planned: PlannedPhase, sample: int | None, seed: int) -> list[PassUnit]:
    """Return the units of the selected passes, in order.

    If ``sample`` is None or not less than the number of passes, the units are all output parts.
    Otherwise they are ``sample`` single passes, which always include the last pass, whose parts are
    the remainder. The sample of a layer and phase does not depend on the other layers and phases.
    """
    total, in_parts, out_parts = planned.passes, planned.in_parts, planned.out_parts
    if sample is None or sample >= total:
        groups = range(planned.work.layer.groups)
        return [PassUnit(group, outputs) for group in groups for outputs in range(out_parts)]
    of = f"{planned.work.layer.name} {planned.work.phase}".encode()
    others = np.random.default_rng([seed, *of]).choice(total - 1, sample - 1, replace=False)
    found = []
    for each in [*sorted(others.tolist()), total - 1]:
        row, inputs = divmod(each, in_parts)
        found.append(PassUnit(row // out_parts, row % out_parts, inputs))
    return found


def cycles_of_drawn(choice: TilesChoice) -> int:
    """Return the plan's cycles of the selected passes. A pass of a sample counts as the mean."""
    return sum(
        each.cycles * min(each.passes, choice.sample or each.passes) // each.passes
        for each in choice.planned
        if each.work.built
    )


def planned_work(choice: TilesChoice) -> str:
    """Describe the work in a line: passes, and for all passes also bytes and cycles."""
    built = [each for each in choice.planned if each.work.built]
    total = sum(each.passes for each in built)
    counts = (min(each.passes, choice.sample or each.passes) for each in built)
    if (some := sum(counts)) < total:
        return f"{some:,} of {total:,} passes"
    cycles = cycles_of_drawn(choice)
    moved = sum(each.bytes for each in built)
    return f"{total:,} passes, {moved:,} bytes on the ports, {cycles:,} cycles by the plan"
