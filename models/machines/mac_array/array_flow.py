"""Count the cycles of a pass on the array by cause, slot by slot, with ports that never wait.

The model is written from the timing rules. The array itself never stalls. A cycle has a slot, or a
cause for its absence. Kernels and maps arrive at one beat per cycle. The last slot of a tile waits
until the sums of the previous tile have been read. These sums are read as soon as one half of the
output buffer is free. ``update_flow`` has the model of KU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from merp.models.machines.mac_array.flow_cycles import ArrayCycles, Latency, Slots
from merp.models.machines.mac_array.orders import load_bands, pooling_in
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array, over
from merp.models.machines.mac_array.update_flow import ArrayUpdateFlow


@dataclass(frozen=True)
class _Tile:
    """A column tile of one tile of maps, in one band, one phase of rows and one of columns.

    Attributes:
        band: number of the band.
        group: number of the tile of maps.
        taps: taps of each incoming map.
        pixels: pixels that are read; 0 if the tile is empty.
        closes: whether the atoms of its group are sent after it.
        atoms: number of these atoms.
    """

    band: int
    group: int
    taps: int
    pixels: int
    closes: bool
    atoms: int


@dataclass(frozen=True)
class _Walk:
    """The sizes of an FP or a DP pass in a common form, with incoming and outgoing maps."""

    maps: int
    lanes: int
    rows: int
    columns: int
    window: int
    kernel: int
    pad: int
    phases: int

    @classmethod
    def of(cls, work: ArrayPass) -> _Walk:
        if work.phase == "fp":
            window = work.pool if work.fused else 1
            sizes = work.inputs, work.outputs, work.out_rows, work.out_columns
            return cls(*sizes, window, work.kernel, work.pad, 1)
        sizes = work.outputs, work.inputs, work.rows, work.columns
        return cls(*sizes, 1, work.kernel, work.pad, work.stride)

    def taps(self, phase: int) -> int:
        """Count the taps of a kernel's row or column that apply to a pixel of a phase."""
        return sum((phase + self.pad - tap) % self.phases == 0 for tap in range(self.kernel))

    def tiles(self, array: Array) -> Iterator[_Tile]:
        """Yield all tiles in order."""
        for band in range(array.row_blocks(over(self.rows, self.phases))):
            for phase in range(self.phases):
                rows = len(range(phase, self.rows, self.phases))
                high = max(0, min(array.poy, rows - band * array.poy))
                for group in range(array.map_tiles(self.lanes)):
                    lanes = min(array.pof, self.lanes - group * array.pof)
                    for beside, wide, closes, atoms in self._columns(array):
                        yield _Tile(
                            band, group, self.taps(phase) * self.taps(beside), high * wide, closes,
                            lanes * (high // self.window) * atoms,
                        )  # fmt: skip

    def _columns(self, array: Array) -> Iterator[tuple[int, int, bool, int]]:
        """Yield for each tile of a row: phase, columns, whether its group ends, atoms of a row."""
        tiles = array.column_blocks(over(self.columns, self.phases))
        blocks = array.column_blocks(self.columns)
        for tile, phase in product(range(tiles), range(self.phases)):
            columns = len(range(phase, self.columns, self.phases))
            wide = max(0, min(array.pox, columns - tile * array.pox))
            ends = tile == tiles - 1 or (tile + 1) % self.window == 0
            begun = (tile - tile % self.window) * array.pox  # columns of its group
            atoms = min(self.phases, blocks - tile * self.phases)
            if self.columns - begun < self.window:
                atoms = 0
            yield phase, wide, ends and phase == self.phases - 1, atoms


def array_cycles(
    work: ArrayPass,
    array: Array,
    *,
    kernel_first: bool = False,
    latency: Latency | None = None,
) -> ArrayCycles:
    """Return the cycles of a pass of FP, DP or KU, or of a pass that expands pooled deltas.

    A pass that expands pooled deltas has no slots. It sends one atom per cycle.

    Args:
        work: the pass.
        array: the array.
        kernel_first: no slot of FP or DP is issued before all kernels have arrived, as in the
            paper's machine.
        latency: latencies of the blocks; ``Latency()`` if not given.

    Raises:
        ValueError: the pass only pools.
    """
    if work.phase == "upsample":
        sent = sum(1 for _ in pooling_in(work, array))
        return ArrayCycles(0, 0, 0, 0, fill=(latency or Latency()).expands + sent, drain=0)
    if work.phase not in ("fp", "dp", "ku"):
        raise ValueError(f"no cycles of {work}")
    if work.phase == "ku":
        return ArrayUpdateFlow(work, array, latency or Latency()).run()
    return _Flow(work, array, latency or Latency(), kernel_first).run()


class _Flow:
    """A running pass. All times are cycles; ``start`` is in cycle 0."""

    def __init__(self, work: ArrayPass, array: Array, latency: Latency, kernel_first: bool) -> None:
        self.work, self.array, self.latency = work, array, latency
        self.kernel_first = kernel_first
        self.walk = _Walk.of(work)
        window = work.pool if work.expands else 1
        self.bands = [
            range(over(rows.start, window), min(over(rows.stop, window), work.pooled_rows))
            if work.expands
            else rows
            for rows in load_bands(work, array)
        ]
        columns = work.delta_columns if work.phase == "dp" else work.columns
        atom_cycles = work.stride if work.phase == "fp" else window
        self.row_cycles = array.column_blocks(columns) * atom_cycles
        self.arrived: dict[tuple[int, int], int] = {}
        # The cycle in which the next atom can be accepted.
        self.entered = latency.first + (latency.expanded if work.expands else 0)

    def load(self, band: int, earliest: int) -> None:
        """Accept the rows of a band, from cycle ``earliest`` on."""
        self.entered = max(self.entered, earliest)
        for each in range(self.walk.maps):
            self.entered += len(self.bands[band]) * self.row_cycles
            final = each == self.walk.maps - 1 and not any(map(len, self.bands[band + 1 :]))
            there = self.latency.all_there if final else self.latency.atom_there
            self.arrived[band, each] = self.entered - 1 + there

    def kernels_there(self, group: int, each: int, tap: int) -> int:
        """Return the cycle in which the kernel words of a slot are available."""
        work, begin = self.work, self.latency.first
        if self.kernel_first:
            biases = work.phase == "fp"
            beats = self.array.map_tiles(work.outputs) * (work.inputs * work.taps + biases)
            return begin + beats - 1 + self.latency.kernel_there
        if work.phase == "fp":
            run = work.inputs * work.taps
            beat = group * (run + 1) + each * work.taps + tap
            if each == work.inputs - 1 and tap == work.taps - 1:
                beat += 1  # the biases follow it
        else:
            lanes = min(self.array.pof, work.inputs - group * self.array.pof)
            before = group * self.array.pof * self.array.map_tiles(work.outputs)
            tile = each // self.array.pof
            beat = (before + (tile + 1) * lanes) * work.taps - 1  # a whole run
        return begin + beat + self.latency.kernel_there

    def run(self) -> ArrayCycles:
        """Walk through all slots and return the cycles by cause."""
        latency, slots = self.latency, Slots()
        drained = 0  # the first cycle in which a tile's last slot may be issued
        free = [0, 0]  # for each half of the output buffer: the first cycle that may read sums
        half, opened = 0, True
        sent = left = read = 0  # the sender's next read, the last transfer, the last read of sums
        outputs: list[int] = []  # cycles of the transfers of outputs
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
            if opened and tile.atoms:
                begin = max(begin, free[half])
            read = begin + max(1, tile.pixels) - 1
            drained = read + latency.drained
            opened = tile.closes
            if tile.closes and tile.atoms:
                sent = max(sent, read + latency.read_out) + tile.atoms
                free[half] = sent - 1 + latency.freed
                half = 1 - half
                left = sent - 1 + latency.leaves
                outputs += range(left + 1 - tile.atoms, left + 1)
        for each in outputs if self.work.loss is not None else ():
            left = max(left + 1, each + latency.loss)
        return slots.cycles(max(left, read))

    def _tile(self, slots: Slots, tile: _Tile, drained: int) -> None:
        """Issue the slots of a tile; the last one waits for ``drained``."""
        for each in range(self.walk.maps):
            there = self.arrived[tile.band, each]
            for tap in range(tile.taps):
                final = each == self.walk.maps - 1 and tap == tile.taps - 1
                kernel = self.kernels_there(tile.group, each, tap)
                slots.issue(kernel=kernel, there=there, output=drained if final else 0)
