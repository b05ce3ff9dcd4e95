"""The forward top for a bench: its arguments, and a run of it from the arrays of a super layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from myhdl import Signal
from numpy.typing import NDArray

from merp.hdl.base.signals import AxiStream
from merp.hdl.cnn_merp.phases.datapath import ARRAYS
from merp.hdl.cnn_merp.phases.forward import forward
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.status import ForwardStatus
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.registers import registers
from merp.models.params.shape import Shape
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

Bits = NDArray[np.uint32]

PORTS = {
    "map_in": "s_axis_map",
    "map_out": "m_axis_map",
    "kernel": "s_axis_kernel",
    "bias": "s_axis_bias",
}
"""Stream of each port of the traffic report."""

STATE_PORTS = PORTS | {"state_out": "m_axis_state"}
"""The same for a design that writes the state for the way back; its words are bytes."""


def forward_top(design: Design, array: str = "rtl") -> Top:
    """The forward engine for ``design``, with signals of its own.

    With ``design.state`` the state for the way back leaves on a stream of its own.

    Raises:
        ValueError: ``array`` is not a kind of CU array.
    """
    if array not in ARRAYS:
        raise ValueError(f"array must be one of {', '.join(ARRAYS)}, not {array!r}")
    width = design.fmt.width
    args: dict[str, Any] = {name: Signal(bool(0)) for name in ("clk", "rst", "start")}
    args |= {
        "map_config": MapConfig(design),
        "load_config": LoadConfig(design),
        "output_config": OutputConfig(design),
        "s_axis_map": AxiStream(width),
        "s_axis_kernel": AxiStream(width),
        "s_axis_bias": AxiStream(width),
        "m_axis_map": AxiStream(width),
        "status": ForwardStatus(design.state),
        "design": design,
        "array": array,
    }
    if design.state:
        args["m_axis_state"] = AxiStream(8)
    return Top(forward, args)


def forward_run(
    shape: Shape,
    design: Design,
    x: Bits,
    kernels: Bits,
    bias: Bits,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """A run of one group of a super layer.

    Args:
        shape: the group. design: what it runs on, and it fits.
        x: (images, rows, columns, n) words; kernels: (m, n, k, k); bias: (m,).
        stalls: pattern by stream name. reset_at: as in ``Run``.

    Raises:
        ValueError: an array is not of the shape's size.
    """
    sizes = {
        "x": (x.shape[1:], (shape.rows, shape.columns, shape.n)),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
        "bias": (bias.shape, (shape.m,)),
    }
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    return Run(
        config=registers(shape, len(x), design),
        words={
            "s_axis_map": x.reshape(-1),
            "s_axis_kernel": kernels.reshape(-1),
            "s_axis_bias": bias.reshape(-1),
        },
        stalls=stalls or {},
        reset_at=reset_at,
    )
