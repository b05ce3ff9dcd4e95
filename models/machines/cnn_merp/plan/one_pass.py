"""The layers of a design with a combined backward pass on a board: supported, and small enough.

Other layers run delta propagation and kernel update separately, in parts if needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.one_pass import check_one_pass, halves_of
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine, engine_of, rings
from merp.models.machines.cnn_merp.plan.search import fits
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.phases import ONE_PASS

Pair = tuple[PhaseWork, PhaseWork]
"""Delta propagation and kernel update of a layer, as if they ran separately."""


def in_one_pass(
    name: str, forward: EngineDesign, pairs: Sequence[Pair], board: Board
) -> tuple[PlannedEngine, list[PhaseWork]] | None:
    """Return the bitstream and the layers of the combined backward pass; None if there are none.

    If the layers do not fit together, those with the fewest individual block RAMs are kept. An
    engine is sized for its largest layer, so fewer layers never need more. The largest number of
    layers that fit is found by bisection.

    Args:
        name: of the design.
        forward: its choices.
        pairs: of the layers that propagate deltas.
    """
    if forward.n_cu < 2:
        return None
    alone = [(pair, _engine(name, forward, [pair])) for pair in pairs]
    taken = [(pair, engine) for pair, engine in alone if engine is not None and fits(engine, board)]
    order = sorted(range(len(taken)), key=lambda place: -taken[place][1].resources.bram)

    def without(dropped: int) -> list[Pair]:
        return [taken[place][0] for place in sorted(order[dropped:])]

    def together(dropped: int) -> PlannedEngine | None:
        engine = _engine(name, forward, without(dropped))
        return engine if engine is not None and fits(engine, board) else None

    dropped = bisect_left(range(len(taken)), True, key=lambda count: together(count) is not None)
    engine = together(dropped) if dropped < len(taken) else None
    return None if engine is None else (engine, _works(forward, without(dropped)))


def _works(forward: EngineDesign, pairs: Sequence[Pair]) -> list[PhaseWork]:
    """Return the layers in one pass, each half with its own share of the units."""
    halves = halves_of(forward)
    one = rings(halves.propagation, "dp", [propagation for propagation, _ in pairs])
    other = rings(halves.update, "ku", [update for _, update in pairs])
    return [
        replace(
            update,
            phase=ONE_PASS,
            engine=other,
            halves=(replace(propagation, engine=one), replace(update, engine=other)),
        )
        for propagation, update in pairs
    ]


def _engine(name: str, forward: EngineDesign, pairs: Sequence[Pair]) -> PlannedEngine | None:
    """Return the bitstream of all layers; None if there is no such hardware."""
    works = _works(forward, pairs)
    try:
        engine = engine_of(name, works, [work.whole for work in works])
        if engine.propagation is None or engine.unpool is None:
            return None
        design = BackwardDesign(engine.propagation, engine.design, engine.unpool)
        for work in works:
            check_one_pass(work.shape, design, name)
    except BadInput:
        return None
    return engine
