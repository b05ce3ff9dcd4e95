"""Divide the engines of a step among bitstreams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from merp.cosim.board.step_plan import PlannedPass, StepPlan


def divided(
    plan: StepPlan, fits: Callable[[Sequence[str]], bool]
) -> tuple[StepPlan, Mapping[str, StepPlan]]:
    """Divide a step among bitstreams.

    A bitstream gets engines in the order of their first use, as long as they fit. Passes that
    follow each other on one bitstream are a list.

    Args:
        plan: the step.
        fits: whether a bitstream can have these engines.

    Returns:
        The whole step with its lists in the order of the host, and the step of each bitstream.
    """
    sets: list[list[str]] = []
    for engine in dict.fromkeys(each.engine for some in plan.lists.values() for each in some):
        if sets and fits([*sets[-1], engine]):
            sets[-1].append(engine)
        else:
            sets.append([engine])
    homes = {engine: f"bitstream{at}" for at, some in enumerate(sets) for engine in some}
    lists: dict[str, Sequence[PlannedPass]] = {}
    own: dict[str, dict[str, Sequence[PlannedPass]]] = {home: {} for home in homes.values()}
    for name, passes in plan.lists.items():
        runs = [
            (home, list(run)) for home, run in groupby(passes, key=lambda each: homes[each.engine])
        ]
        for place, (home, run) in enumerate(runs):
            part = name if len(runs) == 1 else f"{name}{place}"
            lists[part] = own[home][part] = run
    parts = {
        home: StepPlan(
            tops={name: top for name, top in plan.tops.items() if homes[name] == home},
            arrays=plan.arrays,
            lists=some,
            resources=plan.resources,
        )
        for home, some in own.items()
    }
    return StepPlan(plan.tops, plan.arrays, lists, plan.resources), parts
