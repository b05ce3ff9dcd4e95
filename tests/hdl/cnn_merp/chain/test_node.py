"""What other nodes send waits, behind a reset, until the node's start is over."""

from block_bench import BlockBench, Sample
from merp.hdl.cnn_merp.chain.node import from_start
from merp.hdl.cnn_merp.chain.ports import axis

STREAMS = ("maps", "sums")
RESETS, STARTS = (0, 11), (3, 7, 14)
OPEN = (4, 5, 6, 8, 9, 10, 11, 15, 16)


def test_words_pass_from_the_cycle_behind_a_start_on() -> None:
    sides = {side: axis(dict.fromkeys(STREAMS, 4)) for side in ("sinks", "sources")}
    inputs = [
        "rst", "start", *(f"sources_{name}_tready" for name in STREAMS),
        *(f"sinks_{name}_{field}" for name in STREAMS for field in ("tdata", "tvalid", "tlast")),
    ]  # fmt: skip

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = dict.fromkeys(inputs, 1)
        return values | {"rst": int(cycle in RESETS), "start": int(cycle in STARTS)}

    trace = BlockBench(from_start, "clk rst start", **sides).run(drive, 17)
    for name in STREAMS:
        for pin in (f"sources_{name}_tvalid", f"sinks_{name}_tready"):
            found = [cycle for cycle, bit in enumerate(trace.column(pin)) if bit]
            assert tuple(found) == OPEN
