"""The size of a simulation, before it runs."""

from __future__ import annotations

from merp.tools.simulate.simulated import SimulationPlan


def plan_line(plan: SimulationPlan) -> str:
    """Return a line: passes, words on the ports by formula, and cycles by the model.

    Without a model of a pass, the line has no cycles.
    """
    passes, words, cycles = plan
    text = f"{passes:,} {'pass' if passes == 1 else 'passes'}, {words:,} words on the ports"
    return text if cycles is None else f"{text}, {cycles:,} cycles by the cycle model"
