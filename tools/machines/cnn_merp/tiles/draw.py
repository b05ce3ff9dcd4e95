"""Which passes of a layer and phase are run: all, or some that a seed draws."""

from __future__ import annotations

import numpy as np

from merp.cosim.machines.cnn_merp.passes.unit import PassUnit
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice


def drawn(planned: PlannedPhase, sample: int | None, seed: int) -> list[PassUnit]:
    """Units of the passes that are run, in order.

    All parts of the outputs if ``sample`` is None, or as many passes as there are; else so many
    passes, each by itself, the last one always, whose parts are what the others left. Those of a
    layer and phase do not depend on what else is run.
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
    """Cycles by the plan of the passes that run; one of a sample counts as the mean of all."""
    return sum(
        each.cycles * min(each.passes, choice.sample or each.passes) // each.passes
        for each in choice.planned
        if each.work.built
    )


def planned_work(choice: TilesChoice) -> str:
    """What there is to do, in a line: passes, and if all of them run bytes and cycles."""
    built = [each for each in choice.planned if each.work.built]
    total = sum(each.passes for each in built)
    counts = (min(each.passes, choice.sample or each.passes) for each in built)
    if (some := sum(counts)) < total:
        return f"{some:,} of {total:,} passes"
    cycles = cycles_of_drawn(choice)
    moved = sum(each.bytes for each in built)
    return f"{total:,} passes, {moved:,} bytes on the ports, {cycles:,} cycles by the plan"
