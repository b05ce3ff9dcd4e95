"""The two weight orders of delta propagation on one bitstream: convolutions and folded runs."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.kernel_loader.delta_loader import delta_loader
from merp.hdl.cnn_merp.kernel_loader.fold_beat_loader import fold_beat_loader
from merp.hdl.cnn_merp.kernel_loader.fold_delta_loader import fold_delta_loader
from merp.hdl.cnn_merp.kernel_loader.intake_ports import Loading
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite, LoadConfig
from merp.hdl.cnn_merp.ports.maps import FoldConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def either_delta_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LoadConfig,
    fold_config: FoldConfig,
    sink: Stream,
    kernel: KernelWrite,
    bias: BiasWrite,
    loading: Loading,
    design: EngineDesign,
) -> Any:
    """Load kernels in the order of the run, and +0 as every bias.

    start         in   one cycle; the configuration is stable from here until loaded
    sink          in   kernel words, or weights
    kernel, bias  out  writes into the memories of the CUs
    loading       out  loaded: every word may be read, from this cycle until the next start.
                       framing_error: last came with a wrong word.
    config.size   in   rows and columns of a kernel

    Throughput: a word per cycle. Reset: synchronous, the load is abandoned.
    """
    width = len(sink.data)
    every_tap = (1 << design.taps) - 1
    by_kernel, by_tap = Stream(width), Stream(width)
    several = design.kernel_port > 1
    kernels, elements = KernelWrite(design), KernelWrite(design, by_tap=True)
    by_kernels, by_elements = (Loading(flag(), flag()) for _ in range(2))
    fold_start = flag()

    # In a folded run, it also clears the biases. Its kernels never arrive, so it stays ready for
    # them until the next start.
    convolving = delta_loader(
        clk,
        rst,
        start,
        config=config,
        sink=by_kernel,
        kernel=kernels,
        bias=bias,
        loading=by_kernels,
        design=design,
    )
    folding = (fold_beat_loader if several else fold_delta_loader)(
        clk,
        rst,
        start=fold_start,
        config=config,
        elements=fold_config.elements,
        sink=by_tap,
        kernel=elements,
        loaded=by_elements.loaded,
        framing_error=by_elements.framing_error,
        design=design,
    )

    @always_comb
    def begin() -> None:
        fold_start.next = start and fold_config.folded

    @always_comb
    def offer() -> None:
        by_kernel.data.next = sink.data
        by_kernel.last.next = sink.last
        by_kernel.valid.next = sink.valid and not fold_config.folded
        by_tap.data.next = sink.data
        by_tap.last.next = sink.last
        by_tap.valid.next = sink.valid and fold_config.folded
        if fold_config.folded:
            sink.ready.next = by_tap.ready
        else:
            sink.ready.next = by_kernel.ready and not start

    @always_comb
    def write() -> None:
        if fold_config.folded:
            kernel.enable.next = elements.enable
            kernel.addr.next = elements.addr
            kernel.data.next = elements.data
            kernel.taps.next = elements.taps
        else:
            kernel.enable.next = kernels.enable
            kernel.addr.next = kernels.addr
            kernel.data.next = kernels.data
            kernel.taps.next = every_tap

    place: Any = ()
    if several:

        @always_comb
        def place_elements() -> None:
            kernel.elements.next = elements.elements
            if fold_config.folded:
                kernel.places.next = elements.places
            else:
                kernel.places.next = 0

        place = place_elements

    @always_comb
    def tell() -> None:
        if fold_config.folded:
            loading.loaded.next = by_elements.loaded
            loading.framing_error.next = by_elements.framing_error
        else:
            loading.loaded.next = by_kernels.loaded
            loading.framing_error.next = by_kernels.framing_error

    return convolving, folding, begin, offer, write, tell, place
