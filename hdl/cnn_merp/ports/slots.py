"""Slots: the work of the arrays in a cycle, or the cause of a stall."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.machines.cnn_merp.params.design import EngineDesign


class Slot:
    """An issue slot for the CU array: its kernel word and its accumulators.

    ``first`` starts the sums at the bias, ``last`` marks them as finished. The window of a slot is
    valid one cycle after the slot (it loads while the kernel memory reads).
    """

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # a slot is issued in this cycle
        self.kernel_addr = count(design.kernel_words - 1)  # word of the kernel memories
        self.acc_addr = count(design.p * design.groups - 1)  # place in the accumulator memories
        self.group = count(design.groups - 1)  # group of output maps
        self.first = flag()  # the sums start at the bias
        self.last = flag()  # the sums are finished


class OriginSlot(Slot):
    """A slot in a design for partial sums, whose sums need not start at the bias of their group."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design)
        self.origin = count(design.origins - 1)  # of a first slot: start word of the sums


class Verdict:
    """The verdict of the sequencer in a cycle: a slot, or the cause of a stall."""

    def __init__(self, design: EngineDesign) -> None:
        self.issue = flag()  # a slot is issued
        self.useful = count(design.n_cu)  # CUs that the slot keeps busy
        self.stall_input = flag()  # no slot: the input is starved
        self.stall_output = flag()  # no slot: there is no room for its sums
        self.stall_hazard = flag()  # no slot: an accumulator is still in use
        self.final_issue = flag()  # the last slot of the run
        self.idle = flag()  # no position is left and the FIFO has sent every reserved word


class RowSlot:
    """One slot of a sweep: a position of a row, for one input map and one group of output maps.

    The window and the deltas of a slot are valid one cycle after it. A sweep has no gaps.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # there is a slot in this cycle
        self.column = count(design.max_size - 1)  # column of the output row
        self.first = flag()  # the first column of the sweep
        self.last = flag()  # the last column of the sweep
        self.kernel_addr = count(design.kernel_words - 1)  # word of the gradient memories
        self.delta_word = count(design.groups * design.max_size - 1)  # word of the row's deltas
        self.row_last = flag()  # the last slot of the row
