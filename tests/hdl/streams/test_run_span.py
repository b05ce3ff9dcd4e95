"""The span of a run: open from start to its last word, errors of framing kept until the next."""

from __future__ import annotations

from random import Random

from merp.hdl.base.signals import flag
from merp.hdl.streams.run_span import run_span
from merp.testbenches.block.trace import Sample, run_block

INPUTS = ("rst", "start", "taken", "last", "final")
OUTPUTS = ("taking", "complete", "framing_error")


def test_runs_of_any_length_begin_and_end() -> None:
    args = {name: flag() for name in ("clk", *INPUTS, *OUTPUTS)}
    rng = Random(0)
    state = dict.fromkeys(OUTPUTS, 0)
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal state
        wanted.append(dict(state))
        given = {
            "rst": int(cycle == 0 or rng.random() < 0.02),
            "start": int(rng.random() < 0.05),
            "taken": int(rng.random() < 0.6),
            "last": int(rng.random() < 0.2),
            "final": int(rng.random() < 0.1),
        }
        if given["taken"] and given["last"] != given["final"]:
            state["framing_error"] = 1
        if given["taken"] and given["final"]:
            state |= {"taking": 0, "complete": 1}
        if given["start"]:
            state = {"taking": 1, "complete": 0, "framing_error": 0}
        if given["rst"]:
            state = dict.fromkeys(OUTPUTS, 0)
        return given

    trace = run_block(run_span, args, INPUTS, drive, 600)
    for name in OUTPUTS:
        assert trace.column(name)[1:] == [each[name] for each in wanted][1:]
        assert {each[name] for each in wanted} == {0, 1}
