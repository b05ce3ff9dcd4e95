"""A step whose engines are divided among bitstreams, and the loads at the ends of its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from merp.cosim.board.step_plan import PlannedPass, StepPlan

FIRST = "bitstream0"
"""The only bitstream of a step, or the first one."""


@dataclass(frozen=True)
class DividedStep:
    """A step on several bitstreams, or on one.

    Attributes:
        whole: the step, with the lists of all bitstreams in the order of the host.
        parts: the step of each bitstream, by its name.
        lists: for each list of the undivided step, the names of its parts.
    """

    whole: StepPlan
    parts: Mapping[str, StepPlan]
    lists: Mapping[str, Sequence[str]]

    @property
    def homes(self) -> dict[str, str]:
        """The bitstream of each list, in the order of the host."""
        of = {each: name for name, part in self.parts.items() for each in part.lists}
        return {each: of[each] for each in self.whole.lists}

    @property
    def loads(self) -> dict[str, str]:
        """The bitstream that a list loads at its end, if the next list has another one.

        The first list of the next step follows the last one.
        """
        homes = self.homes
        following = [*list(homes.values())[1:], *list(homes.values())[:1]]
        pairs = zip(homes.items(), following, strict=True)
        return {name: other for (name, home), other in pairs if home != other}


def undivided(plan: StepPlan) -> DividedStep:
    """Return a step whose engines are on one bitstream."""
    return divided_step(plan, {FIRST: list(plan.tops)})


def divided_step(plan: StepPlan, engines: Mapping[str, Sequence[str]]) -> DividedStep:
    """Divide a step. Passes that follow each other on one bitstream are a list.

    Args:
        plan: the step.
        engines: the engines of each bitstream, by its name; each engine of the step once.
    """
    homes = {engine: name for name, some in engines.items() for engine in some}
    lists: dict[str, Sequence[PlannedPass]] = {}
    names: dict[str, list[str]] = {}
    own: dict[str, dict[str, Sequence[PlannedPass]]] = {name: {} for name in engines}
    for name, passes in plan.lists.items():
        runs = [
            (home, list(run)) for home, run in groupby(passes, key=lambda each: homes[each.engine])
        ]
        for place, (home, run) in enumerate(runs):
            part = name if len(runs) == 1 else f"{name}{place}"
            lists[part] = own[home][part] = run
            names.setdefault(name, []).append(part)
    parts = {
        home: replace(
            plan,
            tops={name: top for name, top in plan.tops.items() if homes[name] == home},
            lists=some,
        )
        for home, some in own.items()
    }
    return DividedStep(replace(plan, lists=lists), parts, names)
