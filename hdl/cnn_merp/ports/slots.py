"""Slots: what the arrays compute in a cycle, or why nothing."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.machines.cnn_merp.params.design import EngineDesign


class Slot:
    """One issue slot on its way to the CU array: which kernel word, which accumulators.

    ``first`` starts the sums at the bias, ``last`` says that they are finished. The window of a
    slot is valid one cycle after the slot (it loads while the kernel memory reads).
    """

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # there is a slot in this cycle
        self.kernel_addr = count(design.kernel_words - 1)  # word of the kernel memories
        self.acc_addr = count(design.p * design.groups - 1)  # place in the accumulator memories
        self.group = count(design.groups - 1)  # group of output maps
        self.first = flag()  # the sums start at the bias
        self.last = flag()  # the sums are finished


class OriginSlot(Slot):
    """The same in a design for partial sums, which do not all start at the bias of their group."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design)
        self.origin = count(design.origins - 1)  # of a first slot: word that the sums start at


class Verdict:
    """The sequencer's verdict of a cycle: a slot, or the cause why there is none."""

    def __init__(self, design: EngineDesign) -> None:
        self.issue = flag()  # a slot is issued
        self.useful = count(design.n_cu)  # CUs that the slot keeps busy
        self.stall_input = flag()  # none: the input is starved
        self.stall_output = flag()  # none: there is no room for its sums
        self.stall_hazard = flag()  # none: an accumulator is still in use
        self.final_issue = flag()  # the run's last slot
        self.idle = flag()  # no position is left and every reserved word has left the FIFO


class RowSlot:
    """One slot of a sweep: a position of a row, for one input map and one group of output maps.

    The window and the deltas of a slot are valid one cycle after it. A sweep has no gaps.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # there is a slot in this cycle
        self.column = count(design.max_size - 1)  # of the output row
        self.first = flag()  # the sweep's first column
        self.last = flag()  # its last
        self.kernel_addr = count(design.kernel_words - 1)  # word of the gradient memories
        self.delta_word = count(design.groups * design.max_size - 1)  # of the row's deltas
        self.row_last = flag()  # the row's last slot
