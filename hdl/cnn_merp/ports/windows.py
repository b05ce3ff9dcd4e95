"""What the input side's blocks tell each other: words that came, positions, windows, slots."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.maps import BankRead, Floor, FoldRowConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class MapPlace:
    """Place of the next map word; rows count over all images.

    A run whose elements come map by map has no ``column``.
    """

    def __init__(self, row: Word, column: Word, channel: Word) -> None:
        self.row = row  # of the next map word, over all images
        self.column: Any = column  # of it, in its map
        self.channel = channel  # its map


class Intake:
    """How far a router is."""

    def __init__(self, row: Word, column: Word, channel: Word) -> None:
        self.place = MapPlace(row, column, channel)  # of the next word
        self.complete = flag()  # all words of the run were accepted
        self.framing_error = flag()  # last came with another word than the run's; until start


class FoldedConfig:
    """Run-time registers of a folded run's router.

    rows  (of a kernel update by row) images lie side by side as the columns of a row
    """

    def __init__(self, map_config: MapConfig, rows: FoldRowConfig | None) -> None:
        self.map = map_config
        self.rows: Any = rows


class RouterConfig:
    """Run-time registers that say in which order words come.

    port    (of a design with a map_port of several elements) how many come to a pixel
    folded  (of a design for fully connected layers) the run's words come map by map
    rows    (there, of a kernel update by row) images lie side by side as the columns of a row
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
    """One of two routers: what it is offered, and how far it is."""

    def __init__(self, sink: Stream, place: MapPlace, by_map: bool) -> None:
        self.rst = flag()
        self.sink = Stream(len(sink.data))
        column = None if by_map else bits(len(place.column))
        self.intake = Intake(bits(len(place.row)), column, bits(len(place.channel)))


class PositionHead:
    """The next position, as laid out in ``position_layout``."""

    def __init__(self, width: int) -> None:
        self.word = bits(width)  # as laid out in position_layout
        self.valid = flag()  # there is one
        self.take = flag()  # it is used in this cycle


class KeptRows:
    """The rows between the next word that comes and the floor, which is still needed."""

    def __init__(self, written: MapPlace, floor: Floor) -> None:
        self.written = written
        self.floor = floor


class WindowFetch:
    """A window on its way: the read of the banks, and a cycle later its rotation."""

    def __init__(self, design: EngineDesign, shift_width: int) -> None:
        self.read = BankRead(design)
        self.row_shift = bits(shift_width)  # of the window, a cycle after its read
        self.column_shift = bits(shift_width)  # the same


class SumsRoom:
    """What is behind a slot, for the decision about it.

    credit   the FIFO behind the sums gave a word away, or a word of deltas is there
    partial  (with an OriginSlot) partial sums that a position can start at
    """

    def __init__(self, credit: Bit, partial: PartialSums | None = None) -> None:
        self.credit = credit
        self.partial: Any = partial


class Issued:
    """The sequencer's verdict of this cycle; its slot comes two cycles later."""

    def __init__(self, slot: Slot | RowSlot, verdict: Verdict) -> None:
        self.slot = slot
        self.verdict = verdict


class WindowSlots:
    """First and last slot of the window at hand."""

    def __init__(self) -> None:
        self.opens = flag()  # its first slot is issued: the banks are read
        self.leaves = flag()  # its last slot is issued


class SlotWalk:
    """Where the sequencer is."""

    def __init__(self, gradients: bool) -> None:
        self.busy = flag()  # positions are left
        self.midway = flag()  # the slot at hand is not the first one of its window
        self.ends_window: Any = flag() if gradients else None  # it is the last one


class OriginChoice:
    """What the sums of a slot start at."""

    def __init__(self, design: EngineDesign) -> None:
        self.arrived = flag()  # the window's elements are there, and what its sums start at
        self.origin = count(design.origins - 1)  # place of the word that the slot starts at
