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
    Verdict,
    flag,
    stream_of,
)
from merp.hdl.engine import Progress, engine
from merp.hdl.entity import entity
from merp.hdl.kernel_loader import kernel_loader
from merp.hdl.run_counters import run_counters
from merp.hdl.word_counter import word_counter
from merp.models.params.design import Design


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
    verdict = Verdict(design)
    progress = Progress()
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    loaded = flag()
    load_error = flag()
    loader = kernel_loader(
        clk, rst, start, load_config, stream_of(s_axis_kernel), stream_of(s_axis_bias),
        kernel, bias, loaded, load_error, design,
    )  # fmt: skip
    datapath = engine(
        clk, rst, start, map_config, output_config, kernel, bias, loaded,
        stream_of(s_axis_map), stream_of(m_axis_map), verdict, progress, design, array,
    )  # fmt: skip
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
        clk, rst, start, s_axis_map, m_axis_map, loaded, progress.complete,
        progress.output_done, verdict, progress.map_error, load_error, status,
    )  # fmt: skip
    return loader, datapath, words, counters
