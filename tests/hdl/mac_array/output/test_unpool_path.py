"""The path of un-pooling: nothing of a run that a reset broke off is left."""

from __future__ import annotations

from block_bench import BlockBench, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.mac_array.output.unpool_path import unpool_path
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.testbenches.mac_array.designs import small_design

START = 6


def test_after_a_reset_it_is_as_new() -> None:
    """Also between the reset and the next start, where a pooled row would be read again."""
    design = small_design(4, 4, 4, pool_window=2)
    config = ArrayUnpoolConfig(design)
    bench = BlockBench(
        unpool_path, "clk rst start framing_error", config=config, index=IndexWrite(design),
        sink=Stream(design.atom_bits), source=Stream(design.atom_bits), design=design,
    )  # fmt: skip
    ones = {"on_entry", "pool", "most", "outer", "middle", "first", "further", "last"}
    values = {name: int(name in ones) for name in vars(config)}
    values |= {"blocks": 2, "rows": 2, "last_columns": 1, "last_parts": 1, "atoms": 8}
    session = at_random(
        {"sink_valid": 0.9, "source_ready": 0.9}, {"sink_data": design.atom_bits},
        {f"config_{name}": value for name, value in values.items()} | {"sink_last": 0},
        begin=START + 1, pulses={"rst": 0, "start": START},
    )  # fmt: skip
    payload = {"source_valid": "source_data source_last"}
    bench.as_new_after_reset(session, range(START + 1, START + 20), 40, payload=payload)
