"""What is to be trained, and how; it imports nothing slow, so that options are checked at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from merp.models.errors import BadInput
from merp.models.given import given, mention
from merp.models.network.network import Network

ENGINES = ("golden", "myhdl", "verilator")
LOSSES = ("cross-entropy", "squared")
HARDWARE_STATE = "pooled"  # the only kind that the hardware writes
BATCH, EPOCHS, RATE, MOMENTUM = 32, 10, 0.05, 0.9  # 98 % of the held-out digits
MOST_BATCH, MOST_STEPS, MOST_EPOCHS = 1 << 16, 1 << 31, 1 << 20


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is to be trained, and how.

    Attributes:
        network: every layer of it has a design, unless the golden model trains it.
        engine: of ``ENGINES``. state: that is kept (``state_kept``).
        batch: images of a step, 1 to ``MOST_BATCH``; None is ``BATCH``, or that of ``resume``.
        steps: in all, those resumed included, 1 to ``MOST_STEPS``; None is those of ``epochs``.
        epochs: in all, 1 to ``MOST_EPOCHS``; None is ``EPOCHS``.
        learning_rate: of the mean loss, above 0. momentum: from 0 to below 1.
        loss: of ``LOSSES``.
        seed: of 32 bits; None is 0, or that of ``resume``.
        resume: a saved file to go on from.
        weights: a file of kernels and biases to begin with, where nothing is resumed.
    """

    network: Network
    engine: str
    state: str
    batch: int | None
    steps: int | None
    epochs: int | None
    learning_rate: float
    momentum: float
    loss: str
    seed: int | None
    resume: Path | None
    weights: Path | None


def state_kept(engine: str, asked: str | None) -> str:
    """Kind of state that forward propagation keeps, given what was asked for.

    Raises:
        BadInput: the hardware keeps another.
    """
    if engine == "golden":
        return asked or "32"
    if asked not in (None, HARDWARE_STATE):
        raise BadInput(
            f"{given('state_bits', asked)}: {mention('engine', engine)} runs the hardware: "
            f"allowed: {HARDWARE_STATE}"
        )
    return HARDWARE_STATE
