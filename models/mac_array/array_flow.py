"""Cycles of FP and DP on the array by cause, slot by slot, with ports that never wait.

Written from the timing rules: the array never stalls, a slot is issued or there is a cause why not.
Kernels and maps come a beat a cycle; a tile's last slot waits until the sums of the tile before
have been read, and they are read when half an output buffer is free. ``Latency`` has the constants
of the blocks' pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merp.models.mac_array.orders import load_bands, maps_in
from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Array


@dataclass(frozen=True)
class Latency:
    """Cycles between events, of the blocks.

    Attributes:
        first_beat, first_atom: from start to the first transfer of kernels, of maps.
        beat_there, atom_there: from a transfer to the first slot that can have it.
        all_there: the same of the pass's last atom.
        computed: from a band's last slot to the first atom of the band after the next.
        copied: from a tile's last slot to the first read of its sums.
        read_out: from a group's last read to the first atom's read from the output buffer.
        leaves: from that to its transfer.
        freed: from the read of a half's last atom to the first read of sums for it.
        drained: from a tile's last read to the next tile's last slot.
    """

    first_beat: int = 1
    first_atom: int = 1
    beat_there: int = 1
    atom_there: int = 2
    all_there: int = 1
    computed: int = 2
    copied: int = 7
    read_out: int = 8
    leaves: int = 4
    freed: int = 1
    drained: int = 1


@dataclass(frozen=True)
class Cycles:
    """Cycles of a pass by cause; ``fill`` before the first slot, ``drain`` after the last."""

    issue: int
    stall_kernel: int
    stall_input: int
    stall_output: int
    fill: int
    drain: int

    @property
    def total(self) -> int:
        """All of them: from the cycle behind start to the last word, or the last sum's read."""
        return (
            self.issue
            + self.stall_kernel
            + self.stall_input
            + self.stall_output
            + self.fill
            + self.drain
        )


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
    """Return the cycles of a pass of FP, or of DP of a layer of stride 1 whose deltas come whole.

    ``kernel_first``: no slot before all kernels are there, as in the paper's machine.

    Raises:
        ValueError: KU, DP with a stride, or DP that expands pooled deltas.
    """
    expands = work.fused and work.pool > 1
    if work.phase != "fp" and (work.phase != "dp" or work.stride > 1 or expands):
        raise ValueError(f"no cycles of {work}")
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
        self.entered = latency.first_atom  # when the next atom can be taken

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
        work, begin = self.work, self.latency.first_beat
        if self.kernel_first:
            biases = work.phase == "fp"
            beats = self.array.map_tiles(work.outputs) * (work.inputs * work.taps + biases)
            return begin + beats - 1 + self.latency.beat_there
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
        return begin + beat + self.latency.beat_there

    def run(self) -> Cycles:
        """Walk through all slots."""
        latency, work = self.latency, self.work
        now = 1
        stalls = {"kernel": 0, "input": 0, "output": 0}
        first = -1
        drained = 0  # from when on a tile's last slot may be issued
        read = 0  # end of the last read of sums
        halves = [0, 0]  # from when on sums may be read for each half
        half, begun = 0, False
        sent = 0  # when the sender has its next read
        left = 0  # the last word's transfer
        ready = []  # ends of bands' slots
        for band in range(min(2, len(self.bands))):
            self.load(band, 0)
        band_now = 0
        for tile in self.walk.tiles(self.array):
            if tile.band != band_now:
                ready.append(now - 1)
                if band_now + 2 < len(self.bands):
                    self.load(band_now + 2, ready[-1] + latency.computed)
                band_now = tile.band
            for each in range(self.walk.maps):
                for tap in range(work.taps):
                    kernel = self.kernels_there(tile.group, each, tap)
                    arrived = self.arrived[tile.band, each]
                    final = each == self.walk.maps - 1 and tap == work.taps - 1
                    output = drained if final else 0
                    start = max(now, kernel, arrived, output)
                    if first < 0:
                        first = start
                    else:
                        for cycle in range(now, start):
                            if cycle < kernel:
                                stalls["kernel"] += 1
                            elif cycle < arrived:
                                stalls["input"] += 1
                            else:
                                stalls["output"] += 1
                    now = start + 1
            begin = now - 1 + latency.copied
            if not begun:
                begin = max(begin, halves[half])
                begun = True
            read = begin + tile.pixels - 1
            drained = read + latency.drained
            if tile.closes:
                begun = False
                if tile.atoms:
                    out = max(sent, read + latency.read_out)
                    sent = out + tile.atoms
                    halves[half] = sent - 1 + latency.freed
                    half = 1 - half
                    left = sent - 1 + latency.leaves
        last = now - 1
        end = max(left, read)
        issue = last - first + 1 - sum(stalls.values())
        return Cycles(
            issue=issue,
            stall_kernel=stalls["kernel"],
            stall_input=stalls["input"],
            stall_output=stalls["output"],
            fill=first - 1,
            drain=end - last,
        )
