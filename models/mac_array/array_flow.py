"""Cycles of passes on the array by cause, slot by slot, with ports that never wait.

Written from the timing rules: the array never stalls, a slot is issued or there is a cause why not.
Kernels and maps come a beat a cycle; a tile's last slot waits until the sums of the tile before
have been read, and they are read when half an output buffer is free. KU stands in ``update_flow``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merp.models.mac_array.flow_cycles import Cycles, Latency, Slots
from merp.models.mac_array.orders import load_bands, maps_in, pooling_in
from merp.models.mac_array.update_flow import UpdateFlow
from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Array


@dataclass(frozen=True)
class _Tile:
    """Column tile of a tile of maps of a band.

    Attributes:
        band, group, column: numbers. pixels: that are read. closes: whether its group's atoms leave
            behind it. atoms: that leave then.
    """

    band: int
    group: int
    column: int
    pixels: int
    closes: bool
    atoms: int


@dataclass(frozen=True)
class _Walk:
    """A pass as FP and DP have in common: maps come in, others leave."""

    maps: int
    lanes: int
    rows: int
    columns: int
    window: int

    @classmethod
    def of(cls, work: ArrayPass) -> _Walk:
        if work.phase == "fp":
            window = work.pool if work.fused else 1
            return cls(work.inputs, work.outputs, work.out_rows, work.out_columns, window)
        return cls(work.outputs, work.inputs, work.rows, work.columns, 1)

    def tiles(self, array: Array) -> Iterator[_Tile]:
        """All tiles in order."""
        last = array.column_blocks(self.columns) - 1
        for band in range(array.row_blocks(self.rows)):
            high = min(array.poy, self.rows - band * array.poy)
            for group in range(array.map_tiles(self.lanes)):
                lanes = min(array.pof, self.lanes - group * array.pof)
                for column in range(last + 1):
                    wide = min(array.pox, self.columns - column * array.pox)
                    closes = column == last or (column + 1) % self.window == 0
                    begun = (column - column % self.window) * array.pox  # columns of its group
                    some = self.columns - begun >= self.window
                    atoms = lanes * (high // self.window) * some
                    yield _Tile(band, group, column, high * wide, closes, atoms)


def array_cycles(
    work: ArrayPass,
    array: Array,
    *,
    kernel_first: bool = False,
    latency: Latency | None = None,
) -> Cycles:
    """Return the cycles of a pass of FP, DP or KU, or of one that expands pooled deltas.

    The latter has no slots: what it sends leaves an atom a cycle.
    ``kernel_first``: no slot of FP or DP before all kernels are there, as in the paper's machine.

    Raises:
        ValueError: DP of a layer with a stride, or another pass that expands pooled deltas.
    """
    if work.phase == "upsample":
        sent = sum(1 for _ in pooling_in(work, array))
        return Cycles(0, 0, 0, 0, fill=(latency or Latency()).expands + sent, drain=0)
    expands = work.phase != "fp" and work.fused and work.pool > 1
    if work.phase not in ("fp", "dp", "ku") or expands or (work.phase == "dp" and work.stride > 1):
        raise ValueError(f"no cycles of {work}")
    if work.phase == "ku":
        return UpdateFlow(work, array, latency or Latency()).run()
    return _Flow(work, array, latency or Latency(), kernel_first).run()


class _Flow:
    """A pass on its way; all times are cycles, that of start is 0."""

    def __init__(self, work: ArrayPass, array: Array, latency: Latency, kernel_first: bool) -> None:
        self.work, self.array, self.latency = work, array, latency
        self.kernel_first = kernel_first
        self.walk = _Walk.of(work)
        self.bands = list(load_bands(work, array))
        atoms = list(maps_in(work, array))
        self.atom_cycles = work.stride if work.phase == "fp" else 1
        self.per_row = len(atoms) // (self.walk.maps * sum(map(len, self.bands)))
        self.arrived: dict[tuple[int, int], int] = {}
        self.entered = latency.first  # when the next atom can be taken

    def load(self, band: int, earliest: int) -> None:
        """Let a band's rows in, from ``earliest`` on."""
        self.entered = max(self.entered, earliest)
        for each in range(self.walk.maps):
            self.entered += len(self.bands[band]) * self.per_row * self.atom_cycles
            final = each == self.walk.maps - 1 and not any(map(len, self.bands[band + 1 :]))
            there = self.latency.all_there if final else self.latency.atom_there
            self.arrived[band, each] = self.entered - 1 + there

    def kernels_there(self, group: int, each: int, tap: int) -> int:
        """When a slot's kernel words are there."""
        work, begin = self.work, self.latency.first
        if self.kernel_first:
            biases = work.phase == "fp"
            beats = self.array.map_tiles(work.outputs) * (work.inputs * work.taps + biases)
            return begin + beats - 1 + self.latency.kernel_there
        if work.phase == "fp":
            run = work.inputs * work.taps
            beat = group * (run + 1) + each * work.taps + tap
            if each == work.inputs - 1 and tap == work.taps - 1:
                beat += 1  # the biases come behind it
        else:
            lanes = min(self.array.pof, work.inputs - group * self.array.pof)
            before = group * self.array.pof * self.array.map_tiles(work.outputs)
            tile = each // self.array.pof
            beat = (before + (tile + 1) * lanes) * work.taps - 1  # a whole run
        return begin + beat + self.latency.kernel_there

    def run(self) -> Cycles:
        """Walk through all slots."""
        latency, slots = self.latency, Slots()
        drained = 0  # from when on a tile's last slot may be issued
        free = [0, 0]  # from when on sums may be read for each half of the output buffer
        half, opened = 0, True
        sent = left = read = 0  # the sender's next read, the last transfer, the last read of sums
        for band in range(min(2, len(self.bands))):
            self.load(band, 0)
        now = 0
        for tile in self.walk.tiles(self.array):
            if tile.band != now:
                if now + 2 < len(self.bands):
                    self.load(now + 2, slots.now - 1 + latency.computed)
                now = tile.band
            self._tile(slots, tile, drained)
            begin = slots.now - 1 + latency.copied
            read = (max(begin, free[half]) if opened else begin) + tile.pixels - 1
            drained = read + latency.drained
            opened = tile.closes
            if tile.closes and tile.atoms:
                sent = max(sent, read + latency.read_out) + tile.atoms
                free[half] = sent - 1 + latency.freed
                half = 1 - half
                left = sent - 1 + latency.leaves
        return slots.cycles(max(left, read))

    def _tile(self, slots: Slots, tile: _Tile, drained: int) -> None:
        """Issue the slots of a tile; the last one waits for ``drained``."""
        for each in range(self.walk.maps):
            there = self.arrived[tile.band, each]
            for tap in range(self.work.taps):
                final = each == self.walk.maps - 1 and tap == self.work.taps - 1
                kernel = self.kernels_there(tile.group, each, tap)
                slots.issue(kernel=kernel, there=there, output=drained if final else 0)
