"""A chain as streams of tasks and the FIFOs between them: the model of the event simulator.

A stream runs its tasks in order, image after image and row after row. Each task needs input rows
and places for its output rows, and releases places. Tasks use rows in order. Therefore a FIFO only
stores numbers of rows: begun, arrived, and released by each reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from merp.models.rows.layout import LayerRows, Layout

UNBOUNDED = 1 << 60


@dataclass
class RowFifo:
    """A FIFO of rows between one stream and its readers.

    Attributes:
        kind, place: the identity of the FIFO, as in ``layout.Place``.
        rows: rows of one image.
        pool: index of the pool that has its places.
        producer: index of the stream that fills it.
        readers: indices of the streams that read it. Each reader has its own count of released
            rows.
    """

    kind: str
    place: int
    rows: int
    pool: int
    producer: int = -1
    readers: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class FifoUse:
    """The use of a FIFO by a stream.

    Attributes:
        fifo: index of the FIFO.
        reader: index of the stream among the FIFO's readers; 0 for its producer.
        rows: for each task, the number of rows from the begin of the image to the task's last row.
    """

    fifo: int
    reader: int
    rows: Sequence[int]


@dataclass
class RowStream:
    """Tasks of a server, one for each row of each image.

    Attributes:
        server: index of the server.
        ``what``: name in messages.
        cycles: cycles of the task of each row.
        latency: cycles from the end of a task until its rows arrive.
        words: words of one image on a link.
        needs: rows that must have arrived before a task.
        makes: rows that a task writes.
        frees: rows that a task releases.
    """

    server: int
    what: str
    cycles: Sequence[int]
    latency: int = 0
    words: int = 0
    needs: list[FifoUse] = field(default_factory=list)
    makes: list[FifoUse] = field(default_factory=list)
    frees: list[FifoUse] = field(default_factory=list)


@dataclass
class StreamGraph:
    """The streams and FIFOs of a layout.

    Attributes:
        servers: names of the servers.
        streams: the streams, ordered by priority on their server.
        fifos: the FIFOs.
        pools: number of places in each pool. FIFOs may share a pool.
    """

    servers: list[str] = field(default_factory=list)
    streams: list[RowStream] = field(default_factory=list)
    fifos: list[RowFifo] = field(default_factory=list)
    pools: list[int] = field(default_factory=list)

    def server(self, name: str) -> int:
        """Add a server and return its index."""
        self.servers.append(name)
        return len(self.servers) - 1

    def fifo(self, kind: str, place: int, rows: int, size: int, pool: int | None = None) -> int:
        """Add a FIFO with ``size`` places of its own or in an existing pool; return its index."""
        if pool is None:
            self.pools.append(size)
            pool = len(self.pools) - 1
        self.fifos.append(RowFifo(kind, place, rows, pool))
        return len(self.fifos) - 1

    def stream(
        self, server: int, what: str, cycles: Sequence[int], latency: int = 0, words: int = 0
    ) -> RowStream:
        """Add a stream and return it."""
        self.streams.append(RowStream(server, what, cycles, latency, words))
        return self.streams[-1]

    def made(self, stream: RowStream, fifo: int, rows: Sequence[int]) -> None:
        """Add ``fifo`` as an output of ``stream``; ``rows`` are its row counts after each task."""
        self.fifos[fifo].producer = self.streams.index(stream)
        stream.makes.append(FifoUse(fifo, 0, rows))

    def read(
        self, stream: RowStream, fifo: int, needs: Sequence[int] | None, frees: Sequence[int]
    ) -> None:
        """Add ``fifo`` as an input of ``stream``.

        ``needs`` are the row counts that must have arrived before each task. If it is None, tasks
        do not wait for rows. ``frees`` are the row counts that are released after each task.
        """
        readers = self.fifos[fifo].readers
        if needs is not None:
            stream.needs.append(FifoUse(fifo, len(readers), needs))
        stream.frees.append(FifoUse(fifo, len(readers), frees))
        readers.append(self.streams.index(stream))


def dealt(total: int, rows: int) -> list[int]:
    """Distribute ``total`` cycles over rows as evenly as possible; each row has at least one."""
    ends = [total * row // rows for row in range(rows + 1)]
    return [max(1, end - begin) for begin, end in pairwise(ends)]


def _each(rows: int) -> range:
    """Return for each row the number of rows up to and including it."""
    return range(1, rows + 1)


def _counted(rows: int, tasks: int, last: Callable[[int], int]) -> list[int]:
    """Return for each task the number of rows up to it; ``last`` returns the task of a row."""
    counts = [0] * tasks
    for row in range(rows):
        counts[last(row)] += 1
    for task in range(1, tasks):
        counts[task] += counts[task - 1]
    return counts


@dataclass(frozen=True)
class _Reach:
    """Relations between the rows of a layer."""

    layer: LayerRows

    def window_end(self, total: int) -> int:
        """Return the number of input rows up to the end of a row of sums' window."""
        layer = self.layer
        return min(layer.inputs, total * layer.stride + layer.kernel - layer.top)

    def last_sum(self, row: int) -> int:
        """Return the last row of sums whose window begins at or above an input row."""
        layer = self.layer
        return min(layer.sums - 1, (row + layer.top) // layer.stride)

    def last_pooled(self, output: int) -> int:
        """Return the last row of sums that an output row needs."""
        layer = self.layer
        if layer.outputs != layer.pooled:
            output = layer.pooled - 1
        return min(layer.sums - 1, output * layer.step + layer.window - 1 - layer.above)

    def errors_end(self, total: int) -> int:
        """Return the number of output rows whose pooling begins at or above a row of sums."""
        layer = self.layer
        if layer.outputs != layer.pooled:
            return 1
        return min(layer.pooled, (total + layer.above) // layer.step + 1)

    def finished(self) -> list[int]:
        """Return the number of complete output rows after each row of sums."""
        return _counted(self.layer.outputs, self.layer.sums, self.last_pooled)

    def forgotten(self) -> list[int]:
        """Return for each row of sums the number of input rows that no later row of sums needs."""
        return _counted(self.layer.inputs, self.layer.sums, self.last_sum)

    def propagated(self) -> list[int]:
        """Return for each row of input deltas the number of output rows that no later row needs."""
        layer = self.layer
        return _counted(
            layer.outputs, layer.inputs, lambda row: self.window_end(self.last_pooled(row)) - 1
        )


def graph_of(layout: Layout) -> StreamGraph:
    """Build the streams and FIFOs of a layout."""
    return _Builder(layout).graph


class _Builder:
    """Builds the graph: FIFOs first, then streams from the source to the loss and back."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.graph = graph = StreamGraph()
        self.slices = range(len(layout.slices))
        self.flight = graph.fifo("flight", 0, 1, layout.depth)
        self.maps, self.features = list[int](), list[int]()
        self.sums, self.errors = dict[int, int](), list[int]()
        self.deltas = dict[int, int]()
        for index in self.slices:
            self._fifos_of(index)
        last = self._rows(self.slices[-1])
        self.results = graph.fifo("results", self.slices[-1], last.outputs, UNBOUNDED)
        self._source()
        for index in self.slices:
            self._forward(index)
            if layout.crosses(index):
                self._link_forward(index)
        self._loss()
        for index in reversed(self.slices):
            self._backward(index)
            if index and layout.crosses(index - 1):
                self._link_backward(index)

    def _rows(self, index: int) -> LayerRows:
        return self.layout.layers[self.layout.slices[index].layer]

    def _name(self, index: int) -> str:
        return f"{self._rows(index).name} on node {self.layout.slices[index].node}"

    def _fifos_of(self, index: int) -> None:
        layout, graph, layer = self.layout, self.graph, self._rows(index)
        size = layout.size
        maps = graph.fifo("maps", index, layer.inputs, size("maps", index))
        self.maps.append(maps)
        self.features.append(graph.fifo("features", index, layer.inputs, size("features", index)))
        self.errors.append(graph.fifo("errors", index, layer.outputs, size("errors", index)))
        if not layout.first(index):
            rows = layer.outputs if layer.by_outputs else layer.sums
            pool = graph.fifos[maps].pool if layout.links.shared else None
            self.sums[index] = graph.fifo("sums", index, rows, size("sums", index), pool)
        if not layout.last(index) and layout.slices[index].back is not None:
            pool = graph.fifos[self.errors[index]].pool if layout.links.shared else None
            self.deltas[index] = graph.fifo(
                "deltas", index, layer.inputs, size("deltas", index), pool
            )

    def _source(self) -> None:
        rows = self._rows(0).inputs
        stream = self.graph.stream(self.graph.server("source"), "source", [1] * rows)
        self.graph.made(stream, self.flight, [1] * rows)
        self._enter(stream, 0, _each(rows))

    def _enter(self, stream: RowStream, index: int, rows: Sequence[int]) -> None:
        """Connect the output of a stream to the input FIFOs of a slice."""
        self.graph.made(stream, self.maps[index], rows)
        self.graph.made(stream, self.features[index], rows)

    def _send(self, stream: RowStream, name: str, node: int, rows: int, made: Sequence[int]) -> int:
        """Connect the output of a stream to a new FIFO before the link of a border."""
        kind = f"send {name}"
        fifo = self.graph.fifo(kind, node, rows, self.layout.size(kind, node))
        self.graph.made(stream, fifo, made)
        return fifo

    def _forward(self, index: int) -> None:
        layout, graph, layer = self.layout, self.graph, self._rows(index)
        piece, reach = layout.slices[index], _Reach(layer)
        server = graph.server(f"fp {self._name(index)}")
        stream = graph.stream(server, graph.servers[server], dealt(piece.cycles["fp"], layer.sums))
        finished = reach.finished()
        ends = [reach.window_end(total) for total in range(layer.sums)]
        graph.read(stream, self.maps[index], ends, reach.forgotten())
        if index in self.sums and not layer.by_outputs:
            graph.read(stream, self.sums[index], _each(layer.sums), _each(layer.sums))
        made: Sequence[int] = finished
        if not (layout.last(index) or layer.by_outputs):
            made = _each(layer.sums)
        if index in self.sums and layer.by_outputs:
            stream = self._put_together(stream, "maps", index, made, self.sums[index])
            made = _each(layer.outputs)
        if not layout.last(index):
            rows = layer.outputs if layer.by_outputs else layer.sums
            self.sent = self._send(stream, "sums", piece.node, rows, made)
        elif index == self.slices[-1]:
            graph.made(stream, self.results, made)
        elif layout.crosses(index):
            self.sent = self._send(stream, "maps", piece.node, layer.outputs, made)
        else:
            self._enter(stream, index + 1, made)

    def _put_together(
        self, stream: RowStream, name: str, index: int, made: Sequence[int], others: int
    ) -> RowStream:
        """Add a stream that combines the rows of a slice with the rows of other slices."""
        graph, rows = self.graph, self.graph.fifos[others].rows
        own = graph.fifo("own", index, rows, self.layout.size("own", index))
        graph.made(stream, own, made)
        server = graph.server(f"{name} put together, {self._name(index)}")
        joined = graph.stream(server, graph.servers[server], [1] * rows)
        graph.read(joined, own, _each(rows), _each(rows))
        graph.read(joined, others, _each(rows), _each(rows))
        return joined

    def _crossing(
        self, server: int, name: str, words: int, rows: int, border: int, carried: bool
    ) -> RowStream:
        """Add a stream that transfers rows over the link of a border."""
        links = self.layout.links
        words += links.carried.get(border, 0) if carried else 0
        cycles = 0
        if links.bits_per_cycle is not None:
            cycles = -(-words * links.word_bits // links.bits_per_cycle)
        what = f"{name} over {self.graph.servers[server]}"
        return self.graph.stream(server, what, dealt(int(cycles), rows), links.latency, words)

    def _link_forward(self, index: int) -> None:
        layout, graph, layer = self.layout, self.graph, self._rows(index)
        piece = layout.slices[index]
        server = graph.server(f"link {piece.node} to {piece.node + 1}")
        if layout.last(index):
            rows = _each(layer.outputs)
            stream = self._crossing(
                server, "maps", layer.output_words, layer.outputs, piece.node, True
            )
            graph.read(stream, self.sent, rows, rows)
            self._enter(stream, index + 1, rows)
            return
        left = 1 if layer.by_outputs else 1 - piece.end
        rows = _each(layer.inputs)
        stream = self._crossing(
            server, "maps", int(left * layer.input_words), layer.inputs, piece.node, True
        )
        graph.read(stream, self.maps[index], rows, rows)
        self._enter(stream, index + 1, rows)
        words, rows = layer.sum_words, _each(layer.sums)
        if layer.by_outputs:
            words, rows = int(piece.end * layer.output_words), _each(layer.outputs)
        stream = self._crossing(server, "sums", words, len(rows), piece.node, False)
        graph.read(stream, self.sent, rows, rows)
        graph.made(stream, self.sums[index + 1], rows)

    def _loss(self) -> None:
        rows = self._rows(self.slices[-1]).outputs
        cycles = [self.layout.loss + 1] + [1] * (rows - 1)
        stream = self.graph.stream(self.graph.server("loss"), "loss", cycles)
        self.graph.read(stream, self.results, [rows] * rows, _each(rows))
        self.graph.made(stream, self.errors[-1], _each(rows))

    def _backward(self, index: int) -> None:
        layout, graph, layer = self.layout, self.graph, self._rows(index)
        piece, reach = layout.slices[index], _Reach(layer)
        if piece.back is not None:
            server = graph.server(f"dp {self._name(index)}")
            stream = graph.stream(server, graph.servers[server], dealt(piece.back, layer.inputs))
            needs = [reach.errors_end(reach.last_sum(row)) for row in range(layer.inputs)]
            graph.read(stream, self.errors[index], needs, reach.propagated())
            rows = _each(layer.inputs)
            if index in self.deltas:
                stream = self._put_together(stream, "deltas", index, rows, self.deltas[index])
            if index and layout.crosses(index - 1):
                self.sent = self._send(stream, "deltas", piece.node - 1, layer.inputs, rows)
            elif index:
                graph.made(stream, self.errors[index - 1], rows)
        server = graph.server(f"ku {self._name(index)}")
        stream = graph.stream(server, graph.servers[server], dealt(piece.cycles["ku"], layer.sums))
        needs = [reach.errors_end(total) for total in range(layer.sums)]
        graph.read(stream, self.errors[index], needs, reach.finished())
        ends = [reach.window_end(total) for total in range(layer.sums)]
        graph.read(stream, self.features[index], ends, reach.forgotten())
        graph.read(stream, self.flight, None, [0] * (layer.sums - 1) + [1])

    def _link_backward(self, index: int) -> None:
        """Add the link from the node of a slice to the node of the previous slice."""
        layout, graph, layer = self.layout, self.graph, self._rows(index)
        border = layout.slices[index].node - 1
        server = graph.server(f"link {border + 1} to {border}")
        if layout.first(index):
            rows = _each(layer.inputs)
            stream = self._crossing(server, "errors", layer.input_words, layer.inputs, border, True)
            graph.read(stream, self.sent, rows, rows)
            graph.made(stream, self.errors[index - 1], rows)
            return
        done = layout.slices[index - 1].end
        words = int(done * layer.output_words) if layer.by_outputs else layer.output_words
        rows = _each(layer.outputs)
        stream = self._crossing(server, "errors", words, layer.outputs, border, True)
        graph.read(stream, self.errors[index], rows, rows)
        graph.made(stream, self.errors[index - 1], rows)
        if index - 1 in self.deltas:
            rows = _each(layer.inputs)
            words = int((1 - done) * layer.input_words)
            stream = self._crossing(server, "deltas", words, layer.inputs, border, False)
            graph.read(stream, self.sent, rows, rows)
            graph.made(stream, self.deltas[index - 1], rows)
