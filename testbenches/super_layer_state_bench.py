"""The super layer that writes the state for the way back, with a reader for each of its streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from myhdl import StopSimulation

from merp.hdl.bundles import OutputConfig, Stream, Sums, flag
from merp.hdl.super_layer import super_layer
from merp.models.params.design import Design
from merp.testbenches.super_layer_bench import TAIL_CYCLES, OutputRun, output_config
from merp.testbenches.trace import Sample, Trace, run_block


@dataclass(frozen=True)
class StateRun(OutputRun):
    """One run of the super layer.

    Attributes:
        accept_state: cyclic; the reader of the state is ready.
    """

    accept_state: Sequence[int] = (1,)


def run_with_state(design: Design, runs: Sequence[StateRun], cycles: int) -> Trace:
    """Play the runs back to back, and a few cycles more; ``cycles`` at the most."""
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "config": OutputConfig(design),
        "sums": Sums(design), "popped": flag(), "source": Stream(design.fmt.width),
        "done": flag(), "design": design, "state": Stream(8) if design.state else None,
    }  # fmt: skip
    config_ports = tuple(f"config_{name}" for name in vars(args["config"]))
    readers = ("source_ready", "state_ready") if design.state else ("source_ready",)
    inputs = ("rst", "start", *config_ports, "sums_valid", "sums_data", *readers)
    queue = [(run, run.reset_at) for run in runs]
    run: StateRun | None = None
    words: list[int] = []
    reset_at: int | None = None
    sent = since = tail = 0
    credit = design.fifo_words

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal run, words, reset_at, sent, since, tail, credit
        if cycle < 2:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "sums_valid": 0}
        credit += seen["popped"] and not seen["rst"]
        if run is not None:
            since += 1
            if reset_at == since:
                queue.insert(0, (run, None))
                run, credit = None, design.fifo_words
                return values | {"rst": 1}
            if seen["done"] and not seen["start"]:
                run = None
        if run is None:
            if not queue:
                tail += 1
                if tail > TAIL_CYCLES:
                    raise StopSimulation
                return values
            run, reset_at = queue.pop(0)
            words, sent, since = run.words(design), 0, 0
            values |= output_config(run.shape, len(run.sums), design) | {"start": 1}
        elif sent < len(words) and credit and run.offer[since % len(run.offer)]:
            values |= {"sums_valid": 1, "sums_data": words[sent]}
            sent += 1
            credit -= 1
        accepts = (run.accept, run.accept_state)
        for reader, accept in zip(readers, accepts, strict=False):
            values[reader] = accept[since % len(accept)]
        return values

    return run_block(super_layer, args, inputs, drive, cycles)
