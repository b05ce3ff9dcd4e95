"""The counters of words (of state: bytes) that each top has, by port, in the order of signals."""

from __future__ import annotations

FORWARD_WORDS = ("map_in", "map_out", "kernel", "bias")
FORWARD_STATE_WORDS = ("state_out",)
"""Where state leaves."""

PARTIAL_WORDS = ("partial_in", "partial_out")
"""Of forward and delta propagation, where sums can start from a stream and leave as one."""

ADDED_WORDS = ("add_in",)
"""Of the same, where maps, or deltas, are added to the sums."""

ADDED_STATE_WORDS = ("add_state_in",)
"""Where the deltas that are added come at pooled resolution."""

DELTA_WORDS = ("delta_in", "delta_out", "kernel", "state_in")

KERNEL_UPDATE_WORDS = ("map_in", "delta_in", "kernel", "kernel_out", "bias", "bias_out")
VELOCITY_WORDS = (
    "kernel_velocity_in", "kernel_velocity_out", "bias_velocity_in", "bias_velocity_out",
)  # fmt: skip
"""Where momentum is built."""

KERNEL_UPDATE_STATE_WORDS = ("state_in",)
"""Where deltas come at pooled resolution."""
