"""Status of a forward engine that writes the state for the way back."""

from __future__ import annotations

from merp.hdl.bundles import STATUS_WIDTH, ForwardStatus, bits


class ForwardStateStatus(ForwardStatus):
    """Status of the forward engine, with the words of state that it sent."""

    def __init__(self) -> None:
        super().__init__()
        self.state_out = bits(STATUS_WIDTH)
