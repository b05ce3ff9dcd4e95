"""Decode windows and kernels for fused CUs, once in front of all of them."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.decoded import activation_of, operand_of
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import activation_bits, operand_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def fused_operands(
    clk: Bit,
    kernel: KernelWrite,
    read_addr: Word,
    window: Word,
    written: KernelWrite,
    later_addr: Word,
    activations: Word,
    design: EngineDesign,
) -> Any:
    """Decode kernels in front of the memories, and windows in front of the CUs.

    kernel, read_addr, window  in   ports of the CU array.
    written, later_addr  out  the same a cycle later, with kernel elements as operands. If there is
                              room, the sign of each is above it
    activations          out  the decoded elements of the window, tap 0 in the lowest bits

    Latency: 1 for all outputs. Throughput: one per cycle. Reset: none.
    """
    taps, width = design.taps, design.fmt.width
    significand = design.operand_precision
    operand_width = operand_bits(significand)
    elements = [bits(activation_bits(design.fused_dsp, significand)) for _ in range(taps)]
    operands = [bits(operand_width) for _ in range(taps)]
    window_decoders = [
        activation_of(clk, window((tap + 1) * width, tap * width), elements[tap], design)
        for tap in range(taps)
    ]
    kernel_decoders = [
        operand_of(kernel.data((tap + 1) * width, tap * width), operands[tap], design)
        for tap in range(taps)
    ]
    joined_window = ConcatSignal(*reversed(elements)) if taps > 1 else elements[0]
    kept = operands
    if len(written.data) > taps * operand_width:
        signs = [kernel.data((tap + 1) * width - 1) for tap in range(taps)]
        kept = [ConcatSignal(*each) for each in zip(signs, operands, strict=True)]
    joined_kernel = ConcatSignal(*reversed(kept)) if taps > 1 else kept[0]

    @always_comb
    def join() -> None:
        activations.next = joined_window

    @always(clk.posedge)
    def load() -> None:
        written.data.next = joined_kernel

    control = [
        delay(clk, d=kernel.enable, q=written.enable, cycles=1),
        delay(clk, d=kernel.addr, q=written.addr, cycles=1),
        delay(clk, d=read_addr, q=later_addr, cycles=1),
    ]
    if kernel.taps is not None:
        control.append(delay(clk, d=kernel.taps, q=written.taps, cycles=1))
    apart: Any = ()
    if kernel.elements is not None:
        own = [bits(operand_width) for _ in range(design.kernel_port)]
        joined_own = ConcatSignal(*reversed(own))

        @always(clk.posedge)
        def load_own() -> None:
            written.elements.next = joined_own

        apart = (
            load_own,
            delay(clk, d=kernel.places, q=written.places, cycles=1),
            [
                operand_of(kernel.elements((i + 1) * width, i * width), own[i], design)
                for i in range(design.kernel_port)
            ],
        )
    return window_decoders, kernel_decoders, join, load, control, apart
