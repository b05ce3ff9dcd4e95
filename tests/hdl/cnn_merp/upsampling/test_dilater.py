"""Dilation: every word in its place among zeros, whatever the pressure on either side."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.cosim.block.replay import lint_verilog
from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.ports.deltas import DilateConfig
from merp.hdl.cnn_merp.upsampling.dilater import dilater
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

WORD = FloatFormat(8, 7)
DESIGN = EngineDesign(
    fmt=WORD, k=2, n_cu=1, r=1, kernel_words=1, groups=1, row_words=8, max_size=16, max_maps=4,
    max_images=3, max_stride=4, fifo_words=1,
)  # fmt: skip


@dataclass(frozen=True)
class Dilation:
    """Delta maps of ``rows`` x ``columns``, with ``rest`` zeros behind the last, by direction."""

    images: int
    rows: int
    columns: int
    maps: int
    stride: int
    rest: tuple[int, int] = (0, 0)
    last: int = -1

    @property
    def size(self) -> tuple[int, int]:
        rows = (self.rows - 1) * self.stride + 1 + self.rest[0]
        return rows, (self.columns - 1) * self.stride + 1 + self.rest[1]

    @property
    def words(self) -> np.ndarray:
        size = (self.images, self.rows, self.columns, self.maps)
        return np.arange(1, 1 + np.prod(size)).reshape(size)

    @property
    def golden(self) -> list[int]:
        maps = np.zeros((self.images, *self.size, self.maps), int)
        maps[:, :: self.stride, :: self.stride] = self.words
        return maps.reshape(-1).tolist()


def run(dilations: list[Dilation], offer: float = 1.0, accept: float = 1.0) -> Recorded:
    rng = np.random.default_rng(3)
    bench = BlockBench(
        dilater, "clk rst start framing_error", config=DilateConfig(DESIGN),
        sink=Stream(WORD.width), source=Stream(WORD.width), design=DESIGN,
    )  # fmt: skip
    fields = ("images", "rows", "columns", "maps", "stride")
    queue = list(dilations)
    state = {"at": 0, "valid": 0, "left": 0}
    words: list[int] = []
    lasts: set[int] = set()

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if cycle == 0:
            return {"rst": 1}
        if state["valid"] and seen["sink_ready"]:
            state["at"] += 1
            state["valid"] = 0
        if seen["source_valid"] and seen["source_ready"]:
            state["left"] -= 1
        if state["left"] == 0 and queue:
            now = queue.pop(0)
            words[:] = now.words.reshape(-1).tolist()
            lasts.clear()
            lasts.add(now.last % len(words))
            state.update(at=0, valid=0, left=len(now.golden))
            values = (now.images, *now.size, now.maps, now.stride)
            return {
                **{f"config_{f}": v for f, v in zip(fields, values, strict=True)},
                "rst": 0, "start": 1, "sink_valid": 0, "source_ready": 0,
            }  # fmt: skip
        more = state["at"] < len(words)
        if more and not state["valid"]:
            state["valid"] = int(rng.random() < offer)
        return {
            "start": 0, "rst": 0, "sink_valid": state["valid"],
            "sink_data": words[state["at"]] if more else 0,
            "sink_last": int(state["at"] in lasts), "source_ready": int(rng.random() < accept),
        }  # fmt: skip

    cycles = 10 + sum(int(len(d.golden) / offer / accept * 1.5) + 10 for d in dilations)
    return bench.run(drive, cycles)


def sent(trace: Recorded) -> list[tuple[int, int]]:
    return trace.words("source")


def check(dilations: list[Dilation], trace: Recorded) -> None:
    golden = [
        (word, int(at == len(d.golden) - 1)) for d in dilations for at, word in enumerate(d.golden)
    ]
    assert sent(trace) == golden
    assert not any(trace.column("framing_error"))


CASES = [
    Dilation(1, 1, 1, 1, 1),
    Dilation(2, 3, 2, 3, 1),
    Dilation(2, 2, 3, 2, 2, (1, 0)),
    Dilation(1, 3, 1, 1, 4, (3, 2)),
    Dilation(3, 2, 2, 4, 3, (0, 2)),
]


@pytest.mark.parametrize(("offer", "accept"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.6, 0.6)])
def test_words_stand_among_zeros(offer: float, accept: float) -> None:
    check(CASES, run(CASES, offer, accept))


def test_a_word_per_cycle() -> None:
    case = Dilation(1, 2, 3, 4, 2, (1, 1))
    valid = run([case]).column("source_valid")
    assert sum(valid) == len(case.golden)
    assert valid.index(1) + sum(valid) == len(valid) - valid[::-1].index(1)


@pytest.mark.parametrize("last", [0, -2])
def test_a_misplaced_last_is_a_framing_error(last: int) -> None:
    bad, good = Dilation(1, 2, 2, 2, 2, (1, 1), last), Dilation(1, 2, 2, 1, 2)
    trace = run([bad, good])
    _, second = (t for t, start in enumerate(trace.column("start")) if start)
    assert trace.column("framing_error")[second] == 1
    assert not any(trace.column("framing_error")[second + 1 :])


def test_after_a_reset_it_is_as_new() -> None:
    """Also where last has come with a wrong word."""
    bench = BlockBench(
        dilater, "clk rst start framing_error", config=DilateConfig(DESIGN),
        sink=Stream(WORD.width), source=Stream(WORD.width), design=DESIGN,
    )  # fmt: skip
    sizes = {"images": 2, "rows": 3, "columns": 2, "maps": 2, "stride": 2}
    config = {f"config_{name}": size for name, size in sizes.items()}
    flags = {"sink_valid": 0.8, "sink_last": 0.4, "source_ready": 0.8}
    session = at_random(flags, {"sink_data": WORD.width}, config)
    payload = {"source_valid": "source_data source_last"}
    bench.as_new_after_reset(session, range(1, 30, 2), 40, payload=payload)


@pytest.mark.ghdl
def test_vhdl_agrees(replays: Replays) -> None:
    replays(run(CASES, 0.6, 0.6))


@pytest.mark.verilator
def test_verilog_is_clean(tmp_path: Path) -> None:
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "config": DilateConfig(DESIGN),
        "sink": Stream(WORD.width), "source": Stream(WORD.width), "framing_error": flag(),
        "design": DESIGN,
    }  # fmt: skip
    lint_verilog(dilater, args, tmp_path)
