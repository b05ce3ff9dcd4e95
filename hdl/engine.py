"""The datapath of the forward engine: one super layer, from map words in to map words out.

CNN-MERP section V, figures 7 to 10. What counts words and cycles stands around it.
"""

from __future__ import annotations

from typing import Any

from merp.hdl.bundles import (
    AxiStream,
    BiasWrite,
    KernelWrite,
    LoadConfig,
    MapConfig,
    OutputConfig,
    Slot,
    Sums,
    Verdict,
    bits,
    flag,
    stream_of,
)
from merp.hdl.cu_array import cu_array
from merp.hdl.cu_array_fast import cu_array_fast
from merp.hdl.entity import entity
from merp.hdl.input_side import input_side
from merp.hdl.kernel_loader import kernel_loader
from merp.hdl.super_layer import super_layer
from merp.models.params.design import Design

ARRAYS = {"rtl": cu_array, "behavioural": cu_array_fast}


class Progress:
    """How far a run is, and what went wrong; each stays until the next start."""

    def __init__(self) -> None:
        self.loaded = flag()  # kernels and biases are there
        self.complete = flag()  # all map words were accepted
        self.output_done = flag()  # all words out were transferred
        self.map_error = flag()  # last came with another word than the last
        self.load_error = flag()


@entity
def engine(
    clk: Any,
    rst: Any,
    start: Any,
    map_config: MapConfig,
    load_config: LoadConfig,
    output_config: OutputConfig,
    s_axis_map: AxiStream,
    s_axis_kernel: AxiStream,
    s_axis_bias: AxiStream,
    m_axis_map: AxiStream,
    verdict: Verdict,
    progress: Progress,
    design: Design,
    array: str,
    m_axis_state: AxiStream | None = None,
) -> Any:
    """Load kernels and biases, then compute a super layer for a batch of images.

    verdict       out  the sequencer's of this cycle
    progress      out  how far the run is
    m_axis_state  out  (in a design that writes it) the state for the way back

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle.
    Reset: the run is abandoned.
    """
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    slot = Slot(design)
    held = bits(design.window_width)
    sums = Sums(design)
    popped = flag()

    loader = kernel_loader(
        clk, rst, start, load_config, stream_of(s_axis_kernel), stream_of(s_axis_bias),
        kernel, bias, progress.loaded, progress.load_error, design,
    )  # fmt: skip
    windows = input_side(
        clk, rst, start, progress.loaded, map_config, stream_of(s_axis_map), popped,
        slot, held, verdict, progress.complete, progress.map_error, design,
    )  # fmt: skip
    units = ARRAYS[array](clk, rst, kernel, bias, slot, held, sums, design)
    finish = super_layer(
        clk, rst, start, output_config, sums, popped, stream_of(m_axis_map), progress.output_done,
        design, None if m_axis_state is None else stream_of(m_axis_state),
    )  # fmt: skip
    return loader, windows, units, finish
