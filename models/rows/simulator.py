"""An event simulator of rows: the time of each task of a chain, and the causes of its waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from merp.models.rows.layout import Layout
from merp.models.rows.streams import StreamGraph, graph_of

DONE, ARRIVED = 0, 1


@dataclass(frozen=True)
class Wait:
    """The description of a waiting task: ``who`` waits for ``what`` from ``whom``."""

    who: str
    what: str
    whom: str

    def __str__(self) -> str:
        """Return the wait as part of a sentence."""
        return f"{self.who} waits for {self.what} from {self.whom}"


class Deadlock(Exception):
    """Tasks remain, but no task is running.

    Attributes:
        cycle: a cycle of waits. Each stream waits for the next one, and the last stream waits for
            the first one.
        done: cycles until the deadlock.
    """

    def __init__(self, cycle: Sequence[Wait], done: int) -> None:
        self.cycle = tuple(cycle)
        self.done = done
        super().__init__(f"after {done:,} cycles nothing moves: {'; '.join(map(str, cycle))}")


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """The result of a batch.

    Attributes:
        graph: the streams, servers and FIFOs; the lists below follow their order.
        ends: for each stream, the cycles in which its tasks end.
        gradients: for each image, the cycle of its last kernel gradient.
        losses: for each image, the cycle of its loss.
        busy: for each server, the cycles in which it has a task.
        waits: for each server, its waiting cycles by cause.
        peaks: for each FIFO, the largest number of rows in it.
        update: cycles of the kernel update after the last gradient.
        depth: largest number of images in flight.
    """

    graph: StreamGraph
    ends: tuple[Sequence[int], ...]
    gradients: Sequence[int]
    losses: Sequence[int]
    busy: Sequence[int]
    waits: Sequence[dict[str, int]]
    peaks: Sequence[int]
    update: int
    depth: int

    def words(self, server: str) -> int:
        """Return the words of the batch that a link, named as a server, has transferred."""
        index, images = self.graph.servers.index(server), len(self.gradients)
        return sum(images * each.words for each in self.graph.streams if each.server == index)

    @property
    def fill(self) -> int:
        """Cycles until all gradients of the first image are calculated."""
        return self.gradients[0]

    @property
    def drain(self) -> int:
        """Cycles from the last loss to the last gradient."""
        return self.gradients[-1] - self.losses[-1]

    @property
    def interval(self) -> float:
        """Average cycles from one image to the next, over the second half of the batch.

        With few images in flight, the pipeline may be periodic: ``depth`` images enter one after
        the other, and then the next image waits. Therefore the number of images in the average is
        a multiple of ``depth``, if the batch is larger than ``depth``.
        """
        last = len(self.gradients) - 1
        if not last:
            return float(self.gradients[0])
        half = last - last // 2
        span = half if self.depth > last else self.depth * max(1, half // self.depth)
        return (self.gradients[last] - self.gradients[last - span]) / span

    @property
    def total(self) -> int:
        """Cycles of the batch, including the kernel update."""
        return self.gradients[-1] + self.update


def simulate(layout: Layout) -> RowOutcome:
    """Simulate a batch.

    Raises:
        Deadlock: the pipeline is deadlocked.
    """
    return _Run(layout).outcome()


class _Run:
    """The state of a run.

    It holds for each FIFO the numbers of rows begun, arrived and released, and for each stream its
    next task, the head.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.graph = graph = graph_of(layout)
        self.streams, self.fifos = graph.streams, graph.fifos
        self.begun = [0] * len(self.fifos)
        self.arrived = [0] * len(self.fifos)
        self.freed = [[0] * len(each.readers) for each in self.fifos]
        self.members = [list[int]() for _ in graph.pools]
        for index, each in enumerate(self.fifos):
            self.members[each.pool].append(index)
        self.image = [0] * len(self.streams)
        self.row = [0] * len(self.streams)
        self.of_server = [list[int]() for _ in graph.servers]
        for index, stream in enumerate(self.streams):
            self.of_server[stream.server].append(index)
        self.at_work = [False] * len(graph.servers)
        self.since: list[tuple[int, str] | None] = [None] * len(graph.servers)
        self.busy = [0] * len(graph.servers)
        self.waits = [dict[str, int]() for _ in graph.servers]
        self.peaks = [0] * len(self.fifos)
        self.ends = [list[int]() for _ in self.streams]
        self.events: list[tuple[int, int, int, int, int]] = []
        self.now = 0
        self._run()

    def _run(self) -> None:
        """Process events in order; servers start tasks after all events of a cycle."""
        waking = set(range(len(self.at_work)))
        while True:
            for server in sorted(waking):
                if not self.at_work[server]:
                    self._start(server)
            if not self.events:
                break
            waking = set()
            self.now = self.events[0][0]
            while self.events and self.events[0][0] == self.now:
                _, kind, index, image, row = heappop(self.events)
                if kind == DONE:
                    self._done(index, image, row, waking)
                else:
                    self._arrive(index, image, row, waking)
        if any(image < self.layout.images for image in self.image):
            raise Deadlock(self._cycle(), self.now)

    def _start(self, server: int) -> None:
        """Start the ready task of the earliest image; of equal images, the first stream's."""
        chosen, least, cause = -1, self.layout.images, ""
        for index in self.of_server[server]:
            if self.image[index] < least:
                found = self._missing(index)
                if found is None:
                    chosen, least = index, self.image[index]
                else:
                    cause = cause or self._cause(found)
        waited = self.since[server]
        if waited is not None:
            since, why = waited
            self.waits[server][why] = self.waits[server].get(why, 0) + self.now - since
        self.since[server] = (self.now, cause) if cause else None
        if chosen < 0:
            return
        self.since[server] = None
        stream, image, row = self.streams[chosen], self.image[chosen], self.row[chosen]
        for use in stream.makes:
            self.begun[use.fifo] = image * self.fifos[use.fifo].rows + use.rows[row]
            self.peaks[use.fifo] = max(self.peaks[use.fifo], self._held(use.fifo))
        cycles = stream.cycles[row]
        self.at_work[server] = True
        self.busy[server] += cycles
        heappush(self.events, (self.now + cycles, DONE, chosen, image, row))
        row += 1
        if row == len(stream.cycles):
            image, row = image + 1, 0
        self.image[chosen], self.row[chosen] = image, row

    def _done(self, index: int, image: int, row: int, waking: set[int]) -> None:
        """End a task: release its places. Its rows arrive now, or later if it has a latency."""
        stream = self.streams[index]
        self.at_work[stream.server] = False
        waking.add(stream.server)
        self.ends[index].append(self.now)
        for use in stream.frees:
            fifo = self.fifos[use.fifo]
            self.freed[use.fifo][use.reader] = image * fifo.rows + use.rows[row]
            for member in self.members[fifo.pool]:
                waking.add(self.streams[self.fifos[member].producer].server)
        if stream.latency:
            heappush(self.events, (self.now + stream.latency, ARRIVED, index, image, row))
        else:
            self._arrive(index, image, row, waking)

    def _arrive(self, index: int, image: int, row: int, waking: set[int]) -> None:
        for use in self.streams[index].makes:
            fifo = self.fifos[use.fifo]
            self.arrived[use.fifo] = image * fifo.rows + use.rows[row]
            waking.update(self.streams[reader].server for reader in fifo.readers)

    def _held(self, index: int) -> int:
        """Return the occupied places of a FIFO: rows begun that a reader still needs."""
        return max(0, self.begun[index] - min(self.freed[index]))

    def _missing(self, index: int) -> tuple[bool, int] | None:
        """Return the first missing row or place of a stream's head; None if the head is ready.

        The result is whether a row is missing, otherwise a place, and the FIFO.
        """
        stream, image, row = self.streams[index], self.image[index], self.row[index]
        for use in stream.needs:
            if self.arrived[use.fifo] < image * self.fifos[use.fifo].rows + use.rows[row]:
                return True, use.fifo
        for use in stream.makes:
            fifo = self.fifos[use.fifo]
            more = image * fifo.rows + use.rows[row] - self.begun[use.fifo]
            if more:
                held = sum(self._held(member) for member in self.members[fifo.pool])
                if held + more > self.graph.pools[fifo.pool]:
                    return False, use.fifo
        return None

    def _cause(self, missing: tuple[bool, int]) -> str:
        is_row, index = missing
        kind = self.fifos[index].kind
        if kind == "flight":
            return "an image to leave"
        return f"rows of {kind}" if is_row else f"places of {kind}"

    def _cycle(self) -> list[Wait]:
        """Return a cycle of waits, from a blocked stream back to itself."""
        at = next(i for i, image in enumerate(self.image) if image < self.layout.images)
        seen: dict[int, Wait] = {}
        while at not in seen:
            missing = self._missing(at)
            assert missing is not None  # a ready stream would be running
            seen[at], at = self._wait(at, missing)
        begin = list(seen).index(at)
        return list(seen.values())[begin:]

    def _wait(self, index: int, missing: tuple[bool, int]) -> tuple[Wait, int]:
        """Return the description of a stream's wait, and the stream that blocks it."""
        is_row, fifo = missing
        stream = self.streams[index]
        kind = self.fifos[fifo].kind
        places = self.graph.pools[self.fifos[fifo].pool]
        if is_row:
            what, holder = f"a row of {kind}", self.fifos[fifo].producer
        else:
            holder = self._holder(fifo, index)
            what = f"a place for {kind}, of {places:,} in all,"
            if kind == "flight":
                what = f"one of {places:,} images to leave"
        whom = self.streams[holder].what
        head = f"{stream.what}, image {self.image[index]}, row {self.row[index]},"
        return Wait(head, what, "itself" if holder == index else whom), holder

    def _holder(self, index: int, asks: int) -> int:
        """Return the reader that must release the places.

        If all places are free, the task needs more places than exist. The result is then its own
        stream, ``asks``.
        """
        for member in self.members[self.fifos[index].pool]:
            if self._held(member):
                freed, readers = self.freed[member], self.fifos[member].readers
                return readers[freed.index(min(freed))]
        return asks

    def outcome(self) -> RowOutcome:
        """Return the result of the run."""
        graph, images = self.graph, self.layout.images
        ends = list(zip(self.streams, self.ends, strict=True))
        updates = [found for stream, found in ends if stream.what.startswith("ku ")]
        (losses,) = (found for stream, found in ends if stream.what == "loss")
        return RowOutcome(
            graph=graph,
            ends=tuple(self.ends),
            gradients=[
                max(_of_image(found, images, i) for found in updates) for i in range(images)
            ],
            losses=[losses[len(losses) // images * i] for i in range(images)],
            busy=self.busy,
            waits=self.waits,
            peaks=self.peaks,
            update=max(piece.update for piece in self.layout.slices),
            depth=self.layout.depth,
        )


def _of_image(ends: Sequence[int], images: int, image: int) -> int:
    """Return the cycle in which the last task of an image ends."""
    return ends[len(ends) // images * (image + 1) - 1]
