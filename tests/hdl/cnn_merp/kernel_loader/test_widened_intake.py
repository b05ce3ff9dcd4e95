"""Kernels of any size up to k x k into words of k x k, in forward and in delta propagation."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelConfig, KernelWrite, LoadConfig
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign

WORD = FloatFormat(8, 3)  # elements are only carried: 12 bits number them, from one on

Layer = tuple[int, int, int]  # m, n, k


def design_for(k: int) -> EngineDesign:
    return EngineDesign(
        fmt=WORD, k=k, n_cu=2, r=1, groups=2, kernel_words=6, max_maps=3, row_words=4,
        max_size=8, fifo_words=2, widened=True,
    )  # fmt: skip


def bench_for(design: EngineDesign) -> BlockBench:
    return BlockBench(
        delta_loader, "clk rst start",
        config=LoadConfig(design).also(size=KernelConfig(design).size), sink=Stream(WORD.width),
        kernel=KernelWrite(design), bias=BiasWrite(design), loading=Loading(flag(), flag()),
        design=design,
    )  # fmt: skip


def load(
    design: EngineDesign, layers: list[Layer], idle: float, lasts: tuple[int, ...] = (-1,)
) -> Recorded:
    """Load kernels 1, 2, ... of each layer; what starts a load is in the trace."""
    rng = np.random.default_rng(5)
    queue = list(layers)
    state = {"at": 0, "words": 1, "valid": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if cycle == 0:
            return {"rst": 1}
        if (cycle == 1 or seen["loading_loaded"]) and queue and not seen["start"]:
            m, n, k = queue.pop(0)
            state.update(at=0, words=m * n * k * k, valid=0)
            groups = -(-n // design.n_cu)
            return {
                "rst": 0, "start": 1, "sink_valid": 0, "config_inputs": m, "config_size": k,
                "config_groups": groups, "config_last_cus": n - (groups - 1) * design.n_cu,
            }  # fmt: skip
        if state["valid"] and seen["sink_ready"]:
            state.update(at=state["at"] + 1, valid=0)
        state["valid"] = state["valid"] or int(rng.random() >= idle)
        last = state["at"] in [each % state["words"] for each in lasts]
        return {
            "start": 0, "sink_valid": state["valid"], "sink_data": state["at"] + 1,
            "sink_last": int(last),
        }  # fmt: skip

    words = sum(m * n * k * k + 12 for m, n, k in layers)
    return bench_for(design).run(drive, 20 + int(words / (1 - idle) ** 2))


def wanted(design: EngineDesign, layer: Layer) -> dict[tuple[int, int], list[int]]:
    """Taps by CU and address: rotated, in the first rows and columns, and +0 behind them."""
    m, n, k = layer
    found = {}
    for i, j in np.ndindex(m, n):
        taps = np.zeros((design.k, design.k), int)
        first = (i * n + j) * k * k + 1
        taps[:k, :k] = np.arange(first, first + k * k).reshape(k, k)[::-1, ::-1]
        found[j % design.n_cu, i * -(-n // design.n_cu) + j // design.n_cu] = taps.ravel().tolist()
    return found


def taps_of(word: int, design: EngineDesign) -> list[int]:
    return [word >> WORD.width * tap & (1 << WORD.width) - 1 for tap in range(design.taps)]


LAYERS = [(2, 3, 3), (1, 4, 1), (3, 2, 2), (2, 2, 1), (3, 4, 3)]


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("idle", [0.0, 0.4])
def test_every_element_lands_in_its_tap_and_the_others_are_zero(k: int, idle: float) -> None:
    design = design_for(k)
    trace = load(design, LAYERS, idle)
    starts = [t for t, start in enumerate(trace.column("start")) if start]
    assert len(starts) == len(LAYERS)
    columns = [trace.column(f"kernel_{name}") for name in ("enable", "addr", "data")]
    for layer, begin, end in zip(LAYERS, starts, [*starts[1:], len(trace.rows)], strict=True):
        found: dict[tuple[int, int], list[int]] = {}
        for enable, addr, data in zip(*(column[begin:end] for column in columns), strict=True):
            for cu in range(design.n_cu):
                if enable >> cu & 1:
                    assert (cu, addr) not in found
                    found[cu, addr] = taps_of(data, design)
        assert found == wanted(design, layer)
        loaded = trace.column("loading_loaded").index(1, begin + 1)
        if not idle:
            m, n, own = layer
            assert loaded - begin == m * n * own * own + 2, "a cycle for each element"
        assert not trace.column("loading_framing_error")[loaded]


@pytest.mark.parametrize("lasts", [(-2,), (0,), (0, -1), ()])
def test_a_misplaced_last_is_a_framing_error(lasts: tuple[int, ...]) -> None:
    trace = load(design_for(3), [(2, 3, 2), (1, 2, 2)], 0.0, lasts)
    second = trace.column("start").index(1, trace.column("start").index(1) + 1)
    assert trace.column("loading_framing_error")[second] == 1
    assert trace.column("loading_framing_error")[second + 1] == 0


def test_after_a_reset_it_is_as_new() -> None:
    """In the middle of a kernel, and of a row of it."""
    design = design_for(3)
    config = {"config_inputs": 2, "config_groups": 2, "config_last_cus": 1, "config_size": 2}
    flags = {"sink_valid": 0.8, "sink_last": 0.3}
    session = at_random(flags, {"sink_data": WORD.width}, config)
    payload = {f"{port}_enable": f"{port}_addr {port}_data" for port in ("kernel", "bias")}
    bench_for(design).as_new_after_reset(
        session, range(1, 50, 3), 50, payload=payload, late={"bias_enable": 2}
    )


@pytest.mark.ghdl
def test_vhdl_replays_the_trace(replays: Replays) -> None:
    design = design_for(3)
    replays(load(design, LAYERS, 0.3))
