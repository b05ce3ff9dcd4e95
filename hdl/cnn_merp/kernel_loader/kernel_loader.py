"""Load kernels and biases from their streams into the memories of the CUs.

Source: CNN-MERP, section V.A: all kernels are loaded before a batch is executed. If beats have
several words, a cycle takes a beat of kernel words, at most a kernel, and one bias.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.cnn_merp.kernel_loader.intake_ports import (
    IntakeState,
    KernelPlace,
    Loading,
    SmallerKernels,
)
from merp.hdl.cnn_merp.kernel_loader.kernel_intake import kernel_intake
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite, LoadConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.beat_splitter import beat_splitter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def kernel_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LoadConfig,
    sink_kernel: Stream,
    sink_bias: Stream,
    kernel: KernelWrite,
    bias: BiasWrite,
    loading: Loading,
    design: EngineDesign,
) -> Any:
    """Load m*n*k*k kernel words and m biases, both streams at the same time.

    The run has m output maps, n input maps, and kernels of k x k. Kernel words have the order
    output map, input map, row, column; biases have the order of output maps. Output map o belongs
    to CU o mod n_cu and to group g = o div n_cu; G is the number of groups. The k*k words of its
    kernel for input map i go to address i*G + g, the first lowest. Its bias goes to address g.

    start               in   one cycle; config is stable from here until loaded
    sink_kernel         in   kernel words
    sink_bias           in   biases
    kernel, bias        out  writes into the memories of the CUs
    loading             out  loaded: every word may be read, from this cycle until the next start.
                             framing_error: last came with a wrong word.
    config.with_biases  in   the run has biases; otherwise its sums have other start values.
    config.size         in   rows and columns of a kernel; its other taps, at the bottom and on the
                             right, become +0.
    config.filling      in   words that kernels of the last input map lack; they become +0

    Latency: a write is enabled one cycle after its last word, loaded follows one cycle later.
    Throughput: a word of each stream per cycle. Reset: synchronous, the load is abandoned.
    """
    n_cu = design.n_cu
    with_biases, size, filling = (config.get(each) for each in ("with_biases", "size", "filling"))

    # Every counter can also hold its limit, so that counter + 1 can be compared without losing a
    # carry.
    channel = count(design.max_maps)
    kernel_group = count(design.groups)
    at, kernels = KernelPlace(design), IntakeState(flag())
    kernel_cu, addr = at.cu, at.addr
    split: Any = ()
    final_bias = flag()

    bias_cu = count(n_cu)
    bias_group = count(design.groups)
    biases_loaded = flag()
    bias_error = flag()
    offered, biases_there = sink_bias, biases_loaded
    if design.kernel_port > 1:
        offered = Stream(design.fmt.width)

        @always_comb
        def end_biases() -> None:
            final_bias.next = bias_group + 1 == config.groups and bias_cu + 1 == config.last_cus

        split = (
            beat_splitter(clk, rst, start, sink=sink_bias, source=offered, closing=final_bias),
            end_biases,
        )
    switch: Any = ()
    if with_biases is not None:
        single = offered
        offered, biases_there = Stream(design.fmt.width), flag()
        opened = flag()

        @always(clk.posedge)
        def decide() -> None:
            # Not before start: a run without biases leaves the input open.
            if start:
                opened.next = with_biases

        @always_comb
        def open_biases() -> None:
            offered.data.next = single.data
            offered.last.next = single.last
            offered.valid.next = single.valid and opened
            single.ready.next = offered.ready and opened
            biases_there.next = biases_loaded or not opened

        switch = decide, open_biases

    final_input: Any = None if filling is None else flag()
    intake = kernel_intake(
        clk,
        rst,
        start,
        sink=sink_kernel,
        kernel=kernel,
        place=at,
        state=kernels,
        design=design,
        rotated=False,
        smaller=None if size is None else SmallerKernels(size, filling, final_input),
    )

    @always_comb
    def place() -> None:
        at.final.next = (
            channel + 1 == config.inputs
            and kernel_group + 1 == config.groups
            and kernel_cu + 1 == config.last_cus
        )

    @always(clk.posedge)
    def walk_kernels() -> None:
        if rst or start:
            channel.next = 0
            kernel_cu.next = 0
            kernel_group.next = 0
            addr.next = 0
        elif kernels.taken:
            if channel + 1 < config.inputs:
                channel.next = channel + 1
                addr.next = addr + config.groups
            else:
                channel.next = 0
                if kernel_cu + 1 < n_cu:
                    kernel_cu.next = kernel_cu + 1
                    addr.next = kernel_group
                else:
                    kernel_cu.next = 0
                    kernel_group.next = kernel_group + 1
                    addr.next = kernel_group + 1

    @always(clk.posedge)
    def load_biases() -> None:
        bias.enable.next = 0
        if rst or start:
            offered.ready.next = start and not rst
            biases_loaded.next = False
            bias_error.next = False
            bias_cu.next = 0
            bias_group.next = 0
        elif offered.valid and offered.ready:
            if offered.last:
                bias_error.next = True
            bias.addr.next = bias_group
            bias.data.next = offered.data
            for j in range(n_cu):
                if bias_cu == j:
                    bias.enable.next[j] = True
            if bias_group + 1 == config.groups and bias_cu + 1 == config.last_cus:
                offered.ready.next = False
                biases_loaded.next = True
                bias_error.next = bias_error or not offered.last
            elif bias_cu + 1 < n_cu:
                bias_cu.next = bias_cu + 1
            else:
                bias_cu.next = 0
                bias_group.next = bias_group + 1

    @always(clk.posedge)
    def finish() -> None:
        loading.loaded.next = kernels.loaded and biases_there and not start and not rst

    @always_comb
    def report() -> None:
        loading.framing_error.next = kernels.framing_error or bias_error

    tell: Any = ()
    if filling is not None:

        @always_comb
        def tell_input() -> None:
            final_input.next = channel + 1 == config.inputs

        tell = tell_input

    return intake, split, place, walk_kernels, load_biases, finish, report, switch, tell
