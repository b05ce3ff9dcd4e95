"""Kernels on their way into delta propagation: transposed and rotated, biases +0."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite, LoadConfig
from merp.models.base.formats import FloatFormat
from merp.models.golden.delta import swapped
from merp.models.machines.cnn_merp.params.design import EngineDesign

WORD = FloatFormat(8, 3)  # elements are only carried: 12 bits number them


def design_for(k: int, n_cu: int) -> EngineDesign:
    return EngineDesign(
        fmt=WORD, k=k, n_cu=n_cu, r=1, groups=3, kernel_words=12, max_maps=4, row_words=4,
        max_size=8, fifo_words=3,
    )  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    bias = BiasWrite(design)
    bias.data = bits(WORD.width, 5)  # a zero is written, whatever stood there from power-up on
    return BlockBench(
        delta_loader, "clk rst start", config=LoadConfig(design), sink=Stream(WORD.width),
        kernel=KernelWrite(design), bias=bias, loading=Loading(flag(), flag()), design=design,
    )  # fmt: skip


def load(
    design: EngineDesign,
    sizes: list[tuple[int, int]],
    idle: float = 0.0,
    lasts: tuple[int, ...] = (-1,),
    reset_at: int | None = None,
) -> tuple[Recorded, list[int]]:
    """Load kernels 0, 1, 2, ... of (m, n) maps, one layer after the other."""
    rng = np.random.default_rng(5)
    queue = list(sizes)
    starts: list[int] = []
    state = {"at": 0, "size": 0, "valid": 0, "since": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        state["since"] += 1
        if reset_at is not None and starts and state["since"] == reset_at and len(starts) == 1:
            return {"rst": 1, "sink_valid": 0}
        if cycle == 0:
            return {"rst": 1}
        if (
            not starts or seen["loading_loaded"] or (reset_at and state["since"] == reset_at + 3)
        ) and (queue and not seen["start"]):
            m, n = queue.pop(0)
            starts.append(cycle)
            state.update(at=0, size=m * n * design.taps, valid=0, since=0)
            groups = -(-n // design.n_cu)
            return {
                "rst": 0, "start": 1, "sink_valid": 0, "config_inputs": m,
                "config_groups": groups, "config_last_cus": n - (groups - 1) * design.n_cu,
            }  # fmt: skip
        if state["valid"] and seen["sink_ready"]:
            state["at"] += 1
            state["valid"] = 0
        if not state["valid"]:  # also after the last word: nothing more may be taken
            state["valid"] = int(rng.random() >= idle)
        return {
            "rst": 0, "start": 0, "sink_valid": state["valid"],
            "sink_data": state["at"] % (1 << WORD.width),
            "sink_last": int(state["at"] in [last % state["size"] for last in lasts]),
        }  # fmt: skip

    cycles = 20 + sum(int((m * n * design.taps + 12) / (1 - idle) ** 2) for m, n in sizes)
    trace = bench_for(design).run(drive, cycles + (reset_at or 0))
    return trace, starts


def writes(
    trace: Recorded, begin: int, end: int, port: str, n_cu: int
) -> dict[tuple[int, int], int]:
    """Word by (CU, address), from the cycles begin to end; each may be written once."""
    found: dict[tuple[int, int], int] = {}
    enable, addr, data = (trace.column(f"{port}_{f}") for f in ("enable", "addr", "data"))
    for t in range(begin, end):
        for j in range(n_cu):
            if enable[t] >> j & 1:
                assert (j, addr[t]) not in found
                found[j, addr[t]] = data[t]
    return found


def check(
    design: EngineDesign, sizes: list[tuple[int, int]], trace: Recorded, starts: list[int]
) -> None:
    assert len(starts) == len(sizes)
    loaded = trace.column("loading_loaded")
    for (m, n), begin, end in zip(sizes, starts, [*starts[1:], len(trace.rows)], strict=True):
        k, n_cu = design.k, design.n_cu
        groups = -(-n // n_cu)
        words = np.arange(m * n * k * k, dtype=np.uint32).reshape(m, n, k, k)
        golden = {
            (o % n_cu, i * groups + o // n_cu): sum(
                int(w) << (WORD.width * tap) for tap, w in enumerate(kernel.reshape(-1))
            )
            for o, kernels in enumerate(swapped(words))
            for i, kernel in enumerate(kernels)
        }
        assert writes(trace, begin, end, "kernel", n_cu) == golden
        zeros = writes(trace, begin, end, "bias", n_cu)
        assert zeros == {(j, g): 0 for j in range(n_cu) for g in range(groups)}
        ready = [t for t in range(begin + 1, end) if loaded[t]]
        assert ready
        last_write = max(t for t in range(begin, end) if trace.column("kernel_enable")[t])
        assert ready[0] > last_write
        transfers = sum(
            v and r
            for v, r in zip(
                trace.column("sink_valid")[begin:end],
                trace.column("sink_ready")[begin:end],
                strict=True,
            )
        )
        assert transfers == m * n * k * k
        assert not any(trace.column("loading_framing_error")[ready[0] : end])


SIZES = [(1, 1), (4, 5), (3, 2), (2, 7), (4, 6)]


@pytest.mark.parametrize(("k", "n_cu"), [(1, 1), (1, 3), (2, 3), (3, 2), (3, 4)])
@pytest.mark.parametrize("idle", [0.0, 0.4])
def test_every_kernel_lands_transposed_and_rotated(k: int, n_cu: int, idle: float) -> None:
    design = design_for(k, n_cu)
    sizes = [(m, n) for m, n in SIZES if -(-n // n_cu) <= design.groups]
    check(design, sizes, *load(design, sizes, idle))


def test_a_word_per_cycle() -> None:
    design = design_for(3, 2)
    trace, (begin,) = load(design, [(4, 5)])
    assert trace.column("loading_loaded").index(1, begin) - begin == 4 * 5 * 9 + 2


@pytest.mark.parametrize("lasts", [(-2,), (0,), (0, -1), ()])
def test_a_misplaced_last_is_a_framing_error(lasts: tuple[int, ...]) -> None:
    trace, (_, second) = load(design_for(2, 2), [(2, 3), (1, 2)], lasts=lasts)
    assert trace.column("loading_framing_error")[second] == 1
    assert trace.column("loading_framing_error")[second + 1] == 0


def test_a_reset_abandons_the_load() -> None:
    design = design_for(2, 2)
    trace, starts = load(design, [(4, 5), (2, 3)], reset_at=20)
    begin, second = starts
    quiet = range(begin + 21, second)
    assert not any(trace.column(n)[t] for t in quiet for n in ("sink_ready", "loading_loaded"))
    check(design, [(2, 3)], trace, [second])


def test_after_a_reset_it_is_as_new() -> None:
    """In the middle of a kernel, a group and the zeros for the biases, and when all is loaded."""
    design = design_for(2, 2)
    config = {"config_inputs": 2, "config_groups": 2, "config_last_cus": 1}
    flags = {"sink_valid": 0.8, "sink_last": 0.3}
    session = at_random(flags, {"sink_data": WORD.width}, config)
    payload = {f"{port}_enable": f"{port}_addr {port}_data" for port in ("kernel", "bias")}
    # The zero of a bias that was on its way is still written.
    late = {"bias_enable": 2}
    bench_for(design).as_new_after_reset(session, range(1, 50, 3), 50, payload=payload, late=late)


def test_loaded_ends_with_the_next_start() -> None:
    trace, starts = load(design_for(2, 2), [(2, 3), (1, 2)])
    assert trace.column("loading_loaded")[starts[1] : starts[1] + 3] == [1, 0, 0]


@pytest.mark.ghdl
@pytest.mark.parametrize(("k", "n_cu"), [(1, 2), (3, 2)])
def test_vhdl_agrees(k: int, n_cu: int, replays: Replays) -> None:
    trace, _ = load(design_for(k, n_cu), [(4, 5), (3, 2)], 0.2)
    replays(trace)
