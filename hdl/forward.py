"""The forward engine: one super layer, from map words in to map words out.

CNN-MERP section V, figures 7 to 10.
"""

from __future__ import annotations

from typing import Any

from merp.hdl.bundles import (
    AxiStream,
    BankRead,
    BankWrite,
    BiasWrite,
    KernelWrite,
    LoadConfig,
    MapConfig,
    OutputConfig,
    Slot,
    Status,
    Sums,
    bits,
    count,
    flag,
    stream_of,
)
from merp.hdl.cu_array import cu_array
from merp.hdl.cu_array_fast import cu_array_fast
from merp.hdl.entity import entity
from merp.hdl.input_banks import input_banks
from merp.hdl.kernel_loader import kernel_loader
from merp.hdl.map_writer import map_writer
from merp.hdl.position_word import PositionWord
from merp.hdl.positions import positions
from merp.hdl.run_counters import run_counters
from merp.hdl.sequencer import sequencer
from merp.hdl.super_layer import super_layer
from merp.hdl.window import window
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
    status: Status,
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
    word = PositionWord(design)
    kernel = KernelWrite(design)
    bias = BiasWrite(design)
    loaded = flag()
    load_error = flag()

    bank_write = BankWrite(design)
    bank_read = BankRead(design)
    taps = bits(design.window_width)
    held = bits(design.window_width)
    written_row = bits(word.row_width)
    written_column = bits(word.column_width)
    written_channel = count(design.max_maps)
    complete = flag()
    map_error = flag()

    head = bits(word.width)
    head_valid = flag()
    head_take = flag()
    floor_valid = flag()
    floor_row = bits(word.row_width)
    floor_next_row = bits(word.row_width)
    floor_column = bits(word.column_width)
    floor_open = flag()

    slot = Slot(design)
    row_shift = bits(word.shift_width)
    column_shift = bits(word.shift_width)
    issue = flag()
    useful = count(design.n_cu)
    stall_input = flag()
    stall_output = flag()
    stall_hazard = flag()
    final_issue = flag()
    idle = flag()

    sums = Sums(design)
    popped = flag()
    output_done = flag()

    loader = kernel_loader(
        clk, rst, start, load_config, stream_of(s_axis_kernel), stream_of(s_axis_bias),
        kernel, bias, loaded, load_error, design,
    )  # fmt: skip
    router = map_writer(
        clk, rst, start, loaded, map_config, stream_of(s_axis_map),
        floor_valid, floor_row, floor_next_row, floor_column, floor_open,
        bank_write, written_row, written_column, written_channel, complete, map_error, design,
    )  # fmt: skip
    banks = input_banks(clk, bank_write, bank_read, taps, design)
    walk = positions(clk, rst, start, map_config, head_take, head_valid, head, design)
    issuer = sequencer(
        clk, rst, start, map_config, head, head_valid, head_take,
        written_row, written_column, written_channel, popped,
        floor_valid, floor_row, floor_next_row, floor_column, floor_open,
        bank_read, row_shift, column_shift, slot,
        issue, useful, stall_input, stall_output, stall_hazard, final_issue, idle, design,
    )  # fmt: skip
    reuse = window(clk, row_shift, column_shift, taps, held, design.k, design.fmt.width)
    units = ARRAYS[array](clk, rst, kernel, bias, slot, held, sums, design)
    finish = super_layer(
        clk, rst, start, output_config, sums, popped, stream_of(m_axis_map), output_done, design
    )
    counters = run_counters(
        clk, rst, start, s_axis_map, s_axis_kernel, s_axis_bias, m_axis_map,
        loaded, complete, output_done, issue, useful,
        stall_input, stall_output, stall_hazard, final_issue, idle,
        map_error, load_error, status,
    )  # fmt: skip
    return loader, router, banks, walk, issuer, reuse, units, finish, counters
