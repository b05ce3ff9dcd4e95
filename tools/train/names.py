"""Names and limits of trainings."""

from __future__ import annotations

from merp.cosim.engines.names import ENGINES as SIMULATORS

ENGINES = ("golden", *SIMULATORS)
SYSTEM = "system"
"""The engine that runs steps from memory."""

IN_HARDWARE = "myhdl"
"""Default engine of a machine that runs in hardware only."""

LOSSES = ("cross-entropy", "squared", "hinge")
HARDWARE_STATE = "pooled"  # the only mask that the hardware writes
ON_CHIP = "chip"
"""The mask that never leaves the MAC array."""

BATCH, EPOCHS, RATE, MOMENTUM = 32, 10, 0.05, 0.9  # 98 % of the held-out digits
MOST_STEPS, MOST_EPOCHS, MOST_ACCUMULATE = 1 << 31, 1 << 20, 1 << 12


def step_size(batch: int, accumulate: int) -> str:
    """Return the images of a step as text."""
    return f"{accumulate} x {batch}" if accumulate > 1 else str(batch)


def ring_per_pass(reason: Exception) -> dict[str, str]:
    """Return the facts of a board for the answer, if the host rings once for each pass."""
    return {"rings": "one per pass", "reason": str(reason)}
