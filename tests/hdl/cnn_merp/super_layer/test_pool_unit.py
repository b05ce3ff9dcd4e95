"""Pooling unit and the tags beside it, driven memory by memory."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.super_layer.pool_unit import pool_unit, pool_unit_latency
from merp.hdl.cnn_merp.super_layer.result_tag import result_tag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import PoolUpdate, ResultBeat
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Pool
from merp.models.golden.pooling import max_pool
from merp.models.machines.cnn_merp.params.design import EngineDesign

WORDS = 6
SCALE = {BINARY32: 0x3DE38E39, BFLOAT16: 0x3DE4}  # 1/9
VALUES = [0x0000, 0x8000, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0xBF80, 0x4040, 0xC040, 0x3E99, 0x0080]


def design_for(average: bool, overlap: int = 2, **changes: object) -> EngineDesign:
    values = dict(
        k=1, n_cu=2, r=2, kernel_words=1, groups=1, row_words=1, max_size=8, max_maps=1,
        fifo_words=1, pool_window=3, pool_overlap=overlap, pool_words=WORDS, average=average,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


def combine(a: int, b: int, design: EngineDesign, average: bool) -> int:
    x, y = np.array([a], np.uint32), np.array([b], np.uint32)
    if average:
        return int(fp_add(x, y, design.fmt)[0])
    low = design.fmt.inf | design.fmt.sign_bit
    window = np.array([[a, b], [low, low]], np.uint32).reshape(1, 2, 2, 1)
    return int(max_pool(window, Pool(window=2, stride=1), design.fmt).reshape(-1)[0])


def run(
    design: EngineDesign, average: bool, beats: int, seed: int
) -> tuple[Recorded, dict[int, int]]:
    """Random beats on random memories; the trace, and the result due in each cycle.

    A beat's elements are there a cycle after its read. Words are read again as early as they may
    be, while they are written; then ``bypass`` is up.
    """
    rng = np.random.default_rng(seed)
    fmt, overlap = design.fmt, design.pool_overlap
    update = PoolUpdate(design)
    span = update.address_width
    cycles = beats + 25
    rows: list[dict[str, int]] = [
        dict.fromkeys(
            ("update_read", "update_bypass", "update_fresh", "update_store", "update_deliver"), 0
        )
        for _ in range(cycles)
    ]
    partial: dict[tuple[int, int], int] = {}
    busy: dict[tuple[int, int], int] = {}  # cycle from which a word may be read again
    due: dict[int, int] = {}
    late = design.pool_latency
    stored: dict[tuple[int, int], int] = {}  # cycle in which a word is written
    chosen: list[list[int]] = []
    for cycle in range(beats):
        x = int(rng.choice(VALUES)) << (fmt.width - 16) | int(rng.integers(2)) * (fmt.width == 32)
        if x >> fmt.frac_bits & fmt.exp_max in (0, fmt.exp_max):  # no subnormals, one NaN
            x &= ~1
        places = rng.integers(WORDS, size=overlap).tolist()
        if cycle >= late and rng.random() < 0.5:  # those that are written now
            places = chosen[cycle - late]
        chosen.append(places)
        address = sum(place << j * span for j, place in enumerate(places))
        read = fresh = bypass = 0
        done: list[int] = []
        for memory in range(overlap**2):
            key = (memory, places[memory % overlap])
            if rng.random() < 0.4 or busy.get(key, 0) > cycle:
                continue
            first = key not in partial or rng.random() < 0.3
            partial[key] = x if first else combine(partial[key], x, design, average)
            busy[key] = cycle + design.pool_latency
            bypass |= int(stored.get(key) == cycle) << memory
            stored[key] = cycle + late
            read |= 1 << memory
            fresh |= int(first) << memory
            done.append(memory)
        rows[cycle] |= {"update_read": read, "update_address": address}
        rows[cycle + 1] |= {"x": x, "update_bypass": bypass}
        rows[cycle + 2]["update_fresh"] = fresh
        rows[cycle + late] |= {"update_store": read, "update_store_address": address}
        if done and rng.random() < 0.5:
            memory = int(rng.choice(done))
            rows[cycle + late]["update_deliver"] = 1 << memory
            value = partial[memory, places[memory % overlap]]
            if average:
                words = np.array([[value], [SCALE[fmt]]], np.uint32)
                value = int(fp_mul(words[0], words[1], fmt)[0])
            due[cycle + 1 + pool_unit_latency(design)] = value
    bench = BlockBench(
        pool_unit, "clk", x=bits(fmt.width), update=update, average=flag(int(average)),
        scale=bits(fmt.width, SCALE[fmt]), y=bits(fmt.width), design=design,
    )  # fmt: skip
    config = {"average": int(average), "scale": SCALE[fmt]}

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return rows[cycle] | config

    return bench.run(drive, cycles), due


@pytest.mark.parametrize(
    ("design", "average"),
    [
        (design_for(False), False),
        (design_for(False, 1), False),
        (design_for(False, 3, fmt=BFLOAT16), False),
        (design_for(True, add_latency=1, mul_latency=1), True),
        (design_for(True, 1, add_latency=4, mul_latency=3), True),
        (design_for(True, 1, add_latency=4, mul_latency=2), False),
        (design_for(True, 2, fmt=BFLOAT16, add_latency=3, mul_latency=2), True),
    ],
)
def test_results_match_golden_after_the_stated_latency(design: EngineDesign, average: bool) -> None:
    trace, due = run(design, average, 150, 5)
    y = trace.column("y")
    assert {cycle: y[cycle] for cycle in due} == due
    assert len(due) > 20
    earliest = sum(bypass != 0 for bypass in trace.column("update_bypass"))
    assert earliest > 20


def tags(cycles: int, reset_at: int | None = None) -> Recorded:
    design = design_for(False)
    beat = ResultBeat(design)
    bench = BlockBench(
        result_tag, "clk rst last", beat=beat, results=count(2), design=design, cycles=cycles
    )

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return {
            "rst": int(cycle == reset_at),
            "beat_results": cycle % 3 if cycle < 12 else 0,
            "beat_last": int(cycle % 5 == 1),
        }

    return bench.run(drive, 12 + cycles)


@pytest.mark.parametrize("cycles", [2, 3, 9])
def test_tags_are_delayed(cycles: int) -> None:
    trace = tags(cycles)
    for out in ("results", "last"):
        assert trace.column(out)[cycles:] == trace.column(f"beat_{out}")[:12]


@pytest.mark.parametrize("cycles", [2, 5])
def test_reset_forgets_what_is_on_its_way(cycles: int) -> None:
    results = tags(cycles, reset_at=5).column("results")
    assert results[6 : 6 + cycles] == [0] * cycles
    assert results[6 + cycles :] == [c % 3 for c in range(6, 12)]


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("average", [False, True])
def test_vhdl_replays(average: bool, replays: Replays) -> None:
    trace, _ = run(design_for(average, add_latency=2, mul_latency=1), average, 60, 2)
    replays(trace, lint=True)
    trace = tags(4, reset_at=5)
    replays(trace)
