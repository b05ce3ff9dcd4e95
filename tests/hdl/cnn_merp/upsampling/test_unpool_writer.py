"""Where pooled elements go, and when one may be overwritten: to the cycle, against the reader."""

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    OfferedField,
    OfferedWord,
    ReadProgress,
    UnpoolWrite,
    WriteProgress,
)
from merp.hdl.cnn_merp.upsampling.unpool_writer import unpool_writer
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

FMT = FloatFormat(4, 3)
IMAGES, POOLED_ROWS, POOLED_COLUMNS, MAPS = 2, 3, 4, 2
Place = tuple[int, int, int]  # row (over all images), column, map


class Reader:
    """Issues elements in raster order, as soon as the windows that hold one are written."""

    def __init__(self, window: int, stride: int) -> None:
        self.window, self.stride = window, stride
        self.rows, self.columns = (
            (size - 1) * stride + window + 1 for size in (POOLED_ROWS, POOLED_COLUMNS)
        )
        self.order = list(product(range(IMAGES * self.rows), range(self.columns), range(MAPS)))
        self.at = 0

    def closing(self, index: int, windows: int) -> bool:
        return self.closed(index) < self.closed(index + 1) <= windows

    def closed(self, index: int) -> int:
        """Windows whose last row or column lies in front of ``index``, however many there are."""
        return max(0, (index - self.window) // self.stride + 1)

    def state(self) -> dict[str, int]:
        if self.at == len(self.order):
            return dict.fromkeys(("row_closes", "column_closes", "columns", "channel"), 0)
        row, column, channel = self.order[self.at]
        return {
            "row_closes": int(self.closing(row % self.rows, POOLED_ROWS)),
            "column_closes": int(self.closing(column, POOLED_COLUMNS)),
            "columns": min(self.closed(column), POOLED_COLUMNS), "channel": channel,
        }  # fmt: skip

    def has_passed(self, place: Place) -> bool:
        """Whether the last element of a pooled element's window has been issued."""
        row, column, channel = place
        image, row = divmod(row, POOLED_ROWS)
        last = (
            image * self.rows + row * self.stride + self.window - 1,
            column * self.stride + self.window - 1,
            channel,
        )
        return self.at == len(self.order) or self.order[self.at] > last

    def needs(self) -> Iterator[Place]:
        """Pooled elements whose windows hold the next element."""
        row, column, channel = self.order[self.at]
        image, row = divmod(row, self.rows)
        for y, x in product(range(POOLED_ROWS), range(POOLED_COLUMNS)):
            inside = (0 <= i - w * self.stride < self.window for i, w in ((row, y), (column, x)))
            if all(inside):
                yield image * POOLED_ROWS + y, x, channel


@pytest.mark.sample(4)
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (3, 1), (1, 2)])
@pytest.mark.parametrize(
    ("kind", "fast"), [("max", "reader"), ("max after ReLU", "writer"), ("average", "writer")]
)
def test_words_are_kept_until_they_are_passed(
    window: int, stride: int, kind: str, fast: str
) -> None:
    overlap = -(-window // stride)
    design = UnpoolDesign(
        window=3, overlap=overlap, words=-(-POOLED_COLUMNS // overlap) * MAPS, max_size=12,
        max_maps=MAPS, max_images=IMAGES, fmt=FMT, average=True,
    )  # fmt: skip
    maximum, relu = kind != "average", "ReLU" in kind
    code_bits = design.code_bits
    bench = BlockBench(
        unpool_writer, "clk start", config=UnpoolConfig(design), word=OfferedWord(design),
        field=OfferedField(design), passed=ReadProgress(design), written=WriteProgress(design),
        write=UnpoolWrite(design), design=design,
    )  # fmt: skip
    config = {
        "config_maps": MAPS, "config_pooled_columns": POOLED_COLUMNS, "config_relu": int(relu),
        "config_maximum": int(maximum), "config_average": int(not maximum),
    }  # fmt: skip
    rng = Random(f"{window} {stride} {kind} {fast}")
    reader = Reader(window, stride)
    places = list(product(range(IMAGES * POOLED_ROWS), range(POOLED_COLUMNS), range(MAPS)))
    rates = (0.9, 0.3) if fast == "writer" else (0.3, 0.9)
    taken = 0
    fires = False
    free: list[bool | None] = []
    nexts: list[int] = []

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal taken, fires
        reader.at += fires
        if cycle > 1:
            taken += seen["word_valid"] and seen["word_ready"]
        more = cycle > 1 and taken < len(places)
        nexts.append(taken)
        free.append(None)
        if more:
            row, column, channel = places[taken]
            overwritten = row - overlap, column, channel
            free[-1] = overwritten[0] < 0 or reader.has_passed(overwritten)
        fires = (
            cycle > 1
            and reader.at < len(reader.order)
            and all(places.index(place) < taken for place in reader.needs())
            and rng.random() < rates[1]
        )
        state = reader.state()
        ends = fires and reader.order[reader.at][1:] == (reader.columns - 1, MAPS - 1)
        return {
            "start": int(cycle == 1), **config, "word_data": rng.getrandbits(FMT.width),
            "word_valid": int(more and rng.random() < rates[0]),
            "field_data": rng.getrandbits(design.field_bits),
            "field_valid": int(rng.random() < 0.8),
            **{f"passed_{name}": value for name, value in state.items()},
            "passed_row": int(ends and state["row_closes"]),
        }  # fmt: skip

    trace = bench.run(drive, 1500)
    assert taken == len(places)
    assert reader.at == len(reader.order)
    names = ("word_data", "word_valid", "word_ready", "field_data", "field_valid", "field_take")
    columns = {name: trace.column(name) for name in (*names, "written_row", "written_column",
               "written_channel", "write_enable", "write_address", "write_data")}  # fmt: skip
    for t in range(2, len(trace.rows) - 1):
        now = {name: column[t] for name, column in columns.items()}
        after = {name: column[t + 1] for name, column in columns.items()}
        if free[t] is None:
            assert not after["write_enable"]
            continue
        row, column, channel = places[nexts[t]]
        assert now["word_ready"] == (free[t] and (not maximum or now["field_valid"])), t
        assert (now["written_column"], now["written_channel"]) == (column, channel)
        accept = now["word_valid"] and now["word_ready"]
        assert now["field_take"] == (accept and maximum)
        ends = (column, channel) == (POOLED_COLUMNS - 1, MAPS - 1)
        assert now["written_row"] == (accept and ends)
        if not accept:
            assert not after["write_enable"]
            continue
        assert after["write_enable"] == 1 << row % overlap * overlap + column % overlap
        assert after["write_address"] == column // overlap * MAPS + channel
        code, delta = divmod(after["write_data"], 1 << FMT.width)
        stopped = relu and maximum and not now["field_data"] & 1
        assert delta == (0 if stopped else now["word_data"])
        if maximum:
            assert code == (now["field_data"] >> relu) % (1 << code_bits)
