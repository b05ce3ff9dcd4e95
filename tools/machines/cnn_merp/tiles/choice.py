"""The part of a plan that is simulated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.models.base.errors import BadInput, shown
from merp.models.base.given import given, mention
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.fused_pair import fused_layers
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.memory.bus_record import MemoryFacts
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS, PAIR, fusing, going_back_for, pair_named
from merp.models.network.planning import GOALS
from merp.tools.common.board_memory import check_tops, memory_on
from merp.tools.common.fields import ALL, PHASE
from merp.tools.machines.cnn_merp.choose import phases_named
from merp.tools.simulate.picked import array_of, check_phases, check_room_of
from merp.tools.simulate.request import SimulateOptions

SAMPLE = "sample:"
MOST_PASSES = 1 << 30

STATE = "pooled"
"""Kind of the ReLU/pooling masks in the hardware."""


@dataclass(frozen=True)
class TilesChoice:
    """The passes to simulate.

    Attributes:
        plan: plan of the network; its batch is the number of images of each pass.
        apart: as it was planned.
        layers: the layers to run, in order, of the plan's network.
        phases: the phases to run.
        sample: number of passes of each layer and phase, or None for all.
        seed: seed of the kernels and of the sample.
        engine: the simulation engine.
        array: kind of the CU arrays.
        memory: memory of the board, for engine ``system``.
    """

    plan: NetworkPlan
    apart: bool
    layers: tuple[Layer, ...]
    phases: tuple[str, ...]
    sample: int | None
    seed: int
    engine: str
    array: str
    memory: MemoryFacts | None = None

    @property
    def planned(self) -> list[PlannedPhase]:
        """Layers and phases in the order of the run: phases in the outer loop, as in a step."""
        names = [layer.name for layer in self.layers]
        return [
            each
            for phase in self.phases
            for each in self.plan.layers
            if each.work.phase == phase and each.work.layer.name in names
        ]

    @property
    def tiles(self) -> str:
        """The option ``--tiles``."""
        return ALL if self.sample is None else f"{SAMPLE}{self.sample}"


def choose(network: Network, board: Board, asked: SimulateOptions, images: int) -> TilesChoice:
    """Select the passes of a network's plan on a board; ``images`` is the number of a step.

    Raises:
        BadInput: the layer, phase or sample does not exist, or no hardware stores this kind of
            masks. The part is too small, also for a requested backward pass or for two fused
            layers. Engine ``system`` has no memory of the board, or the machine has too little.
    """
    state, goal, phase = asked.state_bits or STATE, asked.goal or GOALS[0], asked.phase or PHASE
    layer, apart = asked.layer, asked.apart
    sample = sample_of(ALL if asked.tiles is None else asked.tiles)
    if state != STATE:
        raise BadInput(
            f"{given('state_bits', state)}: no hardware stores it: a simulated plan allows "
            f"only {STATE}"
        )
    array = array_of(asked.engine, asked.cu_array)
    memory = memory_on(board, asked.engine)
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
    made = TilesChoice(
        found, apart, layers, phases, sample, asked.seed, asked.engine, array, memory
    )
    check_tops(memory, (OfPlan(each).top(array) for each in made.planned if each.work.built))
    return made


def goes_back(phases: Collection[str]) -> bool:
    """Return whether a phase belongs to backward propagation."""
    return bool(set(phases) - {"fp", PAIR})


def _check_one_pass(found: NetworkPlan, layers: Sequence[Layer], phase: str) -> None:
    """Refuse one pass for both backward phases if the plan has separate phases for the layers.

    Raises:
        BadInput: the plan has separate phases.
    """
    names = {each.work.layer.name for each in found.layers if each.work.phase == ONE_PASS}
    if phase == ONE_PASS and names.isdisjoint(layer.name for layer in layers):
        raise BadInput(
            f"{mention('phase', phase)}: {layers[-1].name}: on {found.board.name} it runs dp and "
            f"ku apart: allowed: {', '.join(('fp', 'dp', 'ku', ALL))}"
        )


def sample_of(tiles: str) -> int | None:
    """Return the number of passes to draw of each layer and phase, or None for all.

    Raises:
        BadInput: ``tiles`` is neither ``all`` nor ``sample:N``, or N is invalid.
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
