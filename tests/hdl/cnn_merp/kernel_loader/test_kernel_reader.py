"""Kernels that delta propagation holds come out as they came in: order, values, pace, resets."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from marks import few, in_full
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.behavioural.cu_array import cu_array_fast
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.kernel_loader.kernel_reader import kernel_reader
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite, LoadConfig
from merp.hdl.cnn_merp.ports.outputs import Sums
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.hdl.conversion.entity import Bit, behavioural, entity
from merp.models.base.formats import BINARY16
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT
from merp.testbenches.cnn_merp.cu_bench import element


def design_for(k: int, n_cu: int, **chosen: Any) -> EngineDesign:
    return EngineDesign(
        k=k, n_cu=n_cu, r=1, groups=3, kernel_words=12, max_maps=4, row_words=4, max_size=8,
        fifo_words=3, mul_latency=1, add_latency=1, **chosen,
    )  # fmt: skip


DESIGNS = (
    design_for(1, 1, fmt=BINARY16),
    design_for(2, 3),
    design_for(3, 2, fmt=BINARY16),
    design_for(1, 2, cu_kind="fused"),
    design_for(3, 3, cu_kind="fused", fused_dsp=2),
)


@entity
def kept_kernels(
    clk: Bit,
    rst: Bit,
    start: Bit,
    final_issue: Bit,
    config: LoadConfig,
    sink: Stream,
    source: Stream,
    loaded: Bit,
    slot_addr: Any,
    design: EngineDesign,
) -> Any:
    """Load kernels, and read them back; slots in between read at slot_addr."""
    kernel, bias, slot = KernelWrite(design), BiasWrite(design), Slot(design)
    slot.kernel_addr = slot_addr
    read = KernelRead(design)
    return (
        delta_loader(
            clk, rst, start, config=config, sink=sink, kernel=kernel, bias=bias,
            loading=Loading(loaded, flag()), design=design,
        ),
        cu_array(
            clk, rst, kernel=kernel, bias=bias, slot=slot, window=bits(design.window_width),
            sums=Sums(design), design=design, read=read,
        ),
        kernel_reader(
            clk, rst, start, final_issue=final_issue, config=config, read=read, source=source,
            design=design,
        ),
    )  # fmt: skip


def as_kept(word: int, design: EngineDesign) -> int:
    fmt = design.fmt
    magnitude = word % fmt.sign_bit
    if design.cu_kind != "fused":
        return word
    if magnitude < 1 << fmt.frac_bits:
        return word - magnitude
    return fmt.nan if magnitude > fmt.inf else word


def play(
    design: EngineDesign,
    sizes: list[tuple[int, int]],
    ready: float = 1.0,
    cut_after: int | None = None,
    by: str = "rst",
) -> tuple[Recorded, list[list[tuple[int, int, int]]], list[list[int]]]:
    """Layers of (m, n) maps one after the other; what came out of each, and what went in.

    cut_after: so many words of the first layer have left when it is broken off by a reset, or by
    the next start.
    """
    rng = Random(len(sizes) + design.n_cu)
    bench = BlockBench(
        kept_kernels, "clk rst start final_issue loaded", config=LoadConfig(design),
        sink=Stream(design.fmt.width), source=Stream(design.fmt.width),
        slot_addr=Slot(design).kernel_addr, design=design,
    )  # fmt: skip
    queue = list(sizes)
    words: list[list[int]] = []
    found: list[list[tuple[int, int, int]]] = []
    state = {"at": 0, "told": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {"rst": int(cycle == 0), "start": 0, "final_issue": 0}
        over = bool(seen) and (seen["rst"] or seen["start"])
        if cycle and seen["source_valid"] and seen["source_ready"] and not over:
            found[-1].append((cycle - 1, seen["source_data"], seen["source_last"]))
        if cycle and seen["sink_valid"] and seen["sink_ready"]:
            state["at"] += 1
        cut = len(found) == 1 and cut_after is not None and len(found[0]) == cut_after
        if cut and by == "rst":
            found.append([])
            words.append([])
            return values | {"rst": 1, "sink_valid": 0}
        done = cut or not found or len(found[-1]) == len(words[-1])
        if cycle and done and queue and not seen["start"]:
            m, n = queue.pop(0)
            groups = -(-n // design.n_cu)
            words.append([element(design.fmt, rng) for _ in range(m * n * design.taps)])
            found.append([])
            state.update(at=0, told=0)
            return values | {
                "start": 1, "sink_valid": 0, "config_inputs": m, "config_groups": groups,
                "config_last_cus": n - (groups - 1) * design.n_cu,
            }  # fmt: skip
        mine = words[-1] if words else []
        more = state["at"] < len(mine)
        if cycle and seen["loaded"] and not state["told"] and not seen["start"]:
            state["told"] = 1
            values["final_issue"] = 1
        return values | {
            "sink_valid": int(more), "sink_data": mine[state["at"]] if more else 0,
            "sink_last": int(state["at"] == len(mine) - 1),
            "source_ready": int(rng.random() < ready),
            "slot_addr": rng.randrange(design.kernel_words),
        }  # fmt: skip

    cycles = 40 + sum(int(m * n * design.taps * (1 + 1 / ready) + 40) for m, n in sizes)
    trace = bench.run(drive, cycles)
    assert not queue
    return trace, found, words


SIZES = [(1, 1), (4, 5), (3, 2), (4, 6)]


def sizes_for(design: EngineDesign) -> list[tuple[int, int]]:
    return [(m, n) for m, n in SIZES if -(-n // design.n_cu) <= design.groups]


def check(design: EngineDesign, found: Any, words: list[list[int]]) -> None:
    for left, came in zip(found, words, strict=True):
        assert [word for _, word, _ in left] == [as_kept(word, design) for word in came]
        assert [last for *_, last in left] == [0] * (len(came) - 1) + [1] * bool(came)


@pytest.mark.parametrize("ready", [0.4, *in_full(1.0)])
@pytest.mark.parametrize(
    "design", few(DESIGNS, *DESIGNS[::3]), ids=lambda design: f"k{design.k}{design.cu_kind}"
)
def test_kernels_come_out_as_they_came_in(design: EngineDesign, ready: float) -> None:
    _, found, words = play(design, sizes_for(design), ready)
    check(design, found, words)


@pytest.mark.sample(1)
@pytest.mark.parametrize("design", DESIGNS[1:4], ids=lambda design: f"k{design.k}{design.cu_kind}")
def test_the_twin_gives_each_element_in_the_same_cycle(design: EngineDesign) -> None:
    assert cu_array.twin is cu_array_fast
    _, found, _ = play(design, sizes_for(design), 0.7)
    with behavioural():
        _, twins, _ = play(design, sizes_for(design), 0.7)
    assert twins == found


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"k{design.k}{design.cu_kind}")
def test_a_word_per_cycle_after_the_last_slot(design: EngineDesign) -> None:
    trace, (left,), _ = play(design, [(3, 2)])
    issued = trace.column("final_issue").index(1)
    first = issued + SLOT + design.kernel_read_latency + 3
    assert [cycle for cycle, *_ in left] == list(range(first, first + len(left)))


@pytest.mark.parametrize(("by", "runs"), [("rst", 3), ("start", 2)])
def test_a_stream_is_broken_off(by: str, runs: int) -> None:
    design = DESIGNS[2]
    _, found, words = play(design, [(3, 2), (2, 3)], 0.6, cut_after=20, by=by)
    assert (len(found), len(found[0])) == (runs, 20)
    check(design, found[-1:], words[-1:])


def test_after_a_reset_it_is_as_new() -> None:
    """While it waits for the last slot, in the middle of a kernel, of a group, and at the end."""
    design = design_for(2, 2, fmt=BINARY16)
    bench = BlockBench(
        kernel_reader, "clk rst start final_issue", config=LoadConfig(design),
        read=KernelRead(design), source=Stream(design.fmt.width), design=design,
    )  # fmt: skip
    config = {"config_inputs": 2, "config_groups": 2, "config_last_cus": 1}
    # The last one has neither a start nor a last slot before something left over would show.
    pulses = {"rst": 0, "start": (1, 5), "final_issue": (3, 7)}
    session = at_random({"source_ready": 0.7}, {"read_element": 16}, config, begin=1, pulses=pulses)
    payload = {
        "read_enable": "read_addr read_tap read_cu",
        "source_valid": "source_data source_last",
    }
    bench.as_new_after_reset(session, (4, *range(1, 60, 5)), 60, payload=payload)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize("design", DESIGNS[2::2], ids=lambda design: f"k{design.k}{design.cu_kind}")
def test_kernel_reader_vhdl(design: EngineDesign, replays: Replays) -> None:
    trace, found, words = play(design, [(2, 3), (1, 2)], 0.6)
    check(design, found, words)
    replays(trace)
