"""Divide the engines of a step among bitstreams."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merp.cosim.board.bitstreams import DividedStep, divided_step
from merp.cosim.board.step_plan import StepPlan


def divided(plan: StepPlan, fits: Callable[[Sequence[str]], bool]) -> DividedStep:
    """Divide a step among bitstreams.

    A bitstream gets engines in the order of their first use, as long as they fit.

    Args:
        plan: the step.
        fits: whether a bitstream can have these engines.
    """
    sets: list[list[str]] = []
    for engine in dict.fromkeys(each.engine for some in plan.lists.values() for each in some):
        if sets and fits([*sets[-1], engine]):
            sets[-1].append(engine)
        else:
            sets.append([engine])
    return divided_step(plan, {f"bitstream{at}": some for at, some in enumerate(sets)})
