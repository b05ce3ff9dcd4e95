"""The span of a run: open from start to its last word, errors of framing kept until the next."""

from random import Random

from block_bench import BlockBench, Sample
from merp.hdl.streams.run_span import run_span

OUTPUTS = ("taking", "complete", "framing_error")


def test_runs_of_any_length_begin_and_end() -> None:
    bench = BlockBench(run_span, f"clk rst start taken last final {' '.join(OUTPUTS)}")
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

    trace = bench.run(drive, 600)
    for name in OUTPUTS:
        assert trace.column(name)[1:] == [each[name] for each in wanted][1:]
        assert {each[name] for each in wanted} == {0, 1}
