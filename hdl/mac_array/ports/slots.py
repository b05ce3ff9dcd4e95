"""Slots: what the array computes in a cycle, or why nothing."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.mac_array.ports.maps import MapRead
from merp.models.machines.mac_array.params.design import ArrayDesign


class KernelRowRead:
    """The read of a row or column of the kernel buffer."""

    def __init__(self, design: ArrayDesign) -> None:
        self.base = count(2 * design.kernel_words)  # of a row; of a column's first element
        self.turn = count(design.pof - 1)  # by how many places the buffers' words are turned
        self.rows = count(design.pof)  # elements of a column; 0: a row is read


class ArraySlot:
    """A slot; its operands come two cycles later."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # there is a slot in this cycle
        self.first = flag()  # the sums of a tile begin
        self.last = flag()  # they are finished
        self.biased = flag()  # its weights are deltas that bias gradients sum, too


class ArrayVerdict:
    """The sequencer's verdict of a cycle: a slot, or the cause why there is none."""

    def __init__(self, design: ArrayDesign) -> None:
        self.issue = flag()  # a slot is issued
        self.stall_kernel = flag()  # none: its kernel words are not there
        self.stall_input = flag()  # none: its maps, or deltas, are not there
        self.stall_output = flag()  # none: the sums before have not been read
        self.final_issue = flag()  # the pass's last slot
        self.rows = count(design.poy)  # rows of MACs of a region that count
        self.columns = count(design.pox)  # columns of them
        self.maps = count(design.pixels)  # regions with a map; the whole array is one in FP and DP
        self.lanes = count(design.pof)  # lanes in use


class DeltaRead:
    """The read of a delta pixel of every lane."""

    def __init__(self, design: ArrayDesign) -> None:
        self.addr = count(2 * design.delta_words - 1)  # of the atom
        self.pixel = count(design.pox - 1)  # in it


class LayerIssue:
    """A slot of FP or DP and the reads of its operands, a cycle after the issue."""

    def __init__(self, slot: ArraySlot, maps: MapRead, kernels: KernelRowRead) -> None:
        self.slot = slot
        self.maps = maps
        self.kernels = kernels


class SweepIssue:
    """A slot of KU and the reads of its operands, a cycle after the issue."""

    def __init__(self, slot: ArraySlot, maps: MapRead, deltas: DeltaRead) -> None:
        self.slot = slot
        self.maps = maps
        self.deltas = deltas
