"""Port bundles of the kernel update."""

from __future__ import annotations

from merp.hdl.bundles import STATUS_WIDTH, MapConfig, Status, bits, count, flag
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import longest_rest, revisit_cycles


class GradientMapConfig(MapConfig):
    """Registers of an input side whose slots accumulate over positions and not over input maps.

    The input side tells by this type which order and rule it follows.
    """

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self.rest = count(longest_rest(design))  # idle cycles after a position's last slot
        self.delta_rest = count(revisit_cycles(design))  # and after its last delta word


class RowMapConfig(GradientMapConfig):
    """The same where a row of positions is swept for each kernel; rest comes after each sweep."""

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self.sweeps = count(design.kernel_words)  # of a row, n*G


def map_config(design: Design) -> GradientMapConfig:
    """Registers of the input side of a kernel update on ``design``."""
    return (RowMapConfig if design.ku_kind == "row" else GradientMapConfig)(design)


class UpdateConfig:
    """Run-time registers of the update unit."""

    def __init__(self, design: Design, momentum: bool) -> None:
        self.update = flag()  # else the gradients themselves come out
        self.rate = bits(design.fmt.width)
        if momentum:
            self.momentum = bits(design.fmt.width)


class DeltaElement:
    """A delta word on its way to the bias gradients."""

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.data = bits(design.fmt.width)
        self.index = count(design.groups * design.n_cu - 1)  # output map
        self.opening = flag()  # of the run's first position


class RowSlot:
    """One slot of a sweep: a position of a row, for one input map and one group of output maps.

    The window and the deltas of a slot are valid one cycle after it. A sweep has no gaps.
    """

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.column = count(design.max_size - 1)  # of the output row
        self.first = flag()  # the sweep's first column
        self.last = flag()  # its last
        self.kernel_addr = count(design.kernel_words - 1)
        self.delta_word = count(design.groups * design.max_size - 1)  # of the row's deltas
        self.row_last = flag()  # the row's last slot


class GradientRead:
    """Read of one element of the gradient memories; the element comes READ_LATENCY cycles later.

    Its place in the word, and the CU, are bit positions, so that nothing has to be multiplied.
    """

    def __init__(self, design: Design) -> None:
        width = design.fmt.width
        self.enable = flag()  # no slot is in flight, the memories are the reader's
        self.addr = count(design.gradient_words - 1)
        self.tap_shift = count(design.gradient_lanes * width - 1)
        self.cu_shift = count(design.n_cu * width - 1)


READ_LATENCY = 3
"""Memory, tap, CU."""


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
