"""Arrays of the kernel update under test: run one on a script, and collect what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from merp.hdl.bundles import Slot, bits, flag
from merp.hdl.gradient_bundles import READ_LATENCY, GradientRead, RowSlot
from merp.models.params.design import Design
from merp.testbenches.trace import Trace, run_block


def play(array: Callable[..., Any], design: Design, cycles: Sequence[Mapping[str, int]]) -> Trace:
    """Run an array; ``cycles`` has each cycle's inputs by flattened name."""
    args = {
        "clk": flag(), "rst": flag(),
        "slot": RowSlot(design) if design.ku_kind == "row" else Slot(design),
        "opening": flag(), "window": bits(design.window_width),
        "deltas": bits(design.n_cu * design.fmt.width), "read": GradientRead(design),
        "gradient": bits(design.fmt.width), "design": design,
    }  # fmt: skip
    return run_block(array, args, tuple(cycles[0]), lambda t, _: cycles[t], len(cycles))


def read_out(trace: Trace) -> list[int]:
    """The elements that were asked for, in that order."""
    enable, gradient = trace.column("read_enable"), trace.column("gradient")
    return [gradient[t + READ_LATENCY] for t, on in enumerate(enable) if on]
