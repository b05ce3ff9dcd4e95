"""The path of un-pooling: nothing of a run that a reset broke off is left."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream, flag
from merp.hdl.mac_array.output.unpool_path import unpool_path
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import UnpoolConfig
from merp.testbenches.block.reset import as_new_after_reset, at_random
from merp.testbenches.block.trace import Drive
from merp.testbenches.mac_array.designs import small_design

START = 6


def test_after_a_reset_it_is_as_new() -> None:
    """Also between the reset and the next start, where a pooled row would be read again."""
    design = small_design(4, 4, 4, pool_window=2)
    config = UnpoolConfig(design)
    args: dict[str, Any] = {
        "clk": flag(), "rst": flag(), "start": flag(), "config": config,
        "index": IndexWrite(design), "sink": Stream(design.atom_bits),
        "source": Stream(design.atom_bits), "framing_error": flag(), "design": design,
    }  # fmt: skip
    ones = {"on_entry", "pool", "most", "outer", "middle", "first", "further", "last"}
    values = {name: int(name in ones) for name in vars(config)}
    values |= {"blocks": 2, "rows": 2, "last_columns": 1, "last_parts": 1, "atoms": 8}
    fixed = {f"config_{name}": value for name, value in values.items()}
    flags = {"sink_valid": 0.9, "source_ready": 0.9}

    def session(number: int) -> Drive:
        words = {"sink_data": design.atom_bits}
        drive = at_random(number, fixed, flags, words, begin=START + 1)
        return lambda cycle, seen: {**drive(cycle, seen), "start": int(cycle == START)}

    inputs = ("rst", "start", *fixed, *flags, "sink_data", "sink_last")
    as_new_after_reset(
        unpool_path, args, inputs, session, range(START + 1, START + 20), 40,
        payload={"source_data": "source_valid", "source_last": "source_valid"},
    )  # fmt: skip
