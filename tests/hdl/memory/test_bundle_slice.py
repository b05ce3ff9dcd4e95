"""Requests and bursts pass a register slice once, in order, unchanged; clears and the VHDL."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.bundle_slice import bundle_slice
from merp.hdl.memory.requests import Bursts, NumberedRequests, Requests
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover

PORT = MemoryPort(data_bits=64)
MOVER = Mover(port=PORT, word_bits=8)
BUNDLES = {
    "requests": lambda: Requests(PORT),
    "numbered": lambda: NumberedRequests(PORT),
    "bursts": lambda: Bursts(MOVER),
}


@entity
def sliced(clk: Bit, clear: Bit, sink: Any, source: Any) -> Any:
    """A slice as a top."""
    return bundle_slice(clk, clear, sink=sink, source=source)


def bench(kind: str) -> BlockBench:
    return BlockBench(sliced, "clk clear", sink=BUNDLES[kind](), source=BUNDLES[kind]())


def widths(kind: str) -> dict[str, int]:
    """Bits of each field."""
    signals = vars(BUNDLES[kind]())
    return {name: len(each) for name, each in signals.items() if name not in ("valid", "ready")}


def play(kind: str, offered: float, taken: float, clear_at: int = 0, cycles: int = 200) -> Recorded:
    """Random fields that stay until they are taken, at these rates."""
    rng = Random(f"{kind} {offered} {taken}")
    fields = widths(kind)
    inputs = {f"sink_{name}": 0 for name in (*fields, "valid")}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle and seen["sink_valid"] and seen["sink_ready"]:
            inputs["sink_valid"] = 0
        if cycle and not inputs["sink_valid"] and rng.random() < offered:
            inputs.update({f"sink_{name}": rng.getrandbits(size) for name, size in fields.items()})
            inputs["sink_valid"] = 1
        clear = int(not cycle or cycle == clear_at)
        return {**inputs, "source_ready": int(rng.random() < taken), "clear": clear}

    return bench(kind).run(drive, cycles)


def transfers(trace: Recorded, kind: str, name: str) -> list[tuple[int, tuple[int, ...]]]:
    """Cycle and fields of each transfer."""
    names = [f"{name}_{field}" for field in ("valid", "ready", *widths(kind))]
    rows = enumerate(trace.columns(*names))
    return [(cycle, row[2:]) for cycle, row in rows if cycle and row[0] and row[1]]


@pytest.mark.parametrize("rates", [(0.5, 1.0), (1.0, 0.4), (0.7, 0.7)])
@pytest.mark.parametrize("kind", BUNDLES)
def test_each_passes_once_and_unchanged(kind: str, rates: tuple[float, float]) -> None:
    trace = play(kind, *rates)
    sent = [fields for _, fields in transfers(trace, kind, "sink")]
    received = [fields for _, fields in transfers(trace, kind, "source")]
    assert len(sent) > 60
    assert received == sent[: len(received)]
    assert len(sent) - len(received) <= 2
    assert len(set(sent)) > len(sent) // 2, "the fields are drawn at random"


@pytest.mark.parametrize("kind", BUNDLES)
def test_one_per_cycle_a_cycle_later(kind: str) -> None:
    trace = play(kind, 1.0, 1.0)
    sent, received = (transfers(trace, kind, name) for name in ("sink", "source"))
    assert [cycle for cycle, _ in sent] == list(range(1, 200))
    assert [cycle for cycle, _ in received] == [cycle + 1 for cycle, _ in sent[:-1]]


def test_a_clear_drops_what_is_held() -> None:
    trace = play("bursts", 1.0, 0.0, clear_at=50)
    assert trace.columns("source_valid", "sink_ready")[50] == (1, 0)
    assert trace.columns("source_valid", "sink_ready")[51] == (0, 1)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize("kind", BUNDLES)
def test_bundle_slice_vhdl(kind: str, replays: Replays) -> None:
    replays(play(kind, 0.7, 0.6), lint=True)
