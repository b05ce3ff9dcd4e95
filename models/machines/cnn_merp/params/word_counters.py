"""The counters of words (of masks: bytes) of each top, by port, in the order of signals."""

from __future__ import annotations

from merp.models.base.storage import StoredFormat, port_format
from merp.models.machines.cnn_merp.params.design import EngineDesign

FORWARD_WORDS = ("map_in", "map_out", "kernel", "bias")
FORWARD_STATE_WORDS = ("state_out",)
"""If the ReLU/pooling mask is output."""

PARTIAL_WORDS = ("partial_in", "partial_out")
"""In forward and delta propagation, if sums can start from a stream and be output as one."""

ADDED_WORDS = ("add_in",)
"""In the same phases, if maps or deltas are added to the sums."""

ADDED_STATE_WORDS = ("add_state_in",)
"""If the added deltas arrive at pooled resolution."""

DELTA_WORDS = ("delta_in", "delta_out", "kernel", "state_in")

KERNEL_UPDATE_WORDS = ("map_in", "delta_in", "kernel", "kernel_out", "bias", "bias_out")
VELOCITY_WORDS = (
    "kernel_velocity_in", "kernel_velocity_out", "bias_velocity_in", "bias_velocity_out",
)  # fmt: skip
"""If momentum is built."""

KERNEL_UPDATE_STATE_WORDS = ("state_in",)
"""If deltas arrive at pooled resolution."""

BACKWARD_WORDS = (
    "delta_in", "state_in", "map_in", "kernel", "bias", "delta_out", "kernel_out", "bias_out",
)  # fmt: skip
"""In both backward phases in one pass."""

FUSED_WORDS = ("map_in", "kernel", "bias", "second_kernel", "second_bias", "map_out")
"""In two layers fused in forward propagation."""

FUSED_STATE_WORDS = ("between_out", "between_state_out", "state_out")
"""If the mask is output; the map between the layers is then output, too."""

_STATE = frozenset(
    (
        *FORWARD_STATE_WORDS, *ADDED_STATE_WORDS, *KERNEL_UPDATE_STATE_WORDS,
        "between_state_out",
    )
)  # fmt: skip


def stored_format(phase: str, port: str, design: EngineDesign) -> StoredFormat | None:
    """Return the format of the elements on a port; None for bytes of the mask and accumulator
    words.
    """
    if port in _STATE or port in PARTIAL_WORDS:
        return None
    return port_format(phase, port, design)


def word_bytes(phase: str, port: str, design: EngineDesign) -> int:
    """Return the bytes of a word of a port: 1 for the mask, the accumulator's for partial sums."""
    if port in PARTIAL_WORDS:
        return design.partial_width // 8
    stored = stored_format(phase, port, design)
    return 1 if stored is None else stored.bytes
