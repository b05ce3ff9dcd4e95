"""Slots: the work of the array in a cycle, or the cause of a stall."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.mac_array.ports.maps import MapRead
from merp.models.machines.mac_array.params.design import ArrayDesign


class KernelRowRead:
    """The read of a row or column of the kernel buffer."""

    def __init__(self, design: ArrayDesign) -> None:
        self.base = count(2 * design.kernel_words)  # address of a row; of a column's start
        self.turn = count(design.pof - 1)  # places to rotate the words of the buffers by
        self.rows = count(design.pof)  # elements of a column; 0: a row is read


class ArraySlot:
    """An issue slot; its operands follow two cycles later."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # a slot is issued in this cycle
        self.first = flag()  # it begins the sums of a tile
        self.last = flag()  # it completes the sums of a tile
        self.biased = flag()  # its weights are deltas, which bias gradients sum, too


class ArrayVerdict:
    """The verdict of the sequencer in a cycle: a slot, or the cause of a stall."""

    def __init__(self, design: ArrayDesign) -> None:
        self.issue = flag()  # a slot is issued
        self.stall_kernel = flag()  # no slot: its kernel words have not arrived
        self.stall_input = flag()  # no slot: its maps, or deltas, have not arrived
        self.stall_output = flag()  # no slot: the previous sums have not been read
        self.final_issue = flag()  # the last slot of the pass
        self.rows = count(design.poy)  # rows of MACs of a region that count
        self.columns = count(design.pox)  # columns of MACs of a region that count
        self.maps = count(design.pixels)  # regions with a map; in FP and DP the array is one
        self.lanes = count(design.pof)  # lanes in use


class DeltaRead:
    """The read of a delta for every lane."""

    def __init__(self, design: ArrayDesign) -> None:
        self.addr = count(2 * design.delta_words - 1)  # address of the atom
        self.pixel = count(design.pox - 1)  # pixel in the atom


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
