"""Count the cycles of KU on the array by cause, slot by slot, with ports that never wait.

Maps are loaded once and stay in the banks. The memories of deltas have two halves. One half holds
the deltas of the current tile of lanes, and the other half receives those of the next tile. The
last slot of a sweep waits until the sums of the previous sweep have been read, at one beat of
gradients per cycle.
"""

from __future__ import annotations

from merp.models.machines.mac_array.flow_cycles import ArrayCycles, Latency, Slots
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array, over


class ArrayUpdateFlow:
    """A running pass. All times are cycles; ``start`` is in cycle 0."""

    def __init__(self, work: ArrayPass, array: Array, latency: Latency) -> None:
        self.work, self.array, self.latency = work, array, latency
        self.regions, self.side = array.regions(work.kernel), array.region_side(work.kernel)
        self.groups, self.tiles = over(work.inputs, self.regions), array.map_tiles(work.outputs)
        self.maps_there = self._maps()
        self.deltas_there: dict[tuple[int, int], int] = {}
        # The cycle in which the next delta can be accepted.
        self.entered = latency.first + (latency.expanded if work.expands else 0)

    def _maps_of(self, group: int) -> int:
        return min(self.regions, self.work.inputs - group * self.regions)

    def _maps(self) -> dict[tuple[int, int], int]:
        """Return for each group and row the cycle in which the row of all its maps can be read."""
        work, latency = self.work, self.latency
        parts = self.array.pox // self.side if self.array.balance else 1
        row_cycles = self.array.column_blocks(work.columns) * parts
        found, now = {}, latency.first
        for group in range(self.groups):
            for row in range(work.rows):
                now += self._maps_of(group) * row_cycles
                final = group == self.groups - 1 and row == work.rows - 1
                found[group, row] = now - 1 + (latency.all_there if final else latency.atom_there)
        return found

    def load(self, tile: int, earliest: int) -> None:
        """Accept the deltas of a tile of lanes, from cycle ``earliest`` on."""
        work, latency, array = self.work, self.latency, self.array
        self.entered = max(self.entered, earliest)
        lanes = min(array.pof, work.outputs - tile * array.pof)
        window, blocks = work.pool if work.expands else 1, array.column_blocks(work.delta_columns)
        for row in range(work.delta_rows):
            if row % window == 0:  # all lanes but the last one send their rows of a window first
                self.entered += (lanes - 1) * window * blocks
            self.entered += blocks
            final = tile == self.tiles - 1 and row == work.delta_rows - 1
            there = latency.all_there if final else latency.atom_there
            self.deltas_there[tile, row] = self.entered - 1 + there

    def there(self, tile: int, group: int, row: int) -> int:
        """Return the cycle in which a row of deltas and its rows of the maps are available."""
        work = self.work
        lowest = min(work.rows - 1, work.stride * row + work.kernel - 1 - work.pad)
        maps = self.maps_there[group, max(0, lowest)] if tile == 0 else 0
        return max(self.deltas_there[tile, row], maps)

    def run(self) -> ArrayCycles:
        """Walk through all slots and return the cycles by cause."""
        work, latency, slots = self.work, self.latency, Slots()
        drained = read = 0
        low_taps = range(0, work.kernel, self.side)
        for tile in range(min(2, self.tiles)):
            self.load(tile, 0)
        for tile in range(self.tiles):
            for group in range(self.groups):
                for down in low_taps:
                    for across in low_taps:
                        self._sweep(slots, tile, group, drained)
                        taps = min(self.side, work.kernel - down)
                        beats = self._maps_of(group) * taps * min(self.side, work.kernel - across)
                        last = down == across == low_taps[-1] and group == self.groups - 1
                        read = slots.now - 1 + latency.copied + beats + last - 1  # and the biases
                        drained = read + latency.drained
            if tile + 2 < self.tiles:
                self.load(tile + 2, slots.now - 1 + latency.computed)
        # With a stride, the last rows of the last group may belong to no window: they arrive later.
        taken = max(self.maps_there[self.groups - 1, work.rows - 1], *self.deltas_there.values())
        return slots.cycles(max(taken, read + (latency.kernel if work.last else latency.gradient)))

    def _sweep(self, slots: Slots, tile: int, group: int, drained: int) -> None:
        """Issue a slot for each delta; the last one waits for ``drained``."""
        work = self.work
        for row in range(work.delta_rows):
            there = self.there(tile, group, row)
            for column in range(work.delta_columns):
                final = row == work.delta_rows - 1 and column == work.delta_columns - 1
                slots.issue(kernel=0, there=there, output=drained if final else 0)
