"""Bundles between the blocks of the delta buffer, and to its neighbours."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class SlotDeltas:
    """Deltas of a slot, a cycle later, CU 0 in the lowest bits; and whether it opens the run."""

    def __init__(self, deltas: Word, opening: Bit) -> None:
        self.deltas = deltas  # deltas of the slot one cycle earlier, CU 0 in the lowest bits
        self.opening = opening  # the slot belongs to the first position, or row, of the run


class Arriving:
    """Arriving deltas."""

    def __init__(self, filled: Bit, element: DeltaElement, framing_error: Bit) -> None:
        self.filled = filled  # pulse: one more word, or row, is complete
        self.element = element  # each delta word, one cycle after its transfer
        self.framing_error = framing_error  # last arrived with a wrong word; until start


class Collected:
    """Words of n_cu deltas; taken: the last element is transferred in this cycle."""

    def __init__(self, design: EngineDesign) -> None:
        self.cu_group = count(design.groups)  # number of the current word in its position
        self.word_taken = flag()  # the last element of the word is transferred in this cycle
        self.position_taken = flag()  # and it ends a position
        self.row_taken = flag()  # and it ends a row of positions
        self.word = bits(design.n_cu * design.fmt.width)  # two cycles after word_taken


class HalfWrite:
    """Write of a word: it is taken in this cycle, and its data follows two cycles later."""

    def __init__(self, taken: Bit, place: Word, ends: Bit, word: Word) -> None:
        self.taken = taken  # taken in this cycle; the word follows two cycles later
        self.place = place  # place in its half
        self.ends = ends  # the word is the last one of the half
        self.word = word  # the word, two cycles after taken


class HalfRead:
    """Read of a word: its place in the half, and whether the half is read for the last time."""

    def __init__(self, place: Word, ends: Bit) -> None:
        self.place = place
        self.ends = ends
