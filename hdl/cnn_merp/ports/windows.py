"""Signals between the blocks of the input side: arrived words, positions, windows, slots."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.maps import BankRead, Floor, FoldRowConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class MapPlace:
    """Place of the next map word; rows are counted over all images.

    In a run whose elements arrive map by map, there is no ``column``.
    """

    def __init__(self, row: Word, column: Word, channel: Word) -> None:
        self.row = row  # row of the next map word, over all images
        self.column: Any = column  # its column in its map
        self.channel = channel  # its map


class Intake:
    """Progress of a router."""

    def __init__(self, row: Word, column: Word, channel: Word) -> None:
        self.place = MapPlace(row, column, channel)  # of the next word
        self.complete = flag()  # all words of the run were accepted
        self.framing_error = flag()  # last arrived with a wrong word; until start


class FoldedConfig:
    """Run-time registers of the router of a folded run.

    rows  (of a kernel update by row) images are the columns of a row
    """

    def __init__(self, map_config: MapConfig, rows: FoldRowConfig | None) -> None:
        self.map = map_config
        self.rows: Any = rows


class RouterConfig:
    """Run-time registers for the order of the words.

    port    (of a design with a map_port of several elements) number of elements of a pixel
    folded  (of a design for fully connected layers) the words of the run arrive map by map
    rows    (with folded, of a kernel update by row) images are the columns of a row
    """

    def __init__(
        self,
        map_config: MapConfig,
        port: PortConfig | None = None,
        folded: Bit = None,
        rows: FoldRowConfig | None = None,
    ) -> None:
        self.map = map_config
        self.port: Any = port
        self.folded: Any = folded
        self.rows: Any = rows


class RouterSide:
    """One of two routers: its input, and its progress."""

    def __init__(self, sink: Stream, place: MapPlace, by_map: bool) -> None:
        self.rst = flag()
        self.sink = Stream(len(sink.data))
        column = None if by_map else bits(len(place.column))
        self.intake = Intake(bits(len(place.row)), column, bits(len(place.channel)))


class PositionHead:
    """The next position, in the format of ``position_layout``."""

    def __init__(self, width: int) -> None:
        self.word = bits(width)  # in the format of position_layout
        self.valid = flag()  # a position is available
        self.take = flag()  # the position is used in this cycle


class KeptRows:
    """The rows between the next word that arrives and the floor, which is the oldest row in use."""

    def __init__(self, written: MapPlace, floor: Floor) -> None:
        self.written = written
        self.floor = floor


class WindowFetch:
    """Fetch of a window: the read of the banks, and a cycle later its rotation."""

    def __init__(self, design: EngineDesign, shift_width: int) -> None:
        self.read = BankRead(design)
        self.row_shift = bits(shift_width)  # rotation by rows, a cycle after the read
        self.column_shift = bits(shift_width)  # rotation by columns, a cycle after the read


class SumsRoom:
    """State of the blocks behind a slot, for the decision to issue it.

    credit   the FIFO behind the sums sent a word, or a word of deltas arrived
    partial  (with an OriginSlot) partial sums at which a position can start
    """

    def __init__(self, credit: Bit, partial: PartialSums | None = None) -> None:
        self.credit = credit
        self.partial: Any = partial


class Issued:
    """Verdict of the sequencer in this cycle; its slot follows two cycles later."""

    def __init__(self, slot: Slot | RowSlot, verdict: Verdict) -> None:
        self.slot = slot
        self.verdict = verdict


class WindowSlots:
    """First and last slot of the current window."""

    def __init__(self) -> None:
        self.opens = flag()  # its first slot is issued: the banks are read
        self.leaves = flag()  # its last slot is issued


class SlotWalk:
    """State of the sequencer."""

    def __init__(self, gradients: bool) -> None:
        self.busy = flag()  # positions are left
        self.midway = flag()  # the current slot is not the first one of its window
        self.ends_window: Any = flag() if gradients else None  # the slot is the last one


class OriginChoice:
    """Start value of the sums of a slot."""

    def __init__(self, design: EngineDesign) -> None:
        self.arrived = flag()  # the elements of the window and the start value have arrived
        self.origin = count(design.origins - 1)  # place of the start word of the slot
