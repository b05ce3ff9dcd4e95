"""Words on the ports of activation and pooling, by formula and by a walk; a word is a beat."""

from __future__ import annotations

from merp.models.machines.fcnn.params.pool_design import PoolRun
from merp.models.machines.fcnn.params.pool_registers import POOL_WORDS, UNPOOL_WORDS


def _beats(run: PoolRun) -> tuple[int, int]:
    """Return the beats of all maps before and after pooling."""
    return run.maps * run.rows * run.columns * run.step, run.pooled_beats


def pool_words(run: PoolRun) -> dict[str, int]:
    """Return the words of each port of ``fcnn_pool``; 0 for a port that the design lacks."""
    before, after = _beats(run)
    return {"map_in": before, "map_out": after, "state_out": after * run.design.keeps_state}


def unpool_words(run: PoolRun) -> dict[str, int]:
    """Return the words of each port of ``fcnn_unpool``; 0 for a port that the design lacks."""
    before, after = _beats(run)
    return {
        "delta_in": after,
        "state_in": after * run.design.keeps_state,
        "map_in": after * run.design.keeps_map,
        "delta_out": before,
    }


def _corners(run: PoolRun) -> tuple[int, int, int]:
    """Return beats before pooling, those in a window, and those that are first in a window, one by
    one.
    """
    design = run.design
    every, inside, first = 0, 0, 0
    for _ in range(run.maps):
        for row in range(run.rows):
            for column in range(run.columns):
                for _ in range(run.step):
                    places = row % design.stride, column % design.stride
                    windows = row // design.stride, column // design.stride
                    whole = windows[0] < run.pooled_rows and windows[1] < run.pooled_columns
                    every += 1
                    inside += whole and max(places) < design.window
                    first += whole and max(places) == 0
    return every, inside, first


def walked_pool_words(run: PoolRun) -> dict[str, int]:
    """Return the words of ``pool_words``, counted in the order in which they pass."""
    every, _, windows = _corners(run)
    found = dict.fromkeys(POOL_WORDS, 0) | {"map_in": every, "map_out": windows}
    return found | ({"state_out": windows} if run.design.keeps_state else {})


def walked_unpool_words(run: PoolRun) -> dict[str, int]:
    """Return the words of ``unpool_words``, counted in the order in which they pass."""
    every, _, windows = _corners(run)
    found = dict.fromkeys(UNPOOL_WORDS, 0) | {"delta_in": windows, "delta_out": every}
    found |= {"state_in": windows} if run.design.keeps_state else {}
    return found | ({"map_in": windows} if run.design.keeps_map else {})


def useful_beats(run: PoolRun) -> int:
    """Return the beats before pooling that lie in a window: the counter ``useful``."""
    return run.pooled_beats * run.design.window**2


def walked_useful_beats(run: PoolRun) -> int:
    """Return the beats of ``useful_beats``, counted one by one."""
    return _corners(run)[1]
