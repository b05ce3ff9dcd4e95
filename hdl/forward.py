"""The forward engine: one super layer, from map words in to map words out.

CNN-MERP section V, figures 7 to 10.
"""

from __future__ import annotations

from typing import Any

from merp.hdl.bundles import (
    AxiStream,
    BiasWrite,
    ForwardStatus,
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
from merp.hdl.run_counters import run_counters
from merp.hdl.super_layer import super_layer
from merp.hdl.word_counter import word_counter
from merp.models.params.design import Design

ARRAYS = {"rtl": cu_array, "behavioural": cu_array_fast}


@entity
def forward(
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
    status: ForwardStatus,
    design: Design,
    array: str = "rtl",
) -> Any:
    """Compute one super layer: convolution, ReLU and pooling, for a batch of images.

    start begins a run; the configuration must be stable from start to status_done. Kernels (order
    m, n, row, column) and biases are loaded first, then maps stream in and out in the order image,
    row, column, map. The next run needs no reset.

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle.
    Reset: synchronous, active high; the run is abandoned.
    """
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    loaded = flag()
    load_error = flag()
    slot = Slot(design)
    held = bits(design.window_width)
    verdict = Verdict(design)
    complete = flag()
    map_error = flag()
    sums = Sums(design)
    popped = flag()
    output_done = flag()

    loader = kernel_loader(
        clk, rst, start, load_config, stream_of(s_axis_kernel), stream_of(s_axis_bias),
        kernel, bias, loaded, load_error, design,
    )  # fmt: skip
    windows = input_side(
        clk, rst, start, loaded, map_config, stream_of(s_axis_map), popped,
        slot, held, verdict, complete, map_error, design,
    )  # fmt: skip
    units = ARRAYS[array](clk, rst, kernel, bias, slot, held, sums, design)
    finish = super_layer(
        clk, rst, start, output_config, sums, popped, stream_of(m_axis_map), output_done, design
    )
    words = [
        word_counter(clk, rst, start, stream, counted)
        for stream, counted in (
            (s_axis_map, status.map_in),
            (s_axis_kernel, status.kernel),
            (s_axis_bias, status.bias),
            (m_axis_map, status.map_out),
        )
    ]
    counters = run_counters(
        clk, rst, start, s_axis_map, m_axis_map, loaded, complete, output_done, verdict,
        map_error, load_error, status,
    )  # fmt: skip
    return loader, windows, units, finish, words, counters
