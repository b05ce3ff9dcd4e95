from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, StopSimulation, always, block, delay, instance

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import behavioural, entity, stubs


@entity
def increment(clk: Any, d: Any, q: Any, step: int = 1) -> Any:
    """Add ``step`` each clock."""

    @always(clk.posedge)
    def add() -> None:
        q.next = (d + step) % 256

    return add


@entity
def chains(clk: Any, d: Any, q: Any, rows: int, columns: int) -> Any:
    """Rows of increments, one row after the other."""
    steps = [d] + [bits(8) for _ in range(rows * columns - 1)] + [q]
    return [
        [increment(clk, steps[r * columns + c], steps[r * columns + c + 1]) for c in range(columns)]
        for r in range(rows)
    ]


def test_simulates_like_a_block_also_in_nested_comprehensions() -> None:
    clk, d, q = Signal(bool(0)), bits(8, 5), bits(8)
    seen = []

    @block
    def bench() -> Any:
        dut = chains(clk, d, q, 2, 3)

        @instance
        def stimulus() -> Any:
            for _ in range(8):
                yield delay(1)
                seen.append(int(q))
                clk.next = not clk
                yield delay(1)
                clk.next = not clk
            raise StopSimulation

        return dut, stimulus

    simulation = bench()
    simulation.run_sim(quiet=1)
    simulation.quit_sim()
    assert seen == [0, 1, 2, 3, 4, 5, 11, 11]


def test_keeps_name_and_docstring() -> None:
    assert increment.__name__ == "increment"
    assert increment.__doc__ == "Add ``step`` each clock."
    made = increment(Signal(bool(0)), bits(8), bits(8))
    assert made.func is increment.func
    assert len(made.subs) == 1


def test_stubs_are_empty_and_remember_their_arguments() -> None:
    clk, d, q = Signal(bool(0)), bits(8), bits(8)
    with stubs():
        stub = increment(clk, d, q, step=3)
    assert stub.subs == []
    assert stub.args == (clk, d, q)
    assert stub.kwargs == {"step": 3}
    assert increment(clk, d, q).subs


def test_stubs_end_with_an_error_inside() -> None:
    with pytest.raises(KeyError), stubs():
        raise KeyError
    assert increment(Signal(bool(0)), bits(8), bits(8)).subs


@entity
def increment_fast(clk: Any, d: Any, q: Any, step: int = 1) -> Any:
    """Behave as ``increment``, with a state that no hardware has."""
    seen: list[int] = []

    @always(clk.posedge)
    def add() -> None:
        seen.append(int(d))
        q.next = (seen[-1] + step) % 256

    return add


@entity(twin=increment_fast)
def twinned(clk: Any, d: Any, q: Any, step: int = 1) -> Any:
    """Add ``step`` each clock."""

    @always(clk.posedge)
    def add() -> None:
        q.next = (d + step) % 256

    return add


@entity
def holder(clk: Any, d: Any, q: Any) -> Any:
    """An entity with a twin inside, in a comprehension too."""
    middle = bits(8)
    return twinned(clk, d, middle), [twinned(clk, middle, q, step=2) for _ in range(1)]


BENCH = BlockBench(holder, "clk", d=bits(8), q=bits(8))


def functions(block: Any) -> list[str]:
    return [sub.func.__name__ for sub in block.subs]


def test_a_twin_is_built_where_the_context_asks_for_it() -> None:
    assert functions(holder(**BENCH.args)) == ["twinned", "twinned"]
    with behavioural():
        assert functions(holder(**BENCH.args)) == ["increment_fast", "increment_fast"]
        assert increment(**BENCH.args).func.__name__ == "increment"  # it has none
    assert functions(holder(**BENCH.args)) == ["twinned", "twinned"]


def test_a_twin_gives_the_same_trace() -> None:
    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        return {"d": 37 * cycle % 256}

    hardware = BENCH.run(drive, 20)
    with behavioural():
        assert BENCH.run(drive, 20).rows == hardware.rows


def test_conversion_takes_the_hardware_whatever_the_context(tmp_path: Path) -> None:
    before = convert(holder, BENCH.args, "vhdl", tmp_path / "before").files
    with behavioural():
        within = convert(holder, BENCH.args, "vhdl", tmp_path / "within").files
        alone = convert(twinned, BENCH.args, "vhdl", tmp_path / "alone").files
    assert [file.read_bytes() for file in within] == [file.read_bytes() for file in before]
    assert alone[-1].name == "twinned.vhd"
