"""Kernels and biases from their streams into the memories of the CUs.

CNN-MERP section V.A: all kernels are loaded prior to the execution of a batch.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.bundles import BiasWrite, KernelWrite, LoadConfig, Stream, bits, count, flag
from merp.hdl.entity import entity
from merp.models.params.design import Design


@block
def _shift_in(word: Any, collected: Any, shifted: Any) -> Any:
    """Put a word above the ones before it; the first one ends up lowest."""
    high = len(shifted)
    low = len(word)

    @always_comb
    def shift() -> None:
        shifted.next = concat(word, collected[high:low])

    return shift


@block
def _take(word: Any, collected: Any, shifted: Any) -> Any:
    """Take the only word of a 1 x 1 kernel."""

    @always_comb
    def take() -> None:
        shifted.next = word

    return take


@entity
def kernel_loader(
    clk: Any,
    rst: Any,
    start: Any,
    config: LoadConfig,
    sink_kernel: Stream,
    sink_bias: Stream,
    kernel: KernelWrite,
    bias: BiasWrite,
    loaded: Any,
    framing_error: Any,
    design: Design,
) -> Any:
    """Load m*n*k*k kernel words and m biases, both streams at the same time.

    Kernel words come in the order m, n, row, column. The kernel of output map o and input map i
    goes to CU o mod n_cu, address i*G + o div n_cu; the bias of map o to the same CU, address
    o div n_cu.

    loaded         out  everything is in the memories; until the next start
    framing_error  out  a stream's last came with another word than its last; sticky until start

    Throughput: a word of each stream per cycle. Reset: nothing is loaded, nothing is accepted.
    """
    k2 = design.taps
    n_cu = design.n_cu
    word_width = design.window_width

    kernels_busy = flag()
    tap = count(k2)
    channel = count(design.max_maps)
    kernel_cu = bits(n_cu)  # one-hot
    kernel_group = count(design.groups)
    addr = count(design.kernel_words + design.groups)
    collected = bits(word_width)
    last_kernel = flag()

    biases_busy = flag()
    bias_cu = bits(n_cu)  # one-hot
    bias_group = count(design.groups)
    last_bias = flag()

    last_cu = bits(n_cu)  # one-hot: the last CU in use in the last group
    writing = flag()  # the last writes are on their way
    shifted = bits(word_width)

    @always_comb
    def accept() -> None:
        sink_kernel.ready.next = kernels_busy
        sink_bias.ready.next = biases_busy
        last_kernel.next = (
            tap + 1 == k2
            and channel + 1 == config.inputs
            and kernel_group + 1 == config.groups
            and kernel_cu == last_cu
        )
        last_bias.next = bias_group + 1 == config.groups and bias_cu == last_cu

    @always(clk.posedge)
    def load_kernels() -> None:
        kernel.enable.next = 0
        if kernels_busy and sink_kernel.valid:
            collected.next = shifted
            if tap + 1 != k2:
                tap.next = tap + 1
            else:
                tap.next = 0
                kernel.enable.next = kernel_cu
                kernel.addr.next = addr
                kernel.data.next = shifted
                if channel + 1 != config.inputs:
                    channel.next = channel + 1
                    addr.next = addr + config.groups
                else:
                    channel.next = 0
                    if kernel_cu[n_cu - 1]:
                        kernel_cu.next = 1
                        kernel_group.next = kernel_group + 1
                        addr.next = kernel_group + 1
                    else:
                        kernel_cu.next = kernel_cu << 1
                        addr.next = kernel_group
            if last_kernel:
                kernels_busy.next = False
        if start:
            kernels_busy.next = True
            tap.next = 0
            channel.next = 0
            kernel_cu.next = 1
            kernel_group.next = 0
            addr.next = 0
        if rst:
            kernels_busy.next = False
            kernel.enable.next = 0

    @always(clk.posedge)
    def load_biases() -> None:
        bias.enable.next = 0
        if biases_busy and sink_bias.valid:
            bias.enable.next = bias_cu
            bias.addr.next = bias_group
            bias.data.next = sink_bias.data
            if bias_cu[n_cu - 1]:
                bias_cu.next = 1
                bias_group.next = bias_group + 1
            else:
                bias_cu.next = bias_cu << 1
            if last_bias:
                biases_busy.next = False
        if start:
            biases_busy.next = True
            bias_cu.next = 1
            bias_group.next = 0
        if rst:
            biases_busy.next = False
            bias.enable.next = 0

    @always(clk.posedge)
    def watch() -> None:
        one_hot = intbv(0)[n_cu:]
        if writing and not kernels_busy and not biases_busy:
            loaded.next = True
            writing.next = False
        if kernels_busy and sink_kernel.valid and sink_kernel.last != last_kernel:
            framing_error.next = True
        if biases_busy and sink_bias.valid and sink_bias.last != last_bias:
            framing_error.next = True
        if start:
            one_hot[:] = 0
            for j in range(n_cu):
                if config.last_cus == j + 1:
                    one_hot[j] = 1
            last_cu.next = one_hot
            writing.next = True
            loaded.next = False
            framing_error.next = False
        if rst:
            writing.next = False
            loaded.next = False
            framing_error.next = False

    shift_in = _shift_in if k2 > 1 else _take
    collect = shift_in(sink_kernel.data, collected, shifted)
    return collect, accept, load_kernels, load_biases, watch
