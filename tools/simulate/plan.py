"""What a simulation will take, before it runs."""

from __future__ import annotations

from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.simulated import simulated_of


def plan(choice: SimulationChoice) -> str:
    """Return the passes, the words of their ports by formula, the cycles by the model, in a line.

    Where the model does not know a pass no cycles are said.
    """
    passes, words, cycles = simulated_of(choice.network, choice.layers).planned(choice)
    text = f"{passes:,} {'pass' if passes == 1 else 'passes'}, {words:,} words on the ports"
    return text if cycles is None else f"{text}, {cycles:,} cycles by the cycle model"
