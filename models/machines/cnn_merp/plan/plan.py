"""Plan a network on a board: designs, bitstreams and tiles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import folds
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.plan.automatic import (
    WORTH,
    each_apart,
    made,
    most_luts,
    none_fits,
    proposals,
    with_designs,
    with_ports,
)
from merp.models.machines.cnn_merp.plan.engines import least_engine, least_logic, rings
from merp.models.machines.cnn_merp.plan.fused import check_fusing, fused
from merp.models.machines.cnn_merp.plan.kept_memory import keep_freed_memory
from merp.models.machines.cnn_merp.plan.one_pass import in_one_pass
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.machines.cnn_merp.plan.search import best_tiles
from merp.models.machines.cnn_merp.plan.work import POOLED, PhaseWork
from merp.models.network.branches import begun, behind, beside, receiver, stored_as
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.network.phases import NAMED, ONE_PASS, PAIR, PHASES, has_phase


def plan(
    network: Network,
    board: Board,
    batch: int = 128,
    goal: str = "bytes",
    state: str = "pooled",
    apart: bool = False,
) -> NetworkPlan:
    """Plan a training step.

    If the network requests a combined backward pass, it is used for layers that hardware supports
    and that fit whole. The other layers run both phases separately. Two fused layers also run
    separately if no shares of their units fit.

    Args:
        network: layers without a design get one.
        batch: images of a step.
        goal: of ``GOALS``, the goal of the tiles; the other goal decides between equal tiles.
        state: kind of ReLU/pooling mask, one of ``STATES``; with ``pooled`` deltas are stored
            pooled.
        apart: each layer has its own bitstreams, sized for it alone, instead of sharing them.

    Raises:
        BadInput: the part is too small, and the message gives the design or layer. Or the network
            requests a combined backward pass or fused layers, and deltas are not stored pooled. Or
            no hardware fuses these layers.
    """
    if network.backward == COMBINED and state != POOLED:
        raise BadInput(
            f'{network.name}: backward = "{COMBINED}": deltas are expanded once for both phases: '
            f"allowed is state {POOLED}, not {state}"
        )
    if network.layer_fusion:
        check_fusing(network, state)
    keep_freed_memory()
    complete, chosen = _complete(network, board, batch, goal, state)
    if apart:
        complete, chosen = each_apart(complete, chosen)
    found: dict[tuple[str, str], PlannedPhase] = {}
    unfused = ""
    if network.layer_fusion:
        try:
            pair = _pair(complete, network.layer_fusion, board, batch, state)
            complete = replace(complete, layer_fusion=network.layer_fusion)
            found[network.layer_fusion[0], PAIR] = pair
        except BadInput as error:
            unfused = str(error)
    for name in complete.designs:
        works = _works(complete, name, batch, state)
        for planned in _of_design(complete, name, works, board, goal):
            found[planned.work.layer.name, planned.work.phase] = planned
    ordered = [
        found[layer.name, phase]
        for layer in complete.layers
        for phase in NAMED
        if (layer.name, phase) in found
    ]
    return NetworkPlan(
        network=complete, board=board, batch=batch, state=state, goal=goal, chosen=chosen,
        layers=tuple(ordered), unfused=unfused,
    )  # fmt: skip


def _pair(
    network: Network, names: Sequence[str], board: Board, batch: int, state: str
) -> PlannedPhase:
    """Return the pass of two fused layers.

    Raises:
        BadInput: hardware does not fuse them, or they do not fit.
    """
    one, other = (
        work
        for name in names
        for work in works_of(network, str(network.layer(name).design), "fp", batch, state)
        if work.layer.name == name
    )
    engine, work = fused(network, (one, other), board)
    return PlannedPhase(work=work, engine=engine, tile=work.whole, board=board)


def _complete(
    network: Network, board: Board, batch: int, goal: str, state: str
) -> tuple[Network, tuple[str, ...]]:
    """Return the network with a design for each layer, none fused, and the names of chosen designs.

    Layers to be fused get designs of one element a beat.
    """
    complete, missing = with_designs(replace(network, layer_fusion=()))
    for name, layers in missing.items():
        narrow = any(layer.name in network.layer_fusion for layer in layers)
        for design in proposals(layers, board.room, network.fmt, network.at(layers[0]).storage):
            fitting: dict[EngineDesign, list[PlannedPhase]] = {}
            for each in [design] if narrow else with_ports(design):
                tried = made(complete, {name: each})
                works = _works(tried, name, batch, state)
                lacks = sum(not work.built for some in works.values() for work in some)
                if not fitting:
                    least = lacks
                elif lacks > least:
                    continue  # hardware supports fewer of them
                planned = _fitting(tried, name, works, board, goal)
                if planned is not None:
                    fitting[each] = planned
                elif not fitting:
                    break  # not even with a single element a beat
            if fitting:
                complete = made(complete, {name: _worth(fitting, goal)})
                break
        else:
            raise none_fits(network, layers, board)
    return complete, tuple(missing)


Works = Mapping[str, Sequence[PhaseWork]]
"""Works of all layers that run on a design, by phase."""


def _works(network: Network, name: str, batch: int, state: str) -> Works:
    """Return the works of a design, as if both backward phases were separate."""
    return {phase: list(works_of(network, name, phase, batch, state)) for phase in PHASES}


def _fitting(
    network: Network, name: str, works: Works, board: Board, goal: str
) -> list[PlannedPhase] | None:
    """Return all plans of a design; None if the part is too small."""
    try:
        for phase in ("fp",) if network.backward == COMBINED else PHASES:
            some = works[phase]
            if some and least_logic(least_engine(name, some)).lut > most_luts(board):
                return None  # the search need not begin
        planned = list(_of_design(network, name, works, board, goal))
    except BadInput:
        return None
    return planned if _most_luts(planned) <= most_luts(board) else None


def _most_luts(planned: Sequence[PlannedPhase]) -> int:
    """Return the LUTs of the bitstream that uses the most."""
    return max(each.engine.resources.lut for each in planned)


def _worth(fitting: Mapping[EngineDesign, Sequence[PlannedPhase]], goal: str) -> EngineDesign:
    """Return the smallest of the designs that no other design beats by the worth of its ports.

    For ``bytes`` no other design moves fewer. No other design saves more than ``WORTH`` of its
    time. Of all such designs it uses the fewest LUTs.
    """
    moved = {design: sum(each.bytes for each in fitting[design]) for design in fitting}
    seconds = {design: ordered_sum(each.seconds for each in fitting[design]) for design in fitting}
    least = min(moved.values())
    rivals = [design for design in fitting if goal != "bytes" or moved[design] == least]
    quickest = min(seconds[design] for design in rivals)
    worth = [design for design in rivals if (1 - WORTH) * seconds[design] <= quickest]
    return min(worth, key=lambda design: _most_luts(fitting[design]))


def _of_design(
    network: Network, name: str, works: Works, board: Board, goal: str
) -> Iterator[PlannedPhase]:
    """Plan all works of a design."""
    fused = _in_one_pass(network, name, board, works["dp"], works["ku"])
    yield from fused
    done = {planned.work.layer.name for planned in fused}
    for phase, some in works.items():
        if phase != "fp" and done:
            rest = [work for work in some if work.layer.name not in done]
            some = _on_engine(designs_of(network)[name], phase, rest)
        if some:
            engine, tiles = best_tiles(name, some, board, goal)
            first: dict[Hashable, PlannedPhase] = {}
            for work, tile in zip(some, tiles, strict=True):
                like = first.get(work.kind)
                planned = PlannedPhase(work=work, engine=engine, tile=tile, board=board, like=like)
                first.setdefault(work.kind, planned)
                yield planned


def _in_one_pass(
    network: Network,
    name: str,
    board: Board,
    propagations: Sequence[PhaseWork],
    updates: Sequence[PhaseWork],
) -> list[PlannedPhase]:
    """Plan the combined backward pass of a design's layers, if the network requests it."""
    asked = [w for w in propagations if has_phase(network, w.layer, ONE_PASS)]
    of_layer = {work.layer.name: work for work in updates}
    pairs = [(work, of_layer[work.layer.name]) for work in asked]
    found = in_one_pass(name, designs_of(network)[name], pairs, board)
    if found is None:
        return []
    engine, works = found
    return [PlannedPhase(work=work, engine=engine, tile=work.whole, board=board) for work in works]


def _start(network: Network, layer: Layer, phase: str, state: str) -> dict[str, Any]:
    """Return the start of a phase of a layer, with the names of ``PhaseWork``."""
    if phase == "fp":
        return {"begun": layer.add is not None}
    if phase != "dp":
        return {}
    start = beside(network, layer) if state == POOLED else None
    return {"begun": begun(network, layer), "beside": start}


def works_of(
    network: Network, name: str, phase: str, batch: int, state: str
) -> Iterator[PhaseWork]:
    """Return the layers of a design in a phase, as if both backward phases were separate."""
    network = replace(network, backward=SEPARATE)
    forward, back = designs_of(network)[name], phase != "fp"
    drafts = [
        PhaseWork(
            layer=layer,
            phase=phase,
            earlier=behind(network, layer) if receiver(network, layer) else None,
            images=batch,
            state=state,
            engine=forward,
            folded=folds(layer.shape, forward.k),
            stored=stored_as(network, layer) if back and state == POOLED else layer,
            **_start(network, layer, phase, state),
        )
        for layer in network.layers
        if layer.design == name and has_phase(network, layer, phase)
    ]
    yield from _on_engine(forward, phase, drafts)


def _on_engine(forward: EngineDesign, phase: str, works: Sequence[PhaseWork]) -> list[PhaseWork]:
    """Return the works of a phase on the engine that they share."""
    if not works:
        return []
    engine = rings(forward, phase, works)
    return [replace(work, engine=engine) for work in works]


def placed(network: Network, board: Board) -> Network:
    """Return the network on designs that are chosen for a board.

    Raises:
        BadInput: the part is too small.
    """
    return plan(network, board).network
