"""What the tops tell of a run: words by port."""

from __future__ import annotations

from merp.hdl.base.status import Status
from merp.models.base.counters import COUNTERS, FIRST, PROPAGATION
from merp.models.machines.cnn_merp.params.word_counters import (
    ADDED_STATE_WORDS,
    ADDED_WORDS,
    BACKWARD_WORDS,
    DELTA_WORDS,
    FORWARD_STATE_WORDS,
    FORWARD_WORDS,
    FUSED_STATE_WORDS,
    FUSED_WORDS,
    KERNEL_UPDATE_STATE_WORDS,
    KERNEL_UPDATE_WORDS,
    PARTIAL_WORDS,
    VELOCITY_WORDS,
)


def _of_sums(partial: bool, added: bool) -> tuple[str, ...]:
    return (*(PARTIAL_WORDS if partial else ()), *(ADDED_WORDS if added else ()))


class ForwardStatus(Status):
    """Status of forward propagation, with the words (of state: bytes) that passed each port.

    ``state`` says whether state leaves, ``partial`` whether partial sums pass, ``added`` whether
    maps come in that are added.
    """

    def __init__(self, state: bool = False, partial: bool = False, added: bool = False) -> None:
        states = FORWARD_STATE_WORDS if state else ()
        super().__init__((*FORWARD_WORDS, *states, *_of_sums(partial, added)))


class DeltaStatus(Status):
    """Status of delta propagation, with the words (of state: bytes) that passed each port.

    ``partial`` says whether partial sums pass, ``added`` whether deltas come in that are added,
    ``expanded`` whether these come with a state.
    """

    def __init__(self, partial: bool = False, added: bool = False, expanded: bool = False) -> None:
        states = ADDED_STATE_WORDS if expanded else ()
        super().__init__((*DELTA_WORDS, *_of_sums(partial, added), *states))


class KernelUpdateStatus(Status):
    """Status of the kernel update, with the words that passed each port.

    ``momentum`` and ``state`` say whether velocities pass, and bytes of state.
    """

    def __init__(self, momentum: bool = False, state: bool = False) -> None:
        velocities = VELOCITY_WORDS if momentum else ()
        states = KERNEL_UPDATE_STATE_WORDS if state else ()
        super().__init__((*KERNEL_UPDATE_WORDS, *velocities, *states))


class BackwardStatus(Status):
    """Status of both backward phases in one pass, with the words (of state: bytes) by port.

    Cycles are those of the update's slots; those of delta propagation's are counted apart.
    """

    def __init__(self, momentum: bool = False) -> None:
        velocities = VELOCITY_WORDS if momentum else ()
        super().__init__((*BACKWARD_WORDS, *velocities, *PROPAGATION))

    def of_propagation(self) -> Status:
        """The cycles of delta propagation under the names of a status."""
        return _half(self, PROPAGATION)


class FusedStatus(Status):
    """Status of two layers fused in forward propagation, with the words (of state: bytes) by port.

    Cycles are those of the second layer's slots; those of the first one's are counted apart.
    ``state`` says whether state leaves, and the map between them.
    """

    def __init__(self, state: bool = False) -> None:
        states = FUSED_STATE_WORDS if state else ()
        super().__init__((*FUSED_WORDS, *states, *FIRST))

    def of_first(self) -> Status:
        """The cycles of the first layer under the names of a status."""
        return _half(self, FIRST)


def _half(whole: Status, names: tuple[str, ...]) -> Status:
    """A half's cycles, called ``names`` in the whole; its flags are no ports."""
    half = Status()
    for name, each in zip(names, COUNTERS, strict=True):
        setattr(half, each.name, getattr(whole, name))
    return half
