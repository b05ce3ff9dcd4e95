"""One process for all clocked ones: whom it takes, and whom it wakes."""

from random import Random
from typing import Any

from myhdl import StopSimulation, always, block, delay, instance

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.streams.stream_fifo import stream_fifo
from merp.testbenches.block.one_clock import (
    PATIENCE,
    Processes,
    signals_in_reach,
    take_processes,
)
from merp.testbenches.block.trace import Sample, run_block

memory, stream, other = [bits(4) for _ in range(3)], Stream(4), flag()
WIDTH = 3


def processes() -> tuple[Any, Any]:
    """One that looks at a memory and drives a stream, one with a state outside signals."""
    deep, bundle = memory, stream
    runs = 0

    def look() -> None:
        bundle.ready.next = deep[0] == WIDTH

    def count() -> None:
        nonlocal runs
        runs = runs + 1

    return look, count


def test_reach_is_every_signal_of_lists_and_bundles() -> None:
    look, _ = processes()
    reach = signals_in_reach(look)
    assert reach is not None
    wanted = [*memory, *vars(stream).values()]
    assert sorted(map(id, reach)) == sorted(map(id, wanted))


def test_a_state_outside_signals_is_no_reach() -> None:
    _, count = processes()
    assert signals_in_reach(count) is None
    table: dict[int, int] = {}

    def keep() -> None:
        other.next = table[0] == 1

    assert signals_in_reach(keep) is None


def test_a_process_runs_again_when_a_signal_that_it_reads_has_changed() -> None:
    woken = []

    @block
    def design(clk: Any, counted: Any) -> Any:
        deep, bundle = memory, stream

        @always(clk.posedge)
        def look() -> None:
            bundle.ready.next = deep[0] == WIDTH

        @always(clk.posedge)
        def count() -> None:
            counted.append(None)

        return look, count

    counted: list[None] = []
    clk = flag()
    elaborated = design(clk, counted)
    taken = take_processes(elaborated, clk)

    @block
    def bench() -> Any:
        processes = Processes(taken)

        def names() -> list[str]:
            return [process.__name__ for process in processes.waiting]

        @instance
        def stimulus() -> Any:
            woken.append(names() == ["look"])  # whatever never ran
            processes.edge()
            for signal, value in ((other, 1), (memory[2], 1), (stream.valid, 1), (memory[0], 3)):
                yield delay(1)
                assert not processes.waiting
                signal.next = value
                yield delay(1)
                woken.append(names() == ["look"])
                processes.edge()
            yield delay(1)
            woken.append(not processes.waiting)  # it never reads its own output, which changed
            assert stream.ready
            raise StopSimulation

        return stimulus

    bench().run_sim(quiet=1)
    assert woken == [True, False, True, True, True, True]
    assert len(counted) == 5


def test_processes_are_rewritten_when_the_patience_is_over() -> None:
    @block
    def design(clk: Any) -> Any:
        deep, bundle = memory, stream

        @always(clk.posedge)
        def look() -> None:
            bundle.ready.next = deep[0] == WIDTH

        return look

    clk = flag()
    taken = take_processes(design(clk), clk)
    (written,) = (part.func for part in taken.clocked)

    @block
    def bench() -> Any:
        processes = Processes(taken, patience=3)

        @instance
        def stimulus() -> Any:
            for edge in range(1, 5):
                memory[0].next = edge
                yield delay(1)
                (process,) = processes.waiting
                assert (process is written) == (edge <= 3)
                processes.edge()
                yield delay(1)
                assert stream.ready == (edge == WIDTH)
            raise StopSimulation

        return stimulus

    bench().run_sim(quiet=1)


def test_a_quick_trace_is_that_of_plain_myhdl() -> None:
    """The inputs of a FIFO are random in each cycle."""
    words, width = 8, 16
    args = {name: flag() for name in ("clk", "rst", "start")} | {
        "sink": Stream(width), "source": Stream(width),
        "fill": count(words + 1), "peak": count(words + 1), "words": words,
    }  # fmt: skip
    rows = {}
    for quick in (False, True):
        rng = Random(1)

        def drive(cycle: int, _: Sample, rng: Random = rng) -> dict[str, int]:
            bits = {name: rng.getrandbits(1) for name in ("sink_valid", "source_ready")}
            seldom = {name: int(rng.random() < 0.01 or not cycle) for name in ("rst", "start")}
            return {"sink_data": rng.getrandbits(width), **bits, **seldom}

        rows[quick] = run_block(stream_fifo, args, (), drive, 2 * PATIENCE, quick=quick).rows
    assert len({row[-2:] for row in rows[True]}) > words
    assert rows[True] == rows[False]
