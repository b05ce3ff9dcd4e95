import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from myhdl import ResetSignal, Signal, always, always_comb, always_seq, enum

import merp.hdl.conversion.convert as module
from block_bench import BlockBench, Replays
from merp.cosim.block.replay import lint_verilog
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.conversion.entity import entity
from trap_wiring import adder


@dataclass(frozen=True)
class Sizes:
    """Parameters of the design."""

    k: int
    width: int
    depth: int


@entity
def leaf(clk: Any, a: Any, b: Any, y: Any, sizes: Sizes) -> Any:
    """Multiply two words and register the product."""
    width = sizes.width
    full = bits(2 * width)

    @always_comb
    def multiply() -> None:
        full.next = a * b

    @always(clk.posedge)
    def product() -> None:
        y.next = full[width:]

    return multiply, product


@entity
def ram(clk: Any, write: Any, addr: Any, data: Any, y: Any, depth: int) -> Any:
    """Memory with registered read; a write shows one cycle later."""
    words = [bits(len(data), i % 3) for i in range(depth)]

    @always(clk.posedge)
    def access() -> None:
        if write:
            words[addr].next = data
        y.next = words[addr]

    return access


@entity
def unit(clk: Any, window: Any, kernel: Any, y: Any, sizes: Sizes) -> Any:
    """Sum of k*k products of the words of two vectors."""
    taps, w = sizes.k * sizes.k, sizes.width
    terms = [bits(w) for _ in range(taps)]
    sums = [terms[0]] + [bits(w) for _ in range(taps - 2)] + [y]
    grid = [
        [
            leaf(
                clk,
                window((r * sizes.k + c + 1) * w, (r * sizes.k + c) * w),
                kernel((r * sizes.k + c + 1) * w, (r * sizes.k + c) * w),
                terms[r * sizes.k + c],
                sizes,
            )
            for c in range(sizes.k)
        ]
        for r in range(sizes.k)
    ]
    tree = [adder(sums[i], terms[i + 1], sums[i + 1]) for i in range(taps - 1)]
    return grid, tree


@entity
def nested(clk: Any, rst: Any, sink: Stream, source: Stream, sizes: Sizes, units: int) -> Any:
    """Read a window, wait, and hand out the sum of the units."""
    t_state = enum("ST_TAKE", "ST_WAIT", "ST_GIVE")
    state = Signal(t_state.ST_TAKE)
    window = bits(sizes.k * sizes.k * sizes.width)
    addr = bits(2)
    accepted = flag()
    count = bits(2)
    kernels = [bits(len(window)) for _ in range(units)]
    rams = [ram(clk, accepted, addr, window, kernels[i], sizes.depth) for i in range(units)]
    sums = [bits(sizes.width) for _ in range(units)]
    computed = [unit(clk, window, kernels[i], sums[i], sizes) for i in range(units)]
    largest = units - 1

    @always_comb
    def handshake() -> None:
        accepted.next = state == t_state.ST_TAKE and sink.valid
        sink.ready.next = state == t_state.ST_TAKE
        source.valid.next = state == t_state.ST_GIVE

    @always_seq(clk.posedge, reset=rst)
    def control() -> None:
        if state == t_state.ST_TAKE:
            if sink.valid:
                window.next = sink.data
                addr.next = sink.data[2:]
                source.last.next = sink.last
                count.next = 0
                state.next = t_state.ST_WAIT
        elif state == t_state.ST_WAIT:
            source.data.next = sums[int(addr) % units]
            if count == 3:
                state.next = t_state.ST_GIVE
            else:
                count.next = count + 1
        else:
            if addr > largest:
                source.last.next = True
            if source.ready:
                state.next = t_state.ST_TAKE

    return rams, computed, handshake, control


def bench_for(k: int = 2, units: int = 2) -> BlockBench:
    sizes = Sizes(k, 16, 4)
    return BlockBench(
        nested, "clk", rst=ResetSignal(0, active=1, isasync=False), sink=Stream(k * k * 16),
        source=Stream(16), sizes=sizes, units=units,
    )  # fmt: skip


# --- structure -----------------------------------------------------------------------------------


@pytest.mark.ghdl
def test_vhdl_has_the_bits_of_the_simulation(replays: Replays) -> None:
    rng = random.Random(1)

    def drive(cycle: int, _seen: Any) -> dict[str, int]:
        return {
            "rst": int(cycle > 20 and rng.random() < 0.05),
            "sink_data": rng.getrandbits(64),
            "sink_valid": rng.getrandbits(1),
            "sink_last": rng.getrandbits(1),
            "source_ready": rng.getrandbits(1),
        }

    assert replays(bench_for().run(drive, 200)) == 200


@pytest.mark.verilator
def test_verilog_passes_verilator(tmp_path: Path) -> None:
    lint_verilog(nested, bench_for().args, tmp_path)


def _top(export: Export) -> str:
    return export.files[-1].read_text(encoding="ascii")


def test_one_file_per_configuration_in_dependency_order(tmp_path: Path) -> None:
    export = convert(nested, bench_for(k=3, units=4).args, "vhdl", tmp_path, check=True)
    assert [file.name for file in export.files] == [
        "hdl_support.vhd", "ram.vhd", "leaf.vhd", "adder.vhd", "unit.vhd", "nested.vhd"
    ]  # fmt: skip
    assert export.instances == {"ram": 4, "leaf": 36, "adder": 32, "unit": 4, "nested": 1}
    assert export.top == "nested"
    [unit] = export.configurations["unit"]
    assert unit.block.func.__name__ == "unit"
    assert [port.name for port in export.ports] == [
        port.name for port in export.configurations["nested"][0].ports
    ]
    assert set(export.outputs) == {"sink_ready", "source_data", "source_valid", "source_last"}
    assert "sink_data" in export.inputs
    assert sorted(tmp_path.iterdir()) == sorted(export.files)


def test_cost_follows_configurations_not_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elaborated = []

    def elaborate(deco: Any, bound: Any) -> Any:
        elaborated.append(deco.func.__name__)
        return original(deco, bound)

    original = module.elaborate
    monkeypatch.setattr(module, "elaborate", elaborate)
    export = convert(nested, bench_for(k=5, units=48).args, "vhdl", tmp_path, check=True)
    assert export.instances["leaf"] == 1200
    assert sorted(elaborated) == sorted(export.instances)


def test_names_come_from_the_source(tmp_path: Path) -> None:
    text = (tmp_path / "unit.vhd").as_posix()
    convert(nested, bench_for().args, "vhdl", tmp_path, fold=False, check=True)
    unit_text = Path(text).read_text()
    assert "grid_1_0 : entity work.leaf" in unit_text
    assert "a   => window(47 downto 32)," in unit_text
    assert "signal terms_3 : unsigned(15 downto 0)" in unit_text
    top = (tmp_path / "nested.vhd").read_text()
    assert "computed_1 : entity work.unit" in top
    assert "type t_state is (ST_TAKE, ST_WAIT, ST_GIVE)" in top


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_top_ports_are_plain_vectors_and_headers_have_no_date(hdl: Any, tmp_path: Path) -> None:
    export = convert(nested, bench_for().args, hdl, tmp_path, check=True)
    for file in export.files[1 if hdl == "vhdl" else 0 :]:
        lines = file.read_text().splitlines()
        assert "SPDX-License-Identifier: Apache-2.0" in lines[0]
        assert not re.search(r"20\d\d-|\d\d:\d\d:\d\d", "\n".join(lines))
        assert str(tmp_path) not in file.read_text()
    top = _top(export)
    ports = top[: top.index(");")]
    assert "unsigned" not in ports.replace("std_logic_unsigned", "")
    assert "sizes: k = 2; width = 16; depth = 4\n" in top
    assert "Read a window, wait, and hand out the sum of the units." in top
