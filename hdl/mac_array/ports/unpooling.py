"""Pooled atoms on their way to the resolution of sums."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL


class PooledAtom:
    """A pooled atom with what is known of its place."""

    def __init__(self, design: ArrayDesign) -> None:
        self.data = bits(design.atom_bits)  # its words, column 0 lowest
        self.valid = flag()  # there is an atom
        self.ready = flag()  # it is taken in a cycle with both high
        self.addr = count(design.index_words - 1)  # word of the index memory that is its own
        self.columns = count(design.pox)  # of it that lie in the map
        self.parts = count(design.pool_window)  # atoms of a row that it becomes
        self.top = count(design.pool_window - 1)  # first row of the window that is wanted
        self.bottom = count(design.pool_window - 1)  # last one
        self.final = flag()  # it is the pass's last one


class ExpandedAtom:
    """An atom of sums' deltas that a pooled atom becomes."""

    def __init__(self, design: ArrayDesign) -> None:
        self.data = bits(design.atom_bits)  # its words, column 0 lowest
        self.valid = flag()  # there is an atom
        self.ready = flag()  # it is taken in a cycle with both high
        self.row = count(design.pool_window - 1)  # in the window
        self.part = count(design.pool_window - 1)  # of the row, atom by atom
        self.last = flag()  # of the pooled atom
        self.final = flag()  # that is the pass's last one


class ArrayUnpoolConfig(RegisterBundle):
    """Run-time registers of un-pooling, those of the table ``UNPOOL``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(UNPOOL, design)
