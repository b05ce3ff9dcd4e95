"""The counters that a top of the MAC array has: its cycles by cause, and words by port.

Names and meanings only are shared. What a counter must hold is computed by the hardware, by the
models and by the audit, each in its own way.
"""

from __future__ import annotations

from merp.models.base.counters import Counter
from merp.models.machines.mac_array.params.design import ArrayDesign

ARRAY_COUNTERS = (
    Counter("total", "cycles from the one after start to the last word or sum"),
    Counter("issue", "cycles with a slot issued to the array", part=True),
    Counter("fill", "cycles before the first slot", part=True),
    Counter("drain", "cycles after the last slot", part=True),
    Counter("stall_kernel", "cycles without a slot: no kernel words", part=True, stall=True),
    Counter("stall_input", "cycles without a slot: no map", part=True, stall=True),
    Counter(
        "stall_output", "cycles without a slot: sums not read", part=True, stall=True
    ),
    Counter("useful", "products of pixels, lanes and taps that count"),
    Counter("saturated", "words of maps that were clipped"),
    Counter("saturated_gradient", "gradients that were clipped"),
    Counter("saturated_velocity", "velocities that were clipped"),
    Counter("saturated_kernel", "kernels and biases that were clipped"),
)  # fmt: skip
"""In the order of their signals; ``total`` is the sum of the parts."""

PORT_WORDS = (
    "map_in", "delta_in", "kernel_in", "gradient_in", "map_out", "kernel_out", "gradient_out",
)  # fmt: skip
"""Ports whose words are counted."""

VELOCITY_WORDS = ("velocity_in", "velocity_out")
"""Where momentum is built."""

LOSS_COUNTERS = (Counter("saturated_loss", "deltas of the loss that were clipped"),)
TARGET_WORDS = ("target_in",)
"""Where the loss is built."""

MEANINGS = {each.name: each.meaning for each in (*ARRAY_COUNTERS, *LOSS_COUNTERS)}
"""What counters count that are not of the words of a port."""


def counters_of(design: ArrayDesign) -> tuple[Counter, ...]:
    """What a design counts besides the words of its ports."""
    return (*ARRAY_COUNTERS, *(LOSS_COUNTERS if design.loss else ()))
