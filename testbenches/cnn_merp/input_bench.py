"""Play runs on the input side only, with arbitrary stalls of map words and of finished sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.phases.input_path import InputPorts, input_path
from merp.hdl.cnn_merp.ports.maps import MapConfig, RowMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.machines.cnn_merp.params.latencies import SLOT
from merp.models.machines.cnn_merp.params.registers import registers
from merp.testbenches.block.trace import Sample, Trace, run_block

CAUSES = ("issue", "stall_input", "stall_output", "stall_hazard")
ROWS = 2  # rows of deltas that are stored


@dataclass(frozen=True)
class InputRun:
    """One run of the input side: a shape, its map words, and cyclic patterns of stalls."""

    shape: Shape
    images: int
    words: Sequence[int]
    offer: Sequence[int] = (1,)  # cyclic: a new word may be presented in this cycle
    # Cyclic: a finished word leaves the FIFO after the sums, or a row of deltas arrives.
    pop: Sequence[int] = (1,)
    last: int | None = None  # the word with ``last``; None is the final word


def make_run(shape: Shape, images: int, seed: int, **pressure: Any) -> InputRun:
    """Create a run whose words are all different and not zero."""
    count = images * shape.rows * shape.columns * shape.n
    words = np.random.default_rng(seed).permutation(np.arange(1, 65536))[:count]
    return InputRun(shape, images, [int(w) for w in words], **pressure)


def random_shape(rng: np.random.Generator, k: int) -> Shape:
    """Return a random small layer of k x k kernels."""
    while True:
        try:
            return Shape(
                n=int(rng.integers(1, 4)),
                m=int(rng.integers(1, 8)),
                k=k,
                rows=int(rng.integers(1, 8)),
                columns=int(rng.integers(1, 8)),
                stride=int(rng.integers(1, k + 3)),
                pad=int(rng.integers(0, k)),
            )
        except ValueError:
            continue


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    """Return a random pattern of stalls: no stalls, or a density of 0.2, 0.5 or 0.9."""
    if rng.random() < 0.4:
        return (1,)
    return (*(int(b) for b in rng.random(37) < rng.choice([0.2, 0.5, 0.9])), 1)


def run_input_path(
    design: EngineDesign, runs: Sequence[InputRun], cycles: int, reset_at: int | None = None
) -> Trace:
    """Play the runs back to back; ``cycles`` must suffice for all of them.

    If the ``ku_kind`` of the design is ``row``, the input side sweeps along rows. If the design
    folds, the words of folded shapes are in the order of maps, and include the padding words. In
    cycle ``reset_at`` everything is reset, and no further run begins.
    """
    by_rows = design.ku_kind == "row"
    config = (RowMapConfig if by_rows else MapConfig)(design)
    folding = {"folded": flag()} if design.folded else {}
    ports = InputPorts(
        enable=flag(1),
        config=config,
        sink=Stream(design.fmt.width),
        credit=flag(),
        slot=(RowSlot if by_rows else Slot)(design),
        held=bits(design.window_width),
        verdict=Verdict(design),
        complete=flag(),
        framing_error=flag(),
        **folding,
    )
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "ports": ports, "design": design,
        "sums": "row" if by_rows else "map",
    }  # fmt: skip
    inputs = (
        "rst", "start", "enable", *(f"config_{name}" for name in vars(config)), "sink_data",
        "sink_valid", "sink_last", "credit", *folding,
    )  # fmt: skip
    queue = list(runs)
    run: InputRun | None = None
    sent = 0  # words transferred
    waiting = 0  # finished words in the FIFO after the sums, or rows of deltas not yet arrived
    rows_there = 0
    since = 0
    presenting = False
    quiet = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal run, sent, waiting, rows_there, since, presenting, quiet
        if cycle < 2:
            return {"rst": 1}
        if reset_at is not None and cycle >= reset_at:
            return {"rst": int(cycle == reset_at), "start": 0, "credit": 0}
        values = {"rst": 0, "start": 0, "credit": 0}
        if run is not None:
            since += 1
            if by_rows:
                rows_there -= seen["slot_valid"] and seen["slot_row_last"]
            else:
                waiting += seen["slot_valid"] and seen["slot_last"]
            if presenting and seen["sink_ready"]:
                sent += 1
                presenting = False
            stirring = any(seen[f"verdict_{name}"] for name in CAUSES)
            over = sent == len(run.words) and seen["complete"] and not stirring
            quiet = quiet + 1 if over and not seen["start"] else 0
            if quiet > SLOT:
                run = None
        if run is None and queue:
            run = queue.pop(0)
            sent, waiting, since, presenting, quiet = 0, 0, 0, False, 0
            if by_rows:
                waiting = run.images * run.shape.out_rows
                config = kernel_update_registers(run.shape, run.images, design, Rates(rate=0))
            else:
                config = registers(run.shape, run.images, design)
            values |= {
                name.removeprefix("map_"): value
                for name, value in config.items()
                if name.startswith("map_config")
            }
            if design.folded:
                values["folded"] = config["fold_config_folded"]
            return values | {"start": 1, "sink_valid": 0}
        if run is None:
            return values
        if not presenting and sent < len(run.words) and run.offer[since % len(run.offer)]:
            presenting = True
            values["sink_data"] = run.words[sent]
            last = len(run.words) - 1 if run.last is None else run.last
            values["sink_last"] = int(sent == last)
        values["sink_valid"] = int(presenting)
        if waiting and rows_there < ROWS and run.pop[since % len(run.pop)]:
            waiting -= 1
            rows_there += by_rows
            values["credit"] = 1
        return values

    return run_block(input_path, args, inputs, drive, cycles, quick=True)
