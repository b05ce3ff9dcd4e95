"""The datapath of forward and delta propagation: one super layer, map words in, map words out.

CNN-MERP section V, figures 7 to 10. What counts words and cycles stands around it.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.hdl.cnn_merp.cu_array.partial_loader import partial_loader
from merp.hdl.cnn_merp.phases.input_path import input_path
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite, OriginWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig, Sums
from merp.hdl.cnn_merp.ports.passes import PartialSums, PassConfig
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot, Verdict
from merp.hdl.cnn_merp.super_layer.super_layer import super_layer
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.stream_mux import stream_mux
from merp.models.machines.cnn_merp.params.design import Design


class Progress:
    """How far the datapath is, and what went wrong; each stays until the next start."""

    def __init__(self) -> None:
        self.complete = flag()  # all map words were accepted
        self.output_done = flag()  # all words out were transferred
        self.map_error = flag()  # last came with another word than the last


@entity
def datapath(
    clk: Bit,
    rst: Bit,
    start: Bit,
    map_config: MapConfig,
    output_config: OutputConfig,
    kernel: KernelWrite,
    bias: BiasWrite,
    loaded: Bit,
    sink: Stream,
    source: Stream,
    verdict: Verdict,
    progress: Progress,
    design: Design,
    state: Stream | None = None,
    folded: Bit = None,
    pass_config: PassConfig | None = None,
    sink_partial: Stream | None = None,
    source_partial: Stream | None = None,
    port: PortConfig | None = None,
    sink_added: Stream | None = None,
    read: KernelRead | None = None,
) -> Any:
    """Compute a super layer for a batch of images.

    kernel, bias  in   write ports of the CUs' memories
    loaded        in   they hold what the run needs: map words may be accepted
    sink, source  in, out  words in the order image, row, column, map
    verdict       out  the sequencer's of this cycle
    progress      out  how far the run is
    state         out  (in a design that writes it) the state for backward propagation
    folded        in   (of a design for fully connected layers) words come map by map
    port          in   (of a design with a map_port of several elements) how sink comes: in pieces
    sink_partial, source_partial  in, out  (in a design for them) partial sums in the same order
    sink_added    in   (in a design for them) maps that are added, like them, biases included
    read          in   (where kernels are read back) an element of them, when no slot is left

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle.
    Reset: the run is abandoned.
    """
    slot: Slot = OriginSlot(design) if design.continues else Slot(design)
    held = bits(design.window_width)
    sums = Sums(design)
    credit = flag()
    origin: BiasWrite | OriginWrite = bias
    partial, raw = None, None
    supply: Any = ()
    map_error = progress.map_error
    if pass_config is not None:
        origin, partial = OriginWrite(design), PartialSums()
        map_error, partial_error = flag(), flag()
        starts = sink_partial
        either: Any = ()
        wanted = pass_config.partial_in if design.partial else pass_config.added
        if design.partial:
            raw = pass_config.partial_out if design.round_latency else None
        if sink_added is not None:
            starts = sink_added
        if design.partial and sink_added is not None:
            wanted, starts = flag(), Stream(len(sink_added.data))

            @always_comb
            def want() -> None:
                wanted.next = pass_config.partial_in or pass_config.added

            either = (
                want,
                stream_mux(
                    second=pass_config.added, one=sink_partial, other=sink_added, source=starts
                ),
            )
        filler = partial_loader(
            clk,
            rst,
            start,
            enable=loaded,
            wanted=wanted,
            config=map_config,
            sink=starts,
            bias=bias,
            slot=slot,
            origin=origin,
            filled=partial.filled,
            framing_error=partial_error,
            design=design,
        )

        @always_comb
        def tell() -> None:
            partial.wanted.next = wanted
            progress.map_error.next = map_error or partial_error

        supply = filler, tell, either

    windows = input_path(
        clk,
        rst,
        start,
        enable=loaded,
        config=map_config,
        sink=sink,
        credit=credit,
        slot=slot,
        held=held,
        verdict=verdict,
        complete=progress.complete,
        framing_error=map_error,
        design=design,
        sums="map",
        folded=folded,
        partial=partial,
        port=port,
    )
    units = cu_array(
        clk,
        rst,
        kernel=kernel,
        bias=origin,
        slot=slot,
        window=held,
        sums=sums,
        design=design,
        raw=raw,
        read=read,
    )
    finish = super_layer(
        clk,
        rst,
        start,
        config=output_config,
        sums=sums,
        credit=credit,
        source=source,
        done=progress.output_done,
        design=design,
        state=state,
        raw=pass_config.partial_out if pass_config and design.partial else None,
        partial=source_partial,
    )
    return windows, units, finish, supply
