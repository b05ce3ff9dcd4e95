"""A second implementation of the rules of a chain, cycle by cycle and row by row: slow, but simple.

It is written from docs/cluster.md, not from the event simulator. Every row of every image is a
separate object. Windows are sets. No row counts are used. Tests compare the simulator with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil

from merp.models.rows.layout import LayerRows, Layout, Slice

Row = tuple[int, int]
"""An image, and a row of the image."""
RowsOf = Callable[[int], Iterable[int]]
"""A function that returns the rows of an image that the task of a row uses."""


class StandsStill(Exception):
    """Tasks remain, but none of them can ever begin.

    Attributes:
        done: cycles until the last task ended.
    """

    def __init__(self, done: int) -> None:
        self.done = done
        super().__init__(f"after {done} cycles")


@dataclass
class _Room:
    """Places for rows, in one buffer or shared by several buffers."""

    places: int
    buffers: list[_Buffer] = field(default_factory=list)


class _Buffer:
    """Rows that are reserved or present, and the actors that still need each row."""

    def __init__(self, room: _Room) -> None:
        self.room = room
        self.users: list[str] = []
        self.there: set[Row] = set()
        self.promised: set[Row] = set()
        self.left: dict[str, set[Row]] = {}
        room.buffers.append(self)

    def used_by(self, user: str) -> None:
        self.users.append(user)
        self.left[user] = set()

    def waited_for(self, rows: set[Row]) -> set[Row]:
        """Return the part of ``rows`` that at least one actor still needs."""
        return {row for row in rows if any(row not in self.left[user] for user in self.users)}

    def takes(self, rows: set[Row]) -> bool:
        """Return whether there is room for further rows."""
        held = sum(len(each.waited_for(each.promised)) for each in self.room.buffers)
        return not rows or held + len(rows) <= self.room.places


@dataclass
class _Actor:
    """An actor with one task per row. A task reads, makes and releases rows."""

    name: str
    server: str
    rows: int
    cycles: list[int]
    latency: int = 0
    reads: list[tuple[_Buffer, RowsOf]] = field(default_factory=list)
    makes: list[tuple[_Buffer, RowsOf]] = field(default_factory=list)
    leaves: list[tuple[_Buffer, RowsOf]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    begun: int = 0

    @property
    def head(self) -> Row:
        return divmod(self.begun, self.rows)

    def ready(self) -> bool:
        image, row = self.head
        there = all(
            (image, each) in buffer.there for buffer, rows in self.reads for each in rows(row)
        )
        return there and all(
            buffer.takes({(image, each) for each in rows(row)}) for buffer, rows in self.makes
        )


def reference(layout: Layout) -> dict[str, list[int]]:
    """Return for each stream, by name, the cycles in which its tasks end.

    Raises:
        StandsStill: there is a deadlock.
    """
    return _Reference(layout).run()


class _Reference:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.actors: list[_Actor] = []
        count = len(layout.slices)
        self.flight = _Buffer(_Room(layout.depth))
        self.maps = [_Buffer(_Room(layout.size("maps", each))) for each in range(count)]
        self.features = [_Buffer(_Room(layout.size("features", each))) for each in range(count)]
        self.errors = [_Buffer(_Room(layout.size("errors", each))) for each in range(count)]
        self.results = _Buffer(_Room(10**9))
        self.sums, self.deltas = dict[int, _Buffer](), dict[int, _Buffer]()
        for each in range(count):
            if self.before(each) is not None:
                room = self.maps[each].room if layout.links.shared else None
                self.sums[each] = _Buffer(room or _Room(layout.size("sums", each)))
            if self.behind(each) is not None and layout.slices[each].back is not None:
                room = self.errors[each].room if layout.links.shared else None
                self.deltas[each] = _Buffer(room or _Room(layout.size("deltas", each)))
        self.source()
        for each in range(count):
            self.forward(each)
        self.loss()
        for each in reversed(range(count)):
            self.backward(each)

    def layer(self, index: int) -> LayerRows:
        return self.layout.layers[self.layout.slices[index].layer]

    def neighbour(self, index: int, step: int) -> Slice | None:
        other = index + step
        return self.layout.slices[other] if 0 <= other < len(self.layout.slices) else None

    def before(self, index: int) -> Slice | None:
        """Return the previous slice if it belongs to the same layer."""
        other = self.neighbour(index, -1)
        return other if other and other.layer == self.layout.slices[index].layer else None

    def behind(self, index: int) -> Slice | None:
        """Return the next slice if it belongs to the same layer."""
        other = self.neighbour(index, 1)
        return other if other and other.layer == self.layout.slices[index].layer else None

    def where(self, index: int) -> str:
        return f"{self.layer(index).name} on node {self.layout.slices[index].node}"

    def actor(
        self, name: str, cycles: int, rows: int, server: str = "", latency: int = 0
    ) -> _Actor:
        """Return an actor whose cycles are distributed over its rows as evenly as possible."""
        dealt, rest = [], 0
        for _ in range(rows):
            whole, rest = divmod(rest + cycles, rows)
            dealt.append(max(1, whole))
        self.actors.append(_Actor(name, server or name, rows, dealt, latency))
        return self.actors[-1]

    def uses(self, actor: _Actor, buffer: _Buffer, reads: RowsOf | None, leaves: RowsOf) -> None:
        buffer.used_by(actor.name)
        if reads is not None:
            actor.reads.append((buffer, reads))
        actor.leaves.append((buffer, leaves))

    def source(self) -> None:
        rows = self.layer(0).inputs
        actor = self.actor("source", rows, rows)
        actor.makes.append((self.flight, lambda row: [0] if row == 0 else []))
        self.enter(actor, 0, _same)

    def enter(self, actor: _Actor, index: int, rows: RowsOf) -> None:
        actor.makes.append((self.maps[index], rows))
        actor.makes.append((self.features[index], rows))

    def forward(self, index: int) -> None:
        piece, layer = self.layout.slices[index], self.layer(index)
        see = _Windows(layer)
        actor = self.actor(f"fp {self.where(index)}", piece.cycles["fp"], layer.sums)
        self.uses(actor, self.maps[index], see.read, see.forgotten)
        made: RowsOf = see.complete
        rows = layer.outputs
        if not layer.by_outputs:
            if self.before(index):
                self.uses(actor, self.sums[index], _same, _same)
            if self.behind(index):
                made, rows = _same, layer.sums
        elif self.before(index):
            actor = self.together(actor, "maps", index, layer.outputs, made, self.sums[index])
            made = _same
        if self.neighbour(index, 1) is None:
            actor.makes.append((self.results, made))
            return
        if not self.layout.crosses(index):
            self.enter(actor, index + 1, made)
            return
        name = "sums" if self.behind(index) else "maps"
        send = _Buffer(_Room(self.layout.size(f"send {name}", piece.node)))
        actor.makes.append((send, made))
        server = f"link {piece.node} to {piece.node + 1}"
        if self.behind(index) is None:
            link = self.link(server, "maps", layer.output_words, rows, piece.node)
            self.uses(link, send, _same, _same)
            self.enter(link, index + 1, _same)
            return
        left = layer.input_words
        if not layer.by_outputs:
            left -= int(piece.end * layer.input_words)
        link = self.link(server, "maps", left, layer.inputs, piece.node)
        self.uses(link, self.maps[index], _same, _same)
        self.enter(link, index + 1, _same)
        words = int(piece.end * layer.output_words) if layer.by_outputs else layer.sum_words
        link = self.link(server, "sums", words, rows, None)
        self.uses(link, send, _same, _same)
        link.makes.append((self.sums[index + 1], _same))

    def together(
        self, actor: _Actor, name: str, index: int, rows: int, made: RowsOf, others: _Buffer
    ) -> _Actor:
        own = _Buffer(_Room(self.layout.size("own", index)))
        actor.makes.append((own, made))
        joined = self.actor(f"{name} put together, {self.where(index)}", rows, rows)
        self.uses(joined, own, _same, _same)
        self.uses(joined, others, _same, _same)
        return joined

    def link(self, server: str, name: str, words: int, rows: int, border: int | None) -> _Actor:
        links = self.layout.links
        if border is not None:
            words += links.carried.get(border, 0)
        rate = links.bits_per_cycle
        cycles = 0 if rate is None else ceil(words * links.word_bits / rate)
        return self.actor(f"{name} over {server}", cycles, rows, server, links.latency)

    def loss(self) -> None:
        last = len(self.layout.slices) - 1
        rows = self.layer(last).outputs
        actor = self.actor("loss", rows, rows)
        actor.cycles[0] += self.layout.loss
        self.uses(actor, self.results, lambda row: range(rows), _same)
        actor.makes.append((self.errors[last], _same))

    def backward(self, index: int) -> None:
        piece, layer = self.layout.slices[index], self.layer(index)
        see = _Windows(layer)
        front = self.neighbour(index, -1)
        border = piece.node - 1
        send = None
        if front and front.node != piece.node:
            send = _Buffer(_Room(self.layout.size("send deltas", border)))
        if piece.back is not None:
            actor = self.actor(f"dp {self.where(index)}", piece.back, layer.inputs)
            self.uses(actor, self.errors[index], see.errors_of_input, see.propagated)
            if self.behind(index):
                actor = self.together(
                    actor, "deltas", index, layer.inputs, _same, self.deltas[index]
                )
            if front:
                actor.makes.append((send or self.errors[index - 1], _same))
        actor = self.actor(f"ku {self.where(index)}", piece.cycles["ku"], layer.sums)
        self.uses(actor, self.errors[index], see.errors_of_sum, see.complete)
        self.uses(actor, self.features[index], see.read, see.forgotten)
        self.uses(actor, self.flight, None, lambda row: [0] if row == layer.sums - 1 else [])
        if send is None:
            return
        server = f"link {piece.node} to {border}"
        if self.before(index) is None:
            link = self.link(server, "errors", layer.input_words, layer.inputs, border)
            self.uses(link, send, _same, _same)
            link.makes.append((self.errors[index - 1], _same))
            return
        assert front is not None
        done = int(front.end * layer.output_words) if layer.by_outputs else layer.output_words
        link = self.link(server, "errors", done, layer.outputs, border)
        self.uses(link, self.errors[index], _same, _same)
        link.makes.append((self.errors[index - 1], _same))
        if index - 1 in self.deltas:
            left = layer.input_words - int(front.end * layer.input_words)
            link = self.link(server, "deltas", left, layer.inputs, None)
            self.uses(link, send, _same, _same)
            link.makes.append((self.deltas[index - 1], _same))

    def run(self) -> dict[str, list[int]]:
        at_work: dict[str, tuple[int, _Actor, Row]] = {}
        coming: list[tuple[int, _Actor, Row]] = []
        cycle = last = 0
        while True:
            for server, (end, actor, (image, row)) in list(at_work.items()):
                if end == cycle:
                    del at_work[server]
                    actor.ends.append(cycle)
                    for buffer, rows in actor.leaves:
                        buffer.left[actor.name] |= {(image, each) for each in rows(row)}
                    coming.append((cycle + actor.latency, actor, (image, row)))
            for time, actor, (image, row) in coming:
                if time == cycle:
                    last = cycle
                    for buffer, rows in actor.makes:
                        buffer.there |= {(image, each) for each in rows(row)}
            coming = [each for each in coming if each[0] > cycle]
            self.start(at_work, cycle)
            if not at_work and not coming:
                break
            cycle += 1
        if any(actor.begun < actor.rows * self.layout.images for actor in self.actors):
            raise StandsStill(last)
        return {actor.name: actor.ends for actor in self.actors}

    def start(self, at_work: dict[str, tuple[int, _Actor, Row]], cycle: int) -> None:
        """Start a task on each free server: of the ready tasks, the one of the earliest image.

        Of equal images, the first stream has priority.
        """
        for server in {actor.server for actor in self.actors} - set(at_work):
            some = [
                actor
                for actor in self.actors
                if actor.server == server
                and actor.begun < actor.rows * self.layout.images
                and actor.ready()
            ]
            if some:
                actor = min(some, key=lambda each: each.head[0])
                image, row = actor.head
                for buffer, rows in actor.makes:
                    buffer.promised |= {(image, each) for each in rows(row)}
                at_work[server] = (cycle + actor.cycles[row], actor, (image, row))
                actor.begun += 1


def _same(row: int) -> list[int]:
    return [row]


class _Windows:
    """Relations between the rows of a layer, by the windows that contain them."""

    def __init__(self, layer: LayerRows) -> None:
        self.layer = layer
        self.begins = [each * layer.stride - layer.top for each in range(layer.sums)]
        pools = [
            range(each * layer.step - layer.above, each * layer.step - layer.above + layer.window)
            for each in range(layer.pooled)
        ]
        self.pool_begins = [pool.start for pool in pools]
        self.completes = [max(set(pool) & set(range(layer.sums))) for pool in pools]
        if layer.outputs != layer.pooled:
            self.pool_begins, self.completes = [self.pool_begins[0]], [max(self.completes)]

    def read(self, total: int) -> set[int]:
        """Return the input rows from the top to the end of a row of sums' window."""
        end = self.begins[total] + self.layer.kernel
        return {row for row in range(self.layer.inputs) if row < end}

    def last_begun(self, row: int) -> int:
        """Return the last row of sums whose window begins at or above an input row."""
        return max(each for each, begin in enumerate(self.begins) if begin <= row)

    def forgotten(self, total: int) -> set[int]:
        return {row for row in range(self.layer.inputs) if self.last_begun(row) == total}

    def complete(self, total: int) -> set[int]:
        """Return the output rows whose last row of sums is ``total``."""
        return {row for row, end in enumerate(self.completes) if end == total}

    def errors_of_sum(self, total: int) -> set[int]:
        """Return the output rows whose pooling window begins at or above a row of sums."""
        if len(self.pool_begins) != self.layer.pooled:
            return {0}
        return {row for row, begin in enumerate(self.pool_begins) if begin <= total}

    def errors_of_input(self, row: int) -> set[int]:
        return self.errors_of_sum(self.last_begun(row))

    def propagated(self, row: int) -> set[int]:
        """Return the output rows for which ``row`` is the last input row in their windows."""
        return {each for each, end in enumerate(self.completes) if max(self.read(end)) == row}
