"""The counters of a top level of the MAC array: cycles by cause, and words by port.

Only names and meanings are shared. The hardware, the models and the audit each calculate the values
in their own way.
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
    Counter("stall_input", "cycles without a slot: no map words", part=True, stall=True),
    Counter(
        "stall_output", "cycles without a slot: sums not read yet", part=True, stall=True
    ),
    Counter("useful", "useful products of pixels, lanes and taps"),
    Counter("saturated", "words of maps that were clipped"),
    Counter("saturated_gradient", "gradients that were clipped"),
    Counter("saturated_velocity", "velocities that were clipped"),
    Counter("saturated_kernel", "kernels and biases that were clipped"),
)  # fmt: skip
"""Counters in the order of their signals; ``total`` is the sum of the parts."""

PORT_WORDS = (
    "map_in", "delta_in", "kernel_in", "gradient_in", "map_out", "kernel_out", "gradient_out",
)  # fmt: skip
"""Ports whose words are counted."""

VELOCITY_WORDS = ("velocity_in", "velocity_out")
"""Additional ports of a design with momentum."""

LOSS_COUNTERS = (Counter("saturated_loss", "deltas of the loss that were clipped"),)
TARGET_WORDS = ("target_in",)
"""Additional ports of a design with a loss unit."""

MEANINGS = {each.name: each.meaning for each in (*ARRAY_COUNTERS, *LOSS_COUNTERS)}
"""Meanings of all counters that do not count the words of a port."""


def counters_of(design: ArrayDesign) -> tuple[Counter, ...]:
    """Return the counters of a design, without those for the words of its ports."""
    return (*ARRAY_COUNTERS, *(LOSS_COUNTERS if design.loss else ()))
