"""Cycles of activation and pooling, exact if no stream waits.

A run lasts from the cycle after ``start`` to the last word, both included.
"""

from __future__ import annotations

from merp.models.machines.fcnn.params.pool_design import PoolRun
from merp.models.machines.fcnn.pool_words import pool_words

OUTPUT_CYCLES = 2
"""From the push of a result to its transfer: memory and head of the FIFO."""


def last_window_beat(run: PoolRun) -> int:
    """Return the number of the beat before pooling, from 1, that ends the last window."""
    design = run.design
    row = (run.pooled_rows - 1) * design.stride + design.window
    column = (run.pooled_columns - 1) * design.stride + design.window
    rows = (run.maps - 1) * run.rows + row - 1
    return (rows * run.columns + column) * run.step


def pool_cycles(run: PoolRun) -> int:
    """Return the cycles of ``fcnn_pool``: a beat per cycle, then the last result's latency.

    Beats behind the last window pass meanwhile. They are the end if they are more.
    """
    leave = last_window_beat(run) + run.design.forward_latency + OUTPUT_CYCLES
    return max(pool_words(run)["map_in"], leave)


def unpool_cycles(run: PoolRun) -> int:
    """Return the cycles of ``fcnn_unpool``.

    The first delta passes two FIFOs and a memory, and its derivative if there is tanh. Then a beat
    leaves per cycle.
    """
    first = run.design.slope_latency + OUTPUT_CYCLES + 1 + OUTPUT_CYCLES
    return first + pool_words(run)["map_in"]
