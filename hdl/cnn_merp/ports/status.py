"""What the tops tell of a run: words by port."""

from __future__ import annotations

from merp.hdl.base.signals import bits
from merp.hdl.base.status import STATUS_WIDTH, Status


class ForwardStatus(Status):
    """Status of the forward engine, with the words (of state: bytes) that passed each port.

    ``state`` says whether state leaves.
    """

    def __init__(self, state: bool = False) -> None:
        super().__init__()
        self.map_in = bits(STATUS_WIDTH)
        self.map_out = bits(STATUS_WIDTH)
        self.kernel = bits(STATUS_WIDTH)
        self.bias = bits(STATUS_WIDTH)
        if state:
            self.state_out = bits(STATUS_WIDTH)


class DeltaStatus(Status):
    """Status of delta propagation, with the words (of state: bytes) that passed each port."""

    def __init__(self) -> None:
        super().__init__()
        self.delta_in = bits(STATUS_WIDTH)
        self.delta_out = bits(STATUS_WIDTH)
        self.kernel = bits(STATUS_WIDTH)
        self.state_in = bits(STATUS_WIDTH)


class KernelUpdateStatus(Status):
    """Status of the kernel update, with the words that passed each port.

    ``momentum`` and ``state`` say whether velocities pass, and bytes of state.
    """

    def __init__(self, momentum: bool = False, state: bool = False) -> None:
        super().__init__()
        self.map_in = bits(STATUS_WIDTH)
        self.delta_in = bits(STATUS_WIDTH)
        self.kernel = bits(STATUS_WIDTH)
        self.kernel_out = bits(STATUS_WIDTH)
        self.bias = bits(STATUS_WIDTH)
        self.bias_out = bits(STATUS_WIDTH)
        if momentum:
            self.kernel_velocity_in = bits(STATUS_WIDTH)
            self.kernel_velocity_out = bits(STATUS_WIDTH)
            self.bias_velocity_in = bits(STATUS_WIDTH)
            self.bias_velocity_out = bits(STATUS_WIDTH)
        if state:
            self.state_in = bits(STATUS_WIDTH)
