"""The delta top for a bench: its arguments, and a run of it from the arrays of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.cnn_merp.phases.datapath import ARRAYS
from merp.hdl.cnn_merp.phases.delta import delta
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.status import DeltaStatus
from merp.hdl.cnn_merp.upsampling.dilater import DilateConfig
from merp.hdl.cnn_merp.upsampling.unpool_config import UnpoolConfig
from merp.models.cnn_merp.phases import DeltaDesign
from merp.models.params.cnn_merp.delta_registers import delta_registers
from merp.models.params.shape import Shape
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

Bits = NDArray[np.uint32]

PORTS = {
    "delta_in": "s_axis_delta",
    "delta_out": "m_axis_delta",
    "kernel": "s_axis_kernel",
    "state_in": "s_axis_state",
}
"""Stream of each port of the traffic report."""


def delta_top(design: DeltaDesign, array: str = "rtl") -> Top:
    """The engine of delta propagation for ``design``, with signals of its own.

    Raises:
        ValueError: ``array`` is not a kind of CU array.
    """
    if array not in ARRAYS:
        raise ValueError(f"array must be one of {', '.join(ARRAYS)}, not {array!r}")
    engine, width = design.engine, design.engine.fmt.width
    args: dict[str, Any] = {name: flag() for name in ("clk", "rst", "start")}
    args |= {
        "map_config": MapConfig(engine),
        "load_config": LoadConfig(engine),
        "output_config": OutputConfig(engine),
        "dilate_config": DilateConfig(engine),
        "unpool_config": UnpoolConfig(design.unpool),
        "s_axis_delta": AxiStream(width),
        "s_axis_kernel": AxiStream(width),
        "s_axis_state": AxiStream(8),
        "m_axis_delta": AxiStream(width),
        "status": DeltaStatus(),
        "design": engine,
        "undone": design.unpool,
        "before": design.before,
        "array": array,
    }
    return Top(delta, args)


def delta_run(
    shape: Shape,
    undone: Shape,
    design: DeltaDesign,
    deltas: Bits,
    kernels: Bits,
    state: bytes,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """A run of one group of a layer.

    Args:
        shape: the group, as in forward propagation.
        undone: the layer whose ReLU and pooling are undone: this one or the one in front of it.
        design: what it runs on, and it fits.
        deltas: (images, rows, columns, m) words, of the pooled output or of the sums.
        kernels: (m, n, k, k) words, as in forward propagation.
        state: of ``undone``, kind ``pooled``, packed.
        stalls: pattern by stream name. reset_at: as in ``Run``.

    Raises:
        ValueError: an array is not of the shape's size.
    """
    size = shape.out_rows, shape.out_columns, shape.m
    maps = shape.n * shape.rows * shape.columns // (undone.pooled_rows * undone.pooled_columns)
    if design.before:
        size, maps = (shape.pooled_rows, shape.pooled_columns, shape.m), shape.m
    sizes = {
        "deltas": (deltas.shape[1:], size),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
    }
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    return Run(
        config=delta_registers(shape, undone, maps, len(deltas), design.engine, design.unpool),
        words={
            "s_axis_delta": deltas.reshape(-1),
            "s_axis_kernel": kernels.reshape(-1),
            "s_axis_state": np.frombuffer(state, np.uint8).astype(np.uint32),
        },
        stalls=stalls or {},
        reset_at=reset_at,
    )
