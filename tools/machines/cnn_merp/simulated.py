"""CNN-MERP's part of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.machines.cnn_merp.phases.halves import FIRST, PROPAGATION
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_layers
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.network.network import Layer
from merp.models.network.phases import ONE_PASS, PAIR
from merp.tools.machines.usual.simulated import InGroups
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import CountedHalf

HALVES = {
    ONE_PASS: CountedHalf(PROPAGATION, "delta propagation's"),
    PAIR: CountedHalf(FIRST, "the first layer's"),
}


class CnnMerp(InGroups):
    """CNN-MERP: each phase has an engine of its own, and no data remains on the chip."""

    def efficiency(self, choice: SimulationChoice, result: PassResult) -> float | None:
        """Return the modelled efficiency.

        The model supports deltas at the resolution of the sums only.
        """
        if result.phase not in ("fp", PAIR) and choice.before:
            return None
        cycles = layer_cycles(choice.network, result.layer, result.phase, choice.images)
        return cycles.efficiency if cycles is not None else None

    def halves(self, choice: SimulationChoice, layer: Layer, phase: str) -> dict[str, int]:
        """Return the halves of a pass of both backward phases or of two layers; else nothing."""
        if phase == ONE_PASS:
            both = backward_design(choice.network, layer)
            return {HALVES[phase].begins: both.propagation.n_cu, "update": both.update.n_cu}
        if phase == PAIR:
            pair = fused_design(choice.network, *fused_layers(choice.network))
            return {HALVES[phase].begins: pair.first.n_cu, "second": pair.groups * pair.second.n_cu}
        return {}

    def about(self, choice: SimulationChoice, layer: Layer, phase: str) -> Mapping[str, Any]:
        """Return kinds and numbers of CUs."""
        design = design_of(choice.network, layer)
        halves = self.halves(choice, layer, phase)
        return {
            "cu_kind": design.cu_kind,
            "ku_kind": design.ku_kind,
            "design": layer.design,
            "n_cu": design.n_cu,
            **({"halves": halves} if halves else {}),
        }

    def hardware(self, choice: SimulationChoice, layer: Layer, phase: str) -> str:
        """Return number, size and kind of the CUs."""
        design = design_of(choice.network, layer)
        updates = phase in ("ku", ONE_PASS)
        kind = f"{design.cu_kind}, by {design.ku_kind}" if updates else design.cu_kind
        halves = list(self.halves(choice, layer, phase).values())
        cus = f"{design.n_cu} CUs of {design.k}x{design.k}"
        if phase == ONE_PASS:
            cus = f"{' + '.join(map(str, halves))} of {cus}"
        elif phase == PAIR:
            designs = [design_of(choice.network, each) for each in fused_layers(choice.network)]
            shares = zip(halves, designs, strict=True)
            cus = " + ".join(f"{n} of {each.n_cu} CUs of {each.k}x{each.k}" for n, each in shares)
        return f"{cus} ({kind})"


CNN_MERP = CnnMerp(unit="CU", counted_halves=HALVES)
