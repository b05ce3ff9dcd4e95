"""What the tops tell of a run: words by port."""

from __future__ import annotations

from merp.hdl.base.status import Status
from merp.models.params.cnn_merp.word_counters import (
    DELTA_WORDS,
    FORWARD_STATE_WORDS,
    FORWARD_WORDS,
    KERNEL_UPDATE_STATE_WORDS,
    KERNEL_UPDATE_WORDS,
    PARTIAL_WORDS,
    VELOCITY_WORDS,
)


class ForwardStatus(Status):
    """Status of forward propagation, with the words (of state: bytes) that passed each port.

    ``state`` says whether state leaves, ``partial`` whether partial sums pass.
    """

    def __init__(self, state: bool = False, partial: bool = False) -> None:
        states = FORWARD_STATE_WORDS if state else ()
        super().__init__((*FORWARD_WORDS, *states, *(PARTIAL_WORDS if partial else ())))


class DeltaStatus(Status):
    """Status of delta propagation, with the words (of state: bytes) that passed each port.

    ``partial`` says whether partial sums pass.
    """

    def __init__(self, partial: bool = False) -> None:
        super().__init__((*DELTA_WORDS, *(PARTIAL_WORDS if partial else ())))


class KernelUpdateStatus(Status):
    """Status of the kernel update, with the words that passed each port.

    ``momentum`` and ``state`` say whether velocities pass, and bytes of state.
    """

    def __init__(self, momentum: bool = False, state: bool = False) -> None:
        velocities = VELOCITY_WORDS if momentum else ()
        states = KERNEL_UPDATE_STATE_WORDS if state else ()
        super().__init__((*KERNEL_UPDATE_WORDS, *velocities, *states))
