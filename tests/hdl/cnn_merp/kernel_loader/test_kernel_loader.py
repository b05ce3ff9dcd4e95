"""The kernel loader: where every word lands, and when it may be read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.kernel_loader.kernel_loader import kernel_loader
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite, LoadConfig
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do


@dataclass(frozen=True)
class Load:
    """One load: sizes, pressure (chance of an idle cycle), which words carry ``last``.

    ``reset_at``: so many cycles after start the load is reset, and given up.
    """

    n: int
    groups: int
    last_cus: int
    idle: float = 0.0
    kernel_last: tuple[int, ...] = (-1,)
    bias_last: tuple[int, ...] = (-1,)
    reset_at: int | None = None

    def maps(self, design: EngineDesign) -> int:
        return (self.groups - 1) * design.n_cu + self.last_cus


def design_for(
    k: int, n_cu: int, groups: int = 3, max_maps: int = 4, **changes: Any
) -> EngineDesign:
    values: dict[str, Any] = dict(
        fmt=BYTE, k=k, n_cu=n_cu, r=1, groups=groups, kernel_words=max_maps * groups,
        max_maps=max_maps, row_words=4, max_size=8, fifo_words=groups,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


class Feeder:
    """Both streams' sources over all loads, as ``run_block``'s drive."""

    def __init__(self, design: EngineDesign, loads: Sequence[Load], seed: int) -> None:
        self.design = design
        self.rng = Random(seed)
        self.starts: list[int] = []
        self.words: list[dict[str, list[int]]] = []
        self.ended = False
        self._loads = loads
        self._play = self._plan()

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self._cycle, self._seen = cycle, seen
        return next(self._play)

    def _plan(self) -> Iterator[dict[str, int]]:
        yield {"rst": 1}
        yield {"rst": 0}
        for load in self._loads:
            yield from self._load(load)
        for _ in range(4):
            yield {"rst": 0, "start": 0}
        self.ended = True
        while True:
            yield {}

    def _load(self, load: Load) -> Iterator[dict[str, int]]:
        design, rng = self.design, self.rng
        maps = load.maps(design)
        sizes = {"kernel": maps * load.n * design.taps, "bias": maps}
        words = {s: [rng.getrandbits(design.fmt.width) for _ in range(sizes[s])] for s in sizes}
        lasts = {
            "kernel": {at % sizes["kernel"] for at in load.kernel_last},
            "bias": {at % maps for at in load.bias_last},
        }
        self.words.append(words)
        self.starts.append(self._cycle)
        at = dict.fromkeys(sizes, -1)
        valid = dict.fromkeys(sizes, False)
        begin = self._cycle
        while True:
            t = self._cycle - begin
            changes = {
                "start": int(t == 0), "rst": int(t == load.reset_at), "config_inputs": load.n,
                "config_groups": load.groups, "config_last_cus": load.last_cus,
            }  # fmt: skip
            for stream, size in sizes.items():
                if valid[stream] and not self._seen[f"sink_{stream}_ready"]:
                    continue
                fresh = rng.random() >= load.idle
                if at[stream] + 1 < size and fresh:
                    at[stream] += 1
                    changes[f"sink_{stream}_data"] = words[stream][at[stream]]
                    changes[f"sink_{stream}_last"] = int(at[stream] in lasts[stream])
                # After the final word valid stays high: nothing more may be taken.
                valid[stream] = fresh or at[stream] + 1 == size
                changes[f"sink_{stream}_valid"] = int(valid[stream])
            yield changes
            if (self._seen["loading_loaded"] and t > 1) or load.reset_at == t:
                break
        yield {"start": 0, "rst": 0, "sink_kernel_valid": 0, "sink_bias_valid": 0}


def run(design: EngineDesign, loads: Sequence[Load], seed: int = 0) -> tuple[Recorded, Feeder]:
    bench = BlockBench(
        kernel_loader, "clk rst start", config=LoadConfig(design),
        sink_kernel=Stream(design.fmt.width), sink_bias=Stream(design.fmt.width),
        kernel=KernelWrite(design), bias=BiasWrite(design), loading=Loading(flag(), flag()),
        design=design,
    )  # fmt: skip
    cycles = 20 + sum(
        int((load.maps(design) * load.n * design.taps + 12) / (1 - load.idle) ** 2)
        for load in loads
    )
    feeder = Feeder(design, loads, seed)
    trace = bench.run(feeder.drive, cycles)
    assert feeder.ended, "a load did not end"
    return trace, feeder


def check(design: EngineDesign, loads: Sequence[Load], seed: int = 0) -> Recorded:
    """Every complete load: contents of the memories, times, framing."""
    trace, feeder = run(design, loads, seed)
    names = [port.name for port in trace.ports]
    rows = [dict(zip(names, row, strict=True)) for row in trace.rows]
    ends = [*feeder.starts[1:], len(rows)]
    for load, words, begin, end in zip(loads, feeder.words, feeder.starts, ends, strict=True):
        if load.reset_at is None:
            check_load(design, load, words, rows[begin:end])
        else:
            after = rows[begin + load.reset_at + 1 : end]
            quiet = (
                "sink_kernel_ready",
                "sink_bias_ready",
                "loading_loaded",
                "loading_framing_error",
            )
            assert not any(row[name] for row in after for name in quiet)
    return trace


def check_load(
    design: EngineDesign, load: Load, words: dict[str, list[int]], rows: list[dict[str, int]]
) -> None:
    width, taps = design.fmt.width, design.taps
    maps = load.maps(design)
    kernels: dict[tuple[int, int], int] = {}
    biases: dict[tuple[int, int], int] = {}
    taken = {"kernel": 0, "bias": 0}
    readable: int | None = None  # first cycle in which everything may be read
    broken = False
    for t, row in enumerate(rows):
        if t:
            assert row["loading_loaded"] == (readable is not None and t >= readable), (
                f"loaded, cycle {t}"
            )
            assert row["loading_framing_error"] == broken, f"framing_error, cycle {t}"
        for stream, taken_before in list(taken.items()):
            left = len(words[stream]) - taken_before
            assert t == 0 or row[f"sink_{stream}_ready"] == (left > 0), f"{stream}, cycle {t}"
            if t and row[f"sink_{stream}_valid"] and row[f"sink_{stream}_ready"]:
                taken[stream] += 1
                broken |= row[f"sink_{stream}_last"] != (left == 1)
        for name, memory in (("kernel", kernels), ("bias", biases)):
            for cu in range(design.n_cu):
                if t and row[f"{name}_enable"] >> cu & 1:
                    place = cu, row[f"{name}_addr"]
                    assert place not in memory, f"{name} {place} written twice"
                    memory[place] = row[f"{name}_data"]
        if len(kernels) == maps * load.n and len(biases) == maps and readable is None:
            readable = t + 1
    expected = {}
    source = iter(words["kernel"])
    for o in range(maps):
        for i in range(load.n):
            word = sum(next(source) << (tap * width) for tap in range(taps))
            expected[o % design.n_cu, i * load.groups + o // design.n_cu] = word
    assert kernels == expected
    assert biases == {
        (o % design.n_cu, o // design.n_cu): word for o, word in enumerate(words["bias"])
    }


DESIGNS = [
    design_for(1, 1, groups=1),
    design_for(1, 3),
    design_for(2, 2),
    design_for(2, 4, groups=2, max_maps=3),
    design_for(3, 3, groups=2),
    design_for(2, 1, groups=3, max_maps=7),
]
every_design = pytest.mark.parametrize("design", DESIGNS, ids=lambda d: f"k{d.k}-{d.n_cu}cu")


def loads_for(design: EngineDesign, idle: float) -> list[Load]:
    """The largest load, the smallest, and both again with a partial last group between them."""
    full = Load(design.max_maps, design.groups, design.n_cu, idle)
    part = Load(max(1, design.max_maps - 1), design.groups, max(1, design.n_cu - 1), idle)
    return [full, Load(1, 1, 1, idle), part, Load(2, 1, design.n_cu, idle), full]


@every_design
@pytest.mark.parametrize("idle", [0.0, 0.4], ids=["full_throughput", "idle_input"])
def test_kernel_loader_matches_order(design: EngineDesign, idle: float) -> None:
    check(design, loads_for(design, idle), seed=design.k)


def test_kernel_loader_latency_and_throughput() -> None:
    """Words without a bubble from the cycle after start; loaded two cycles after the last one."""
    design = design_for(2, 2)
    trace, feeder = run(design, [Load(4, 3, 2)])
    begin = feeder.starts[0]
    words = 6 * 4 * 4
    assert trace.column("sink_kernel_ready")[begin : begin + words + 2] == [0] + [1] * words + [0]
    assert trace.column("sink_bias_ready")[begin : begin + 8] == [0] + [1] * 6 + [0]
    assert trace.column("loading_loaded").index(1) == begin + words + 2
    enable = trace.column("kernel_enable")
    assert [t - begin for t, on in enumerate(enable) if on] == list(range(5, words + 2, 4))


def test_kernel_loader_waits_for_both() -> None:
    """The biases of one-word kernels take as long as the kernels: either may come last."""
    check(design_for(1, 2), [Load(1, 3, 2, 0.5)] * 24, 0)


@pytest.mark.parametrize("at", [(0,), (1,), (-2,), (), (0, -1), (-2, -1)], ids=str)
@pytest.mark.parametrize("stream", ["kernel_last", "bias_last"])
def test_kernel_loader_framing_error(stream: str, at: tuple[int, ...]) -> None:
    """A last early, absent, or early and once more in its place: told until the next start."""
    design = design_for(2, 2)
    good = Load(2, 2, 1)
    check(design, [Load(2, 2, 1, **{stream: at}), good, Load(2, 2, 1, 0.3, **{stream: at}), good])


@pytest.mark.parametrize("reset_at", [0, 1, 2, 5, 6, 17, 32, 33, 34])
def test_kernel_loader_reset_mid_load(reset_at: int) -> None:
    """Reset gives a load up at any point, and a new one is complete."""
    design = design_for(2, 2)
    check(design, [Load(4, 1, 2, reset_at=reset_at, kernel_last=(1,)), Load(3, 2, 1)], reset_at)


@pytest.mark.parametrize("seed", range(10))
def test_kernel_loader_random(seed: int) -> None:
    rng = Random(seed)
    design = design_for(rng.randrange(1, 4), rng.randrange(1, 5), rng.randrange(1, 4))
    loads = [
        Load(
            rng.randrange(1, design.max_maps + 1),
            rng.randrange(1, design.groups + 1),
            rng.randrange(1, design.n_cu + 1),
            rng.choice((0.0, 0.3)),
        )
        for _ in range(4)
    ]
    check(design, loads, seed)


def test_after_a_reset_it_is_as_new() -> None:
    """In the middle of a kernel, of a group, and between the kernels and the biases."""
    design = design_for(2, 2)
    bench = BlockBench(
        kernel_loader, "clk rst start", config=LoadConfig(design),
        sink_kernel=Stream(BYTE.width), sink_bias=Stream(BYTE.width), kernel=KernelWrite(design),
        bias=BiasWrite(design), loading=Loading(flag(), flag()), design=design,
    )  # fmt: skip
    config = {"config_inputs": 2, "config_groups": 2, "config_last_cus": 1}
    streams = ("sink_kernel", "sink_bias")
    flags = {f"{stream}_valid": 0.8 for stream in streams}
    words = {f"{stream}_data": BYTE.width for stream in streams}
    flags |= {f"{stream}_last": (0.0, 0.1) for stream in streams}
    session = at_random(flags, words, config)
    payload = {f"{port}_enable": f"{port}_addr {port}_data" for port in ("kernel", "bias")}
    bench.as_new_after_reset(session, range(1, 40, 3), 50, payload=payload)


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    "design",
    [DESIGNS[0], DESIGNS[1], DESIGNS[4], design_for(2, 3, fmt=BINARY32)],
    ids=lambda d: f"k{d.k}-{d.n_cu}cu",
)
def test_kernel_loader_vhdl(design: EngineDesign, replays: Replays) -> None:
    first, second, *_ = loads_for(design, 0.2)
    give_up = Load(1, 1, 1, kernel_last=(0,), reset_at=2)
    replays(check(design, [first, give_up, second]))
