"""Bundles that the blocks of the sequencers hand to each other."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.mac_array.params.design import ArrayDesign


class Taps:
    """The taps along an axis that the pixels of each phase meet; stable from start.

    Taps may be counted in elements of the kernel buffer.
    """

    def __init__(
        self, *, phases: Word, first: Word, stride: Word, unit: Word | int, size: Word
    ) -> None:
        self.phases = phases  # how many phases there are
        self.first = first  # the first tap of the first phase
        self.stride = stride  # from a tap to the next one of a phase
        self.unit = unit  # from a tap to the one behind it
        self.size = size  # behind the kernel's last tap


class TapPlace:
    """The tap and the phase at hand along an axis."""

    def __init__(self, largest: int, design: ArrayDesign) -> None:
        self.tap = count(largest)  # the tap at hand
        self.last_tap = flag()  # it is the phase's last one
        self.phase = count(design.max_stride)  # the phase at hand
        self.last_phase = flag()  # it is the last one
        self.ahead = flag()  # the phase after this cycle begins a delta further on than the first


class SlotEnds:
    """What the slot at hand is the last one of."""

    def __init__(self) -> None:
        self.tap = flag()  # its map
        self.map = flag()  # with tap: its tile
        self.tile = flag()  # with these: its group of lanes
        self.group = flag()  # with these: its band


class LayerLoops:
    """The nested loops of a pass of FP or DP."""

    def __init__(self, design: ArrayDesign) -> None:
        self.across = TapPlace(design.max_kernel, design)
        self.down = TapPlace(design.max_kernel**2, design)  # first element of the tap's row
        self.each_map = count(design.max_maps)
        self.ends = SlotEnds()
        self.last_column_tile = flag()
        self.last_band = flag()
        # The slot that is issued is the last one of it, and of all inside it.
        self.next_row = flag()
        self.next_map = flag()
        self.next_tile = flag()
        self.next_column_tile = flag()
        self.next_group = flag()
        self.next_band = flag()


class SweepLoops:
    """The nested loops of a pass of KU."""

    def __init__(self) -> None:
        self.last_column = flag()
        self.last_row = flag()
        self.last_across = flag()  # tile of taps in its row of tiles
        self.last_down = flag()  # row of tiles of taps
        self.last_group = flag()
        self.last_tile = flag()
        # The slot that is issued is the last one of it, and of all inside it.
        self.next_row = flag()
        self.next_sweep = flag()
        self.next_down = flag()
        self.next_group = flag()
        self.next_tile = flag()


class RunPieces:
    """Pieces of a run that slots need; stable from start."""

    def __init__(self, *, pieces: Word, first: Word | int, stride: Word | int) -> None:
        self.pieces = pieces  # of a run
        self.first = first  # those that are needed of a run at first
        self.stride = stride  # those that a step asks for beside, up to all of the run


class RunMoves:
    """Where the slots go in the runs; of several moves at once the last one counts."""

    def __init__(self, *, step: Bit, rewind: Bit, advance: Bit) -> None:
        self.step = step  # go on within the run
        self.rewind = rewind  # back to its first pieces
        self.advance = advance  # to the first ones of the next run
