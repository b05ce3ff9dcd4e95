"""Run-time registers of a kernel update, and the distances in time that they keep."""

from __future__ import annotations

from dataclasses import replace

from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.registers import registers
from merp.models.params.cnn_merp.row import row_latency, steps
from merp.models.params.cnn_merp.sizing import groups_of
from merp.models.params.shape import Shape


def revisit_cycles(design: Design) -> int:
    """L: cycles after which the same gradient may be added to again.

    The adder, one cycle for the read of the memory and one for the write; nothing is forwarded,
    because a forwarding multiplexer would be as wide as the window.
    """
    return design.add_latency + 2


def gradient_latency(design: Design) -> int:
    """Cycles from a slot at the array's input to the one that writes its last gradients."""
    if design.ku_kind == "row":
        return row_latency(design)
    return 1 + design.mul_latency + design.add_latency


def row_revisit_cycles(design: Design) -> int:
    """Cycles after a sweep before one of the same kernel: a deep memory is read in two cycles."""
    return revisit_cycles(design) + 1


def longest_rest(design: Design) -> int:
    """The largest value of the register ``rest``."""
    if design.ku_kind == "row":
        return max(steps(design), row_revisit_cycles(design)) - 1
    return revisit_cycles(design)


def row_rest(shape: Shape, design: Design) -> int:
    """Idle cycles after each sweep along a row.

    The next sweep's sums may not be there before this one's were read out, nor the same kernel's
    before ``row_revisit_cycles``.
    """
    sweeps = shape.n * groups_of(shape, design.n_cu)
    period = max(steps(design), -(-row_revisit_cycles(design) // sweeps))
    return max(0, period - shape.out_columns)


def kernel_update_registers(
    shape: Shape,
    images: int,
    design: Design,
    rate: int,
    momentum: int | None = None,
    update: bool = True,
) -> dict[str, int]:
    """Value of every configuration port, by flattened name, for one run.

    Args:
        shape: one group of the layer, as in forward propagation. images: the batch.
        design: what it runs on, and it fits.
        rate: word of the learning rate. momentum: word of the momentum factor, or None where
            momentum is not built.
        update: whether new kernels and biases come out, else their gradients.
    """
    distance = revisit_cycles(design)
    sweeps = shape.n * groups_of(shape, design.n_cu)
    plain = registers(replace(shape, pool=None), images, design)
    values = {name: value for name, value in plain.items() if name.startswith("map_config_")}
    values |= {
        "map_config_rest": max(0, distance - sweeps),
        "map_config_delta_rest": max(0, distance - shape.m),
        "update_config_update": int(update),
        "update_config_rate": rate,
    }
    if design.ku_kind == "row":
        values |= {
            "map_config_pair_rows": 0,
            "map_config_rest": row_rest(shape, design),
            "map_config_sweeps": sweeps,
        }
    return values if momentum is None else values | {"update_config_momentum": momentum}
