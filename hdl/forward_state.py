"""The forward engine of training: it also writes the state that the way back needs."""

from __future__ import annotations

from typing import Any

from merp.hdl.bundles import (
    AxiStream,
    BiasWrite,
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
from merp.hdl.state_status import ForwardStateStatus
from merp.hdl.word_counter import word_counter
from merp.models.params.design import Design


@entity
def forward_state(
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
    m_axis_state: AxiStream,
    status: ForwardStateStatus,
    design: Design,
    array: str = "rtl",
) -> Any:
    """Compute one super layer as forward does, and send the state for the way back in bytes.

    With maximum pooling, or none, the state is a field per word of m_axis_map: the mask of ReLU
    lowest, if the run has ReLU, then the position in the window. With average pooling it is the
    mask bit of every activation. Fields follow each other without gaps; the last byte is filled up
    with zeros. A run that has neither sends nothing. status_done waits for both streams.

    Throughput: as forward, as far as the state fits a byte per cycle.
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
        stream_of(m_axis_state),
    )  # fmt: skip
    words = [
        word_counter(clk, rst, start, stream, counted)
        for stream, counted in (
            (s_axis_map, status.map_in),
            (s_axis_kernel, status.kernel),
            (s_axis_bias, status.bias),
            (m_axis_map, status.map_out),
            (m_axis_state, status.state_out),
        )
    ]
    counters = run_counters(
        clk, rst, start, s_axis_map, m_axis_map, loaded, progress.complete,
        progress.output_done, verdict, progress.map_error, load_error, status,
    )  # fmt: skip
    return loader, datapath, words, counters
