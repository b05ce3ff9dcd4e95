"""Count the words on the array's ports: walk through every atom and every beat of a pass."""

from __future__ import annotations

from collections.abc import Iterable

from merp.models.machines.mac_array import orders
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array


def walked_words(of: ArrayPass, array: Array) -> dict[str, int]:
    """Count the words on each port for one image in FP, DP, KU or un-pooling.

    Ports without words are left out. In KU the ports depend on ``of.first`` and ``of.last``:
    whether the image is the first or the last one of its batch.
    """
    ports: dict[str, Iterable[tuple[int, int, int]]]
    if of.phase == "fp":
        ports = {
            "map_in": orders.maps_in(of, array),
            "map_out": orders.outputs_of_forward(of, array),
            "kernel_in": orders.forward_kernels(of, array),
            "target_in": () if of.loss is None else ((0, 0, 0),),
        }
    elif of.phase == "dp":
        ports = {
            "map_in": orders.maps_in(of, array),
            "map_out": orders.outputs_of_delta(of, array),
            "kernel_in": orders.delta_kernels(of, array),
        }
    elif of.phase == "upsample":
        ports = {
            "map_in": orders.pooling_out(of, array),
            "map_out": orders.pooling_in(of, array),
        }
    else:
        ports = {
            "map_in": orders.update_maps(of, array),
            "delta_in": orders.update_deltas(of, array),
        }
        moved: tuple[str, ...] = () if of.first else ("gradient_in",)
        moved += ("kernel_in", "kernel_out") if of.last else ("gradient_out",)
        moved += ("velocity_in", "velocity_out") if of.last and of.has_momentum else ()
        ports |= {port: orders.update_parameters(of, array) for port in moved}
    beats = {port: len(list(each)) for port, each in ports.items()}
    widths = dict.fromkeys(("map_in", "map_out", "delta_in"), array.pox) | {"target_in": 1}
    words = {port: widths.get(port, array.pof) for port in beats}
    return {port: count * words[port] for port, count in beats.items() if count}
