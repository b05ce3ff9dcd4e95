"""Load kernels in the order of forward propagation into the CUs of delta propagation.

Source: CNN-MERP, section III.B: input and output maps swap roles, and kernels rotate by 180
degrees. Both happen during loading, so external memory needs no second copy of the kernels.
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
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def delta_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LoadConfig,
    sink: Stream,
    kernel: KernelWrite,
    bias: BiasWrite,
    loading: Loading,
    design: EngineDesign,
) -> Any:
    """Load the kernels of a layer transposed and rotated, and +0 as every bias.

    The layer has m output and n input maps; its deltas are m maps in (config_inputs) and n maps
    out. Kernel words have the order output map, input map, row, column. The k*k words of output
    map i and input map j of the layer, the last lowest, belong to CU j mod n_cu. They go to address
    i*G + j div n_cu, where G is the number of groups of n_cu maps out.

    start         in   one cycle; config is stable from here until loaded
    sink          in   kernel words
    kernel, bias  out  writes into the memories of the CUs
    loading       out  loaded: every word may be read, from this cycle until the next start.
                       framing_error: last came with a wrong word.
    config.size   in   rows and columns of a kernel; its other taps, at the bottom and on the right,
                       become +0

    Latency: a write is enabled one cycle after its last word, loaded follows one cycle later.
    Throughput: a word per cycle. Reset: synchronous, the load is abandoned.
    """
    n_cu, groups = design.n_cu, design.groups
    every_cu = (1 << n_cu) - 1

    # Every counter can also hold its limit, so that counter + 1 can be compared without losing a
    # carry.
    channel = count(design.max_maps)
    group = count(groups)
    at, kernels = KernelPlace(design), IntakeState(loading.framing_error)
    cu, addr, size = at.cu, at.addr, config.get("size")
    last_map = flag()
    clearing = flag()
    cleared = count(groups)  # biases of each CU that are already +0

    intake = kernel_intake(
        clk,
        rst,
        start,
        sink=sink,
        kernel=kernel,
        place=at,
        state=kernels,
        design=design,
        rotated=True,
        smaller=None if size is None else SmallerKernels(size),
    )

    @always_comb
    def place() -> None:
        last_map.next = group + 1 == config.groups and cu + 1 == config.last_cus

    @always_comb
    def end() -> None:
        at.final.next = last_map and channel + 1 == config.inputs

    @always(clk.posedge)
    def walk() -> None:
        if rst or start:
            channel.next = 0
            cu.next = 0
            group.next = 0
            addr.next = 0
        elif kernels.taken:
            if last_map:
                cu.next = 0
                group.next = 0
                channel.next = channel + 1
                addr.next = addr + 1
            elif cu + 1 < n_cu:
                cu.next = cu + 1
            else:
                cu.next = 0
                group.next = group + 1
                addr.next = addr + 1

    # There are at least as many kernel words as groups, so this takes no extra time.
    @always(clk.posedge)
    def clear() -> None:
        bias.enable.next = 0
        if clearing:
            bias.enable.next = every_cu
            bias.addr.next = cleared
            bias.data.next = 0
            cleared.next = cleared + 1
            clearing.next = cleared + 1 != config.groups
        if start:
            clearing.next = True
            cleared.next = 0
        if rst:
            clearing.next = False

    @always(clk.posedge)
    def finish() -> None:
        loading.loaded.next = kernels.loaded and not clearing and not start and not rst

    return intake, place, end, walk, clear, finish
