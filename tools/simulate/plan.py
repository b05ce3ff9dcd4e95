"""What a simulation will take, before it runs."""

from __future__ import annotations

from merp.cosim.architectures import phases_of
from merp.models.cnn_merp.cycles import layer_cycles
from merp.models.network.phases import PAIR
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.run import groups_of


def plan(choice: Choice) -> str:
    """Return the passes, the words of their ports by formula, the cycles by the model, in a line.

    The model knows deltas at the resolution of the sums only: of others no cycles are said.
    """
    passes, words, cycles = 0, 0, 0
    for phase, layers in phases_of(
        choice.network, choice.layers, choice.phases, state=choice.state, before=choice.before
    ):
        for layer in layers:
            groups = len(groups_of(layer, choice.group))
            passes += groups
            words += groups * sum(phase.words(layer, choice.images).values())
            if choice.before and phase.name not in ("fp", PAIR):
                continue
            known = layer_cycles(choice.network, layer, phase.name, choice.images)
            cycles += known.phase * groups // layer.groups if known else 0
    text = f"{passes:,} {'pass' if passes == 1 else 'passes'}, {words:,} words on the ports"
    if choice.before and not set(choice.phases) <= {"fp", PAIR}:
        return text
    return f"{text}, {cycles:,} cycles by the cycle model"
