"""The datapath of forward and delta propagation: one super layer, map words in, map words out.

Source: CNN-MERP, section V, figures 7 to 10. The enclosing block counts words and cycles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from myhdl import always_comb

from merp.hdl.base.interface import DesignPorts, Interface, Member, always, given
from merp.hdl.base.signals import Stream, beats_of, bits, flag, stream_of
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.hdl.cnn_merp.cu_array.partial_loader import partial_loader
from merp.hdl.cnn_merp.phases.input_path import InputPorts, input_path
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite, OriginWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig, Sums
from merp.hdl.cnn_merp.ports.passes import PartialIntake, PartialSums, PassConfig
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot, Verdict
from merp.hdl.cnn_merp.super_layer.super_layer import super_layer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OutputStreams
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.stream_mux import stream_mux
from merp.models.machines.cnn_merp.params.design import EngineDesign


class DatapathProgress:
    """Progress and errors of the datapath; each flag stays until the next start."""

    def __init__(self, complete: Bit, output_done: Bit, map_error: Bit) -> None:
        self.complete = complete  # all map words were accepted
        self.output_done = output_done  # all words out were transferred
        self.map_error = map_error  # last arrived with a word other than the last


class Inside(NamedTuple):
    """The enclosing engine of a datapath, with a design."""

    ports: Interface
    design: EngineDesign


def _taken(
    name: str,
    kind: Any,
    take: Callable[[Interface], Any],
    there: Callable[[EngineDesign], bool] | None = None,
) -> Member[Inside]:
    """Return a bundle, or a part of one, that the engine also has."""
    where = always if there is None else lambda of: there(of.design)
    return Member(name, lambda of: take(of.ports), where, kind=kind)


def _partial(design: EngineDesign) -> bool:
    return design.partial


SHARED = ("folded", "port")
"""Ports that a datapath and its input side share under the same names."""


class DatapathPorts(DesignPorts[Inside]):
    """Ports of a datapath, some of which belong to the engine."""

    MEMBERS = (
        _taken("map_config", MapConfig, lambda engine: engine.map_config),
        _taken("output_config", OutputConfig, lambda engine: engine.output_config),
        given("kernel", KernelWrite),
        given("bias", BiasWrite),
        given("loaded"),
        given("sink", Stream),
        given("source", Stream),
        given("verdict", Verdict),
        given("progress", DatapathProgress),
        _taken(
            "state",
            Stream,
            lambda engine: stream_of(engine.m_axis_state),
            lambda design: design.state,
        ),
        _taken(
            "folded", None, lambda engine: engine.fold_config.folded, lambda design: design.folded
        ),
        _taken(
            "pass_config",
            PassConfig,
            lambda engine: engine.pass_config,
            lambda design: design.continues,
        ),
        _taken("sink_partial", Stream, lambda engine: stream_of(engine.s_axis_partial), _partial),
        _taken("source_partial", Stream, lambda engine: beats_of(engine.m_axis_partial), _partial),
        _taken(
            "port",
            PortConfig,
            lambda engine: engine.port_config,
            lambda design: design.map_port > 1,
        ),
        given("sink_added", Stream, lambda of: of.design.added),
        given("read", KernelRead, lambda of: of.ports.has("m_axis_kernel")),
    )


@entity
def datapath(clk: Bit, rst: Bit, start: Bit, ports: DatapathPorts, design: EngineDesign) -> Any:
    """Compute a super layer for a batch of images.

    kernel, bias  in       write ports of the memories of the CUs
    loaded        in       the memories hold all data for the run: map words may be accepted.
    sink, source  in, out  words in the order image, row, column, map
    verdict       out      verdict of the sequencer in this cycle
    progress      out      progress of the run
    state         out      ReLU/pooling masks for backward propagation
    folded        in       words arrive map by map
    port          in       (of a design with a map_port of several elements) division of sink into
                           pieces.
    sink_partial, source_partial  in, out  partial sums in the same order
    sink_added    in       maps that are added, in the format of partial sums, biases included
    read          in       (if kernels are read back) an element of them, when no slot is left

    Throughput: a map word in, a slot of n_cu window products, and a map word out per cycle. Reset:
    the run is abandoned.
    """
    loaded, verdict, progress = ports.loaded, ports.verdict, ports.progress
    slot: Slot = OriginSlot(design) if design.continues else Slot(design)
    held = bits(design.window_width)
    sums = Sums(design)
    credit = flag()
    origin: BiasWrite | OriginWrite = ports.bias
    more: dict[str, Any] = {name: vars(ports)[name] for name in SHARED if ports.has(name)}
    supply: Any = ()
    map_error = progress.map_error
    if design.continues:
        pass_config = ports.pass_config
        origin, partial = OriginWrite(design), PartialSums()
        more["partial"] = partial
        map_error, partial_error = flag(), flag()
        either: Any = ()
        if design.partial and design.added:
            wanted, starts = flag(), Stream(len(ports.sink_added.data))

            @always_comb
            def want() -> None:
                wanted.next = pass_config.partial_in or pass_config.added

            either = (
                want,
                stream_mux(
                    second=pass_config.added,
                    one=ports.sink_partial,
                    other=ports.sink_added,
                    source=starts,
                ),
            )
        elif design.partial:
            wanted, starts = pass_config.partial_in, ports.sink_partial
        else:
            wanted, starts = pass_config.added, ports.sink_added
        filler = partial_loader(
            clk,
            rst,
            start,
            intake=PartialIntake(loaded, wanted, partial.filled, partial_error),
            config=ports.map_config,
            sink=starts,
            bias=ports.bias,
            slot=slot,
            origin=origin,
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
        ports=InputPorts(
            enable=loaded,
            config=ports.map_config,
            sink=ports.sink,
            credit=credit,
            slot=slot,
            held=held,
            verdict=verdict,
            complete=progress.complete,
            framing_error=map_error,
            **more,
        ),
        design=design,
        sums="map",
    )
    leaves_raw = ports.pass_config.partial_out if design.partial else None
    units = cu_array(
        clk,
        rst,
        kernel=ports.kernel,
        bias=origin,
        slot=slot,
        window=held,
        sums=sums,
        design=design,
        raw=leaves_raw if design.round_latency else None,
        read=ports.read if ports.has("read") else None,
    )
    finish = super_layer(
        clk,
        rst,
        start,
        config=ports.output_config,
        sums=sums,
        credit=credit,
        out=OutputStreams(
            ports.source,
            state=ports.state if design.state else None,
            partial=ports.source_partial if design.partial else None,
        ),
        done=progress.output_done,
        design=design,
        raw=leaves_raw,
    )
    return windows, units, finish, supply
