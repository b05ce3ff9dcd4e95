"""Slots: what the arrays compute in a cycle, or why nothing."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.params.cnn_merp.design import Design


class Slot:
    """One issue slot on its way to the CU array: which kernel word, which accumulators.

    ``first`` starts the sums at the bias, ``last`` says that they are finished. The window of a
    slot is valid one cycle after the slot (it loads while the kernel memory reads).
    """

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.kernel_addr = count(design.kernel_words - 1)
        self.acc_addr = count(design.p * design.groups - 1)
        self.group = count(design.groups - 1)
        self.first = flag()
        self.last = flag()


class Verdict:
    """The sequencer's verdict of a cycle: a slot, or the cause why there is none."""

    def __init__(self, design: Design) -> None:
        self.issue = flag()
        self.useful = count(design.n_cu)  # CUs that the slot keeps busy
        self.stall_input = flag()
        self.stall_output = flag()
        self.stall_hazard = flag()
        self.final_issue = flag()  # the run's last slot
        self.idle = flag()  # no position is left and every reserved word has left the FIFO


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
