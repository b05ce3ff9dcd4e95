"""Bench of the super layer: a model of a CU array with credits, and readers of the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from myhdl import StopSimulation

from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig, Sums
from merp.hdl.cnn_merp.super_layer.super_layer import super_layer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OutputStreams
from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import registers
from merp.testbenches.block.trace import Sample, Trace, run_block

TAIL_CYCLES = 4


@dataclass(frozen=True)
class SuperLayerRun:
    """One run of the super layer.

    Attributes:
        shape: a convolution with 1x1 kernels. Its maps therefore have the size of the sums.
        sums: (images, rows, columns, m) words.
        offer: cyclic; a sum word may arrive in this cycle (if there is a credit for it).
        accept: cyclic; the reader of the maps is ready in this cycle.
        accept_state: cyclic; the reader of the ReLU/pooling mask is ready in this cycle.
        reset_at: cycle, counted from start, in which the run is reset and begun again.
        raw: whether the sums are output unchanged (in a design for partial sums).
        accept_partial: cyclic; the reader of the partial sums is ready in this cycle.
    """

    shape: Shape
    sums: Bits
    offer: Sequence[int] = (1,)
    accept: Sequence[int] = (1,)
    accept_state: Sequence[int] = (1,)
    reset_at: int | None = None
    raw: bool = False
    accept_partial: Sequence[int] = (1,)

    def words(self, design: EngineDesign) -> list[int]:
        """Return sum words as from the CU array; unused lanes carry noise."""
        positions = self.sums.reshape(-1, self.shape.m)
        lanes = -(-self.shape.m // design.n_cu) * design.n_cu
        noise = np.random.default_rng(lanes).integers(
            1 << design.fmt.width, size=(len(positions), lanes)
        )
        noise[:, : self.shape.m] = positions
        packed = []
        for word in noise.reshape(-1, design.n_cu).tolist():
            value = 0
            for element in reversed(word):
                value = value << design.fmt.width | element
            packed.append(value)
        return packed


def output_config(shape: Shape, images: int, design: EngineDesign) -> dict[str, int]:
    """Return the values of the super layer's configuration ports."""
    prefix = "output_"
    return {
        name.removeprefix(prefix): value
        for name, value in registers(shape, images, design).items()
        if name.startswith(prefix)
    }


def run_super_layer(design: EngineDesign, runs: Sequence[SuperLayerRun], cycles: int) -> Trace:
    """Play the runs back to back, and a few more cycles, but at most ``cycles``."""
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "config": OutputConfig(design),
        "sums": Sums(design), "credit": flag(), "out": OutputStreams(
            Stream(design.fmt.width),
            state=Stream(8) if design.state else None,
            partial=Stream(design.partial_width) if design.partial else None,
        ),
        "done": flag(), "design": design, "raw": flag() if design.partial else None,
    }  # fmt: skip
    config_ports = tuple(f"config_{name}" for name in vars(args["config"]))
    streams = ("maps", *["state"] * design.state, *["partial"] * design.partial)
    readers = tuple(f"out_{stream}_ready" for stream in streams)
    raw = ("raw",) if design.partial else ()
    inputs = ("rst", "start", *config_ports, "sums_valid", "sums_data", *readers, *raw)
    queue = [(run, run.reset_at) for run in runs]
    run: SuperLayerRun | None = None
    words: list[int] = []
    reset_at: int | None = None
    sent = since = tail = 0
    credit = design.fifo_words

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal run, words, reset_at, sent, since, tail, credit
        if cycle < 2:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "sums_valid": 0}
        credit += seen["credit"] and not seen["rst"]
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
            values |= dict.fromkeys(raw, int(run.raw))
        elif sent < len(words) and credit and run.offer[since % len(run.offer)]:
            values |= {"sums_valid": 1, "sums_data": words[sent]}
            sent += 1
            credit -= 1
        accepts = {
            "maps": run.accept, "state": run.accept_state, "partial": run.accept_partial,
        }  # fmt: skip
        for stream, reader in zip(streams, readers, strict=True):
            values[reader] = accepts[stream][since % len(accepts[stream])]
        return values

    return run_block(super_layer, args, inputs, drive, cycles, quick=True)
