"""What a simulation will take, before it runs."""

from __future__ import annotations

from merp.tools.simulate.simulated import SimulationPlan


def plan_line(plan: SimulationPlan) -> str:
    """Return the passes, the words of their ports by formula, the cycles by the model, in a line.

    Where the model does not know a pass no cycles are said.
    """
    passes, words, cycles = plan
    text = f"{passes:,} {'pass' if passes == 1 else 'passes'}, {words:,} words on the ports"
    return text if cycles is None else f"{text}, {cycles:,} cycles by the cycle model"
