"""The kernel update's top for a bench: its arguments, and a run of it from a layer's arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from myhdl import Signal
from numpy.typing import NDArray

from merp.hdl.base.signals import AxiStream
from merp.hdl.cnn_merp.phases.kernel_update import ARRAYS, kernel_update
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.ports.maps import map_config
from merp.hdl.cnn_merp.ports.status import KernelUpdateStatus
from merp.hdl.cnn_merp.upsampling.unpool_config import UnpoolConfig
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import kernel_update_registers
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.cnn_merp.unpool_registers import unpool_registers
from merp.models.params.shape import Shape
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

Bits = NDArray[np.uint32]

PORTS = {
    "map_in": "s_axis_map",
    "delta_in": "s_axis_delta",
    "kernel": "s_axis_kernel",
    "kernel_out": "m_axis_kernel",
    "bias": "s_axis_bias",
    "bias_out": "m_axis_bias",
}
"""Stream of each port of the traffic report."""

VELOCITY_PORTS = {
    "kernel_velocity_in": "s_axis_kernel_velocity",
    "kernel_velocity_out": "m_axis_kernel_velocity",
    "bias_velocity_in": "s_axis_bias_velocity",
    "bias_velocity_out": "m_axis_bias_velocity",
}
"""Those that momentum adds."""


STATE_PORTS = {"state_in": "s_axis_state"}
"""That which deltas at pooled resolution add; its words are bytes."""


def kernel_update_top(
    design: Design, array: str = "rtl", momentum: bool = False, undone: UnpoolDesign | None = None
) -> Top:
    """The kernel update for ``design``, with signals of its own.

    ``momentum``: whether it is built. ``undone``: deltas come at pooled resolution and are expanded
    by un-pooling of this design.

    Raises:
        ValueError: ``array`` is not a kind of array.
    """
    if array not in ARRAYS[design.ku_kind]:
        allowed = ", ".join(ARRAYS[design.ku_kind])
        raise ValueError(f"array must be one of {allowed}, not {array!r}")
    streams = [*PORTS.values(), *(VELOCITY_PORTS.values() if momentum else ())]
    args: dict[str, Any] = {name: Signal(bool(0)) for name in ("clk", "rst", "start")}
    args |= {
        "map_config": map_config(design),
        "update_config": UpdateConfig(design, momentum),
        **{stream: AxiStream(design.fmt.width) for stream in streams},
        "status": KernelUpdateStatus(momentum, undone is not None),
        "design": design,
        "array": array,
    }
    if undone is not None:
        args |= {"unpool_config": UnpoolConfig(undone), "s_axis_state": AxiStream(8)}
        args["undone"] = undone
    return Top(kernel_update, args)


def kernel_update_run(
    shape: Shape,
    design: Design,
    x: Bits,
    delta: Bits,
    kernels: Bits | None,
    bias: Bits | None,
    rate: int = 0,
    velocities: tuple[Bits, Bits] | None = None,
    momentum: int | None = None,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
    undone: UnpoolDesign | None = None,
    state: bytes = b"",
) -> Run:
    """A run of one group of a layer.

    Args:
        shape: the group. design: what it runs on, and it fits.
        x: (images, rows, columns, n) words; delta: (images, out_rows, out_columns, m), of the sums,
            or with ``undone`` (images, pooled_rows, pooled_columns, m), of the output.
        kernels: (m, n, k, k) words; bias: (m,); both None for a run that returns the gradients.
        rate: word of the learning rate.
        velocities: of the kernels and the biases, of their sizes, where momentum is built.
        momentum: word of the factor, None where momentum is not built.
        stalls: pattern by stream name. reset_at: as in ``Run``.
        undone: un-pooling of the top. state: this layer's, kind ``pooled``, packed.

    Raises:
        ValueError: an array is not of the shape's size, or one is missing.
    """
    update = kernels is not None
    rows, columns = shape.out_rows, shape.out_columns
    if undone is not None:
        rows, columns = shape.pooled_rows, shape.pooled_columns
    arrays = {
        "s_axis_map": (x, (len(x), shape.rows, shape.columns, shape.n)),
        "s_axis_delta": (delta, (len(x), rows, columns, shape.m)),
        "s_axis_kernel": (kernels, (shape.m, shape.n, shape.k, shape.k)),
        "s_axis_bias": (bias, (shape.m,)),
    }
    if momentum is not None:
        past = velocities or (None, None)
        arrays["s_axis_kernel_velocity"] = (past[0], arrays["s_axis_kernel"][1])
        arrays["s_axis_bias_velocity"] = (past[1], arrays["s_axis_bias"][1])
    words = {}
    for stream, (array, size) in arrays.items():
        wanted = update or stream in ("s_axis_map", "s_axis_delta")
        if (array is not None) != wanted or (array is not None and array.shape != size):
            found = None if array is None else array.shape
            raise ValueError(f"{stream} must be of size {size if wanted else None}, not {found}")
        words[stream] = np.zeros(0, np.uint32) if array is None else array.reshape(-1)
    config = kernel_update_registers(shape, len(x), design, rate, momentum, update)
    if undone is not None:
        config |= unpool_registers(shape, shape.m, len(x), undone)
        words["s_axis_state"] = np.frombuffer(state, np.uint8).astype(np.uint32)
    return Run(
        config=config,
        words=words,
        stalls=stalls or {},
        reset_at=reset_at,
    )
