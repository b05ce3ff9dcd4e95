"""Bundles that the blocks of the delta buffer hand to each other, and to its neighbours."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class SlotDeltas:
    """Deltas of a slot, a cycle later: CU 0 in the lowest bits; whether it opens the run."""

    def __init__(self, deltas: Word, opening: Bit) -> None:
        self.deltas = deltas  # those of the slot one cycle earlier, CU 0 in the lowest bits
        self.opening = opening  # the slot belongs to the run's first position, or row


class Arriving:
    """Deltas that come in."""

    def __init__(self, filled: Bit, element: DeltaElement, framing_error: Bit) -> None:
        self.filled = filled  # pulse: one more word, or row, is there
        self.element = element  # each delta word, one cycle after its transfer
        self.framing_error = framing_error  # last came with another word; until start


class Collected:
    """Words of n_cu deltas; what is taken has its last element transferred in this cycle."""

    def __init__(self, design: EngineDesign) -> None:
        self.cu_group = count(design.groups)  # which word of its position is being collected
        self.word_taken = flag()  # its last element is transferred in this cycle
        self.position_taken = flag()  # and ends a position
        self.row_taken = flag()  # and ends a row of positions
        self.word = bits(design.n_cu * design.fmt.width)  # two cycles after word_taken


class HalfWrite:
    """Write of a word: taken in this cycle, the word comes two cycles later."""

    def __init__(self, taken: Bit, place: Word, ends: Bit, word: Word) -> None:
        self.taken = taken  # in this cycle; the word comes two cycles later
        self.place = place  # in its half
        self.ends = ends  # it is the half's last
        self.word = word  # two cycles after taken


class HalfRead:
    """Read of a word: its place in the half; the half is read for the last time."""

    def __init__(self, place: Word, ends: Bit) -> None:
        self.place = place
        self.ends = ends
