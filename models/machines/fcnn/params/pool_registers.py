"""Run-time registers, counters and ports of the modules of activation and pooling."""

from __future__ import annotations

from merp.models.base.counters import Counter
from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister
from merp.models.machines.fcnn.params.pool_design import PoolDesign, PoolRun

POOL: RegisterTable[PoolDesign, PoolRun] = RegisterTable(
    "config",
    (
        RunRegister("maps", 1, lambda d: d.max_maps, "maps", lambda r: r.maps),
        RunRegister("rows", 1, lambda d: d.max_rows, "rows before pooling", lambda r: r.rows),
        RunRegister(
            "columns", 1, lambda d: d.max_columns, "columns before pooling", lambda r: r.columns
        ),
        RunRegister(
            "pooled_rows", 1, lambda d: d.windows(d.max_rows), "rows after pooling",
            lambda r: r.pooled_rows,
        ),
        RunRegister(
            "pooled_columns", 1, lambda d: d.windows(d.max_columns), "columns after pooling",
            lambda r: r.pooled_columns,
        ),
        RunRegister("step", 1, lambda d: d.max_step, "beats of a column", lambda r: r.step),
    ),
)  # fmt: skip
"""Registers of the module of forward propagation."""

UNPOOL: RegisterTable[PoolDesign, PoolRun] = RegisterTable(
    "config",
    (
        *POOL.registers,
        RunRegister(
            "words", 1, lambda d: COUNT_MAX, "beats after pooling", lambda r: r.pooled_beats
        ),
    ),
)
"""Registers of the module of backward propagation."""

POOL_COUNTERS = (
    Counter("total", "cycles from the one after start to the last word"),
    Counter("issue", "cycles with a beat before pooling", part=True),
    Counter("fill", "cycles before the first of these beats", part=True),
    Counter("drain", "cycles after the last of these beats", part=True),
    Counter("stall_input", "cycles without such a beat: input starved", part=True, stall=True),
    Counter("stall_output", "cycles without such a beat: output blocked", part=True, stall=True),
    Counter("useful", "beats before pooling that lie in a window"),
)
"""Counters of both modules, in the order of their signals."""

POOL_WORDS = {"map_in": "s_axis_map", "map_out": "m_axis_map", "state_out": "m_axis_state"}
"""Word counters of ``fcnn_pool`` and their streams; a word is an element."""

UNPOOL_WORDS = {
    "delta_in": "s_axis_delta", "state_in": "s_axis_state", "map_in": "s_axis_map",
    "delta_out": "m_axis_delta",
}  # fmt: skip
"""Word counters of ``fcnn_unpool`` and their streams; a word is an element."""
