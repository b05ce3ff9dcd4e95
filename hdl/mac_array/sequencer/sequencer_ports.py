"""Bundles between the blocks of the sequencers."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.mac_array.params.design import ArrayDesign


class Taps:
    """The taps along an axis that the pixels of each phase use; stable from start.

    Taps may be counted in elements of the kernel buffer.
    """

    def __init__(
        self, *, phases: Word, first: Word, stride: Word, unit: Word | int, size: Word
    ) -> None:
        self.phases = phases  # number of phases
        self.first = first  # the first tap of the first phase
        self.stride = stride  # distance between two taps of a phase
        self.unit = unit  # distance between two neighbouring taps
        self.size = size  # the place behind the last tap of the kernel


class TapPlace:
    """The current tap and phase along an axis."""

    def __init__(self, largest: int, design: ArrayDesign) -> None:
        self.tap = count(largest)  # the current tap
        self.last_tap = flag()  # the tap is the last one of its phase
        self.phase = count(design.max_stride)  # the current phase
        self.last_phase = flag()  # the phase is the last one
        self.ahead = flag()  # the phase of the next cycle begins a delta further on than the first


class SlotEnds:
    """The loops that end with the current slot."""

    def __init__(self) -> None:
        self.tap = flag()  # the slot ends its map
        self.map = flag()  # with tap: the slot ends its tile
        self.tile = flag()  # with tap and map: the slot ends its group of lanes
        self.group = flag()  # with all of these: the slot ends its band


class LayerLoops:
    """The nested loops of a pass of FP or DP."""

    def __init__(self, design: ArrayDesign) -> None:
        self.across = TapPlace(design.max_kernel, design)
        self.down = TapPlace(design.max_kernel**2, design)  # first element of the row of the tap
        self.each_map = count(design.max_maps)
        self.ends = SlotEnds()
        self.last_column_tile = flag()
        self.last_band = flag()
        # The issued slot is the last one of this loop, and of all inner loops.
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
        self.last_across = flag()  # last tile of taps in its row of tiles
        self.last_down = flag()  # last row of tiles of taps
        self.last_group = flag()
        self.last_tile = flag()
        # The issued slot is the last one of this loop, and of all inner loops.
        self.next_row = flag()
        self.next_sweep = flag()
        self.next_down = flag()
        self.next_group = flag()
        self.next_tile = flag()


class RunPieces:
    """The pieces of a run that slots use; stable from start."""

    def __init__(self, *, pieces: Word, first: Word | int, stride: Word | int) -> None:
        self.pieces = pieces  # pieces of a run
        self.first = first  # pieces that the first slots of a run use
        self.stride = stride  # further pieces per step, up to the end of the run


class RunMoves:
    """Moves of the slots within the runs. If several are high, the last in this list wins."""

    def __init__(self, *, step: Bit, rewind: Bit, advance: Bit) -> None:
        self.step = step  # go on within the run
        self.rewind = rewind  # go back to the first pieces of the run
        self.advance = advance  # go to the first pieces of the next run
