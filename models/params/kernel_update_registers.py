"""Run-time registers of a kernel update: what a layer writes into an elaborated design."""

from __future__ import annotations

from dataclasses import replace

from merp.models.params.design import Design
from merp.models.params.registers import registers
from merp.models.params.shape import Shape
from merp.models.params.sizing import groups_of


def revisit_cycles(design: Design) -> int:
    """L: cycles after which the same gradient may be added to again.

    The adder, one cycle for the read of the memory and one for the write; nothing is forwarded,
    because a forwarding multiplexer would be as wide as the window.
    """
    return design.add_latency + 2


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
    plain = registers(replace(shape, pool=None), images, design)
    values = {name: value for name, value in plain.items() if name.startswith("map_config_")}
    values |= {
        "map_config_rest": max(0, distance - shape.n * groups_of(shape, design.n_cu)),
        "map_config_delta_rest": max(0, distance - shape.m),
        "update_config_update": int(update),
        "update_config_rate": rate,
    }
    return values if momentum is None else values | {"update_config_momentum": momentum}
