"""What of a plan is to be simulated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import given, mention
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.fused_pair import fused_layers
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS, PAIR, fusing, going_back_for, pair_named
from merp.models.network.planning import GOALS
from merp.tools.common.fields import ALL, PHASE
from merp.tools.machines.cnn_merp.choose import phases_named
from merp.tools.simulate.picked import array_of, check_phases, check_room_of
from merp.tools.simulate.request import SimulateOptions

SAMPLE = "sample:"
MOST_PASSES = 1 << 30

STATE = "pooled"
"""Kind of state that the hardware writes and reads."""


@dataclass(frozen=True)
class TilesChoice:
    """What is to be simulated.

    Attributes:
        plan: of the network, its batch the images of each pass. apart: as it was planned.
        layers: those to run, in order, of the plan's network. phases: those to run.
        sample: passes of each layer and phase, or None for all.
        seed: of the kernels, and of which passes are drawn. engine, array: what runs them.
    """

    plan: NetworkPlan
    apart: bool
    layers: tuple[Layer, ...]
    phases: tuple[str, ...]
    sample: int | None
    seed: int
    engine: str
    array: str

    @property
    def planned(self) -> list[PlannedPhase]:
        """Layers and phases in the order of the run: phases outside, as in a step."""
        names = [layer.name for layer in self.layers]
        return [
            each
            for phase in self.phases
            for each in self.plan.layers
            if each.work.phase == phase and each.work.layer.name in names
        ]

    @property
    def tiles(self) -> str:
        """As it was asked for."""
        return ALL if self.sample is None else f"{SAMPLE}{self.sample}"


def choose(network: Network, board: Board, asked: SimulateOptions, images: int) -> TilesChoice:
    """What is to be simulated of the plan of a network on a board; ``images`` of a step.

    Raises:
        BadInput: there is no such layer, phase or sample, no hardware keeps such state, the part is
            too small, also for a layer in one pass back that asks for it, or for two fused ones, or
            the machine has too little memory.
    """
    state, goal, phase = asked.state_bits or STATE, asked.goal or GOALS[0], asked.phase or PHASE
    layer, apart = asked.layer, asked.apart
    sample = sample_of(ALL if asked.tiles is None else asked.tiles)
    if state != STATE:
        raise BadInput(
            f"{given('state_bits', state)}: no hardware keeps it: allowed with a plan that is "
            f"simulated is {STATE}"
        )
    array = array_of(asked.engine, asked.cu_array)
    name = network.layers[0].name if layer is None else layer
    pair = bool(pair_named(network, name)) or phase == PAIR
    if layer != ALL:
        network, name, phase = fusing(network, name, phase)
    found = plan(going_back_for(network, phase), board, images, goal, state, apart)
    complete = found.network
    if pair and found.unfused:
        raise BadInput(found.unfused)
    layers = complete.layers
    if layer != ALL:
        first = phase == PAIR and name in complete.layer_fusion[:1]
        layers = fused_layers(complete) if first else (complete.layer(name),)
    check_phases(complete, layers, phase)
    _check_one_pass(found, layers, phase)
    phases = phases_named(complete, found.phases, layers, phase)
    check_room_of(complete, layers[-1], images, whole_step=goes_back(phases))
    return TilesChoice(found, apart, layers, phases, sample, asked.seed, asked.engine, array)


def goes_back(phases: Collection[str]) -> bool:
    """Whether some of the phases are of the way back."""
    return bool(set(phases) - {"fp", PAIR})


def _check_one_pass(found: NetworkPlan, layers: Sequence[Layer], phase: str) -> None:
    """Refuse one pass for both backward phases of layers that the plan has none for.

    Raises:
        BadInput: so it is.
    """
    names = {each.work.layer.name for each in found.layers if each.work.phase == ONE_PASS}
    if phase == ONE_PASS and names.isdisjoint(layer.name for layer in layers):
        raise BadInput(
            f"{mention('phase', phase)}: {layers[-1].name}: on {found.board.name} it runs dp and "
            f"ku apart: allowed: {', '.join(('fp', 'dp', 'ku', ALL))}"
        )


def sample_of(tiles: str) -> int | None:
    """Passes of each layer and phase that are drawn, or None for all.

    Raises:
        BadInput: ``tiles`` is neither ``all`` nor ``sample:N``, or N is none.
    """
    if tiles == ALL:
        return None
    head, _, count = tiles.partition(":")
    whole = f"{head}:" == SAMPLE and count.isascii() and count.isdecimal() and len(count) < 12
    if not whole or not 1 <= int(count) <= MOST_PASSES:
        raise BadInput(
            f"{given('tiles', shown(tiles))}: allowed are {ALL}, or {SAMPLE}N with N passes of "
            "each layer and phase, at least 1"
        )
    return int(count)
