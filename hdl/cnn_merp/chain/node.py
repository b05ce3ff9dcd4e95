"""A node of a chain: its shares of layers, each with all phases, and the streams that pass through.

Source: FPDeep, section III.C: maps go forward and errors backward. If a layer is split, each node
keeps its share of the input maps and adds its sums to the partial sums. It returns the deltas of
its own maps together with the deltas of the nodes behind it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from myhdl import always, always_comb, block

from merp.hdl.base.gather import gather
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, Stream, flag, stream_of
from merp.hdl.cnn_merp.chain.keep_share import keep_share
from merp.hdl.cnn_merp.chain.ports import NodeStatus, axis_like
from merp.hdl.cnn_merp.chain.put_together import put_together
from merp.hdl.cnn_merp.pipeline.admission import admission
from merp.hdl.cnn_merp.pipeline.layer_slice import layer_slice
from merp.hdl.cnn_merp.ports.slice_ports import LayerPorts, with_flags
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.broadcast import broadcast
from merp.hdl.streams.open_stream import open_stream
from merp.hdl.streams.stream_gate import stream_gate
from merp.models.machines.cnn_merp.params.cluster_design import NodeDesign, ShareDesign


class ShareSides(NamedTuple):
    """The streams of a share at its front and at its back.

    front     in       maps; if the layer begins in an earlier node, also sums
    to_front  out      errors, if the share propagates deltas. If the layer begins in an earlier
                       node, these are the errors from the back. Then ReLU/pooling masks follow, and
                       the deltas of its own maps and of the maps behind.
    on, back  out, in  the same at the other side
    """

    front: Bundles
    to_front: Bundles
    on: Bundles
    back: Bundles


@block
def _share(
    clk: Bit, rst: Bit, start: Bit, host: Bundles, sides: ShareSides, design: ShareDesign
) -> Any:
    """Connect a share with the blocks that its layer needs at a split.

    host: its registers ``config``, streams ``s_axis`` and ``m_axis`` of its host, and ``status``.
    """
    front, to_front, on, back = sides
    config = host.config
    engines = design.engines
    width = len(back.errors.tdata)
    maps, errors = stream_of(front.maps), stream_of(back.errors)
    parts: list[Any] = []
    more: dict[str, Any] = {}
    # Ports that an engine does not use: no word arrives, and none is taken.
    sums, sums_on = front.sums if not design.first else None, None
    maps_on, states = on.maps, Stream(BYTE)
    if engines.forward.partial:
        width_of_sums = engines.forward.partial_width
        sums = AxiStream(width_of_sums) if sums is None else sums
        sums_on = AxiStream(width_of_sums) if design.last else on.sums
        more |= {"sums": sums, "sums_on": sums_on}
    if design.last:
        more["states_on"] = AxiStream(BYTE)
        states = stream_of(more["states_on"])
    else:
        maps_on = AxiStream(engines.forward.stored("maps").width)
        states = stream_of(back.states)
        mine = Stream(len(maps.data))
        parts.append(
            keep_share(
                clk, rst, start, config=config.share, sink=maps, mine=mine, on=stream_of(on.maps)
            )
        )
        maps = mine
    if not design.first:
        for name, stream in (("errors", errors), ("states", states)):
            own = Stream(len(stream.data))
            parts.append(
                broadcast(clk, rst, sink=stream, one=own, other=stream_of(getattr(to_front, name)))
            )
            errors, states = (own, states) if name == "errors" else (errors, own)
    if engines.propagation is not None:
        given = to_front.errors if design.first else to_front.deltas
        more["deltas_on"] = given
        if not design.last:
            own_deltas = AxiStream(width)
            more["deltas_on"] = own_deltas
            parts.append(
                put_together(
                    clk,
                    rst,
                    start,
                    config=config.share,
                    first=stream_of(own_deltas),
                    second=stream_of(back.deltas),
                    source=stream_of(given),
                )
            )
    layer = layer_slice(
        clk,
        rst,
        start,
        ports=LayerPorts(
            engines,
            config=config,
            s_axis=host.s_axis,
            m_axis=host.m_axis,
            maps=maps,
            maps_on=maps_on,
            deltas=errors,
            states=states,
            status=host.status,
            **more,
        ),
        design=engines,
    )
    return parts, layer


@entity
def node(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: Bundles,
    s_axis: Bundles,
    m_axis: Bundles,
    status: NodeStatus,
    design: NodeDesign,
) -> Any:
    """Train the node's shares of layers on a batch: one run is a step.

    start begins a run; the configuration must be stable from start to status_done. Kernels and
    biases of every share are loaded first. Then maps stream forward and errors backward. After the
    last error, new kernels and biases are sent in the order of the old ones. The old ones are read
    a second time then. If the velocity streams exist, velocities are sent in parallel. The next run
    needs no reset.

    config  in   registers of every share: share1_fp, share1_ku, ... If the layer of a share
                 continues behind: share1_share. First node: registers of admission. Last node:
                 registers of the loss input
    s_axis  in   for each share: share1_fp_kernel (order m, n, row, column), ... At the front: maps,
                 and sums if the layer begins in an earlier node. In the first node: the images. At
                 the back: errors, and masks and deltas if the layer continues behind. In the last
                 node: the errors of the loss
    m_axis  out  for each share: share1_ku_kernel, ... At the front, except in the first node:
                 errors, and masks and deltas if the layer begins in an earlier node. At the back:
                 maps, and sums if the layer continues behind. In the last node: the scores
    status  out  flags, in the first node the number of images in the chain, and the counters of
                 engines and stores

    Words of other nodes are taken from the cycle after start on, so a node that has not started
    receives no word. Throughput: an image takes as many cycles as in the slowest engine, if enough
    images may be in the chain and the links are as fast. Reset: synchronous, active high; the run
    is abandoned.
    """
    parts: list[Any] = []
    loss_error, leaving = flag(), flag()
    # streams between two shares: maps forward, errors backward
    sides: list[tuple[Bundles, Bundles]] = []
    for share in design.shares[:-1]:
        maps = AxiStream(share.engines.forward.stored("maps").width)
        errors = AxiStream(share.engines.forward.stored("deltas").width)
        sides.append((Bundles({"maps": maps}), Bundles({"errors": errors})))
    first_in, last_back = axis_like(s_axis.front), axis_like(s_axis.back)
    others = [] if design.begins else [(s_axis.front, first_in)]
    others += [] if design.ends else [(s_axis.back, last_back)]
    for sinks, sources in others:
        parts.append(from_start(clk, rst, start, sinks=sinks, sources=sources))
    if design.begins:
        parts.append(
            admission(
                clk,
                rst,
                start,
                config=config.admission,
                sink=stream_of(s_axis.front.maps),
                source=stream_of(first_in.maps),
                leaving=leaving,
                flight=status.flight,
                peak=status.flight_peak,
            )
        )
    if design.ends:
        losses = last_back.errors
        parts.append(
            stream_gate(
                clk,
                rst,
                start,
                words=config.admission.losses,
                sink=stream_of(s_axis.back.errors),
                valid=losses.tvalid,
                ready=losses.tready,
                framing_error=loss_error,
            )
        )
        parts.append(_pass_on(s_axis.back.errors, losses))
    ons = [*(on for on, _ in sides), m_axis.back]
    backs = [*(back for _, back in sides), last_back]
    told = []
    for index, share in enumerate(design.shares):
        name = f"share{design.place + index}"
        told.append(with_flags(getattr(status, name)))
        parts.append(
            _share(
                clk,
                rst,
                start,
                host=Bundles(
                    {
                        "config": getattr(config, name),
                        "s_axis": getattr(s_axis, name),
                        "m_axis": getattr(m_axis, name),
                        "status": told[-1],
                    }
                ),
                sides=ShareSides(
                    front=ons[index - 1] if index else first_in,
                    to_front=backs[index - 1] if index else getattr(m_axis, "front", Bundles({})),
                    on=ons[index],
                    back=backs[index],
                ),
                design=share,
            )
        )
    layers = with_flags(Bundles({}))
    flags = gather(told, status=layers)
    first = backs[0].errors

    @always_comb
    def connect() -> None:
        leaving.next = first.tvalid and first.tready
        status.done.next = layers.done
        status.busy.next = layers.busy
        status.framing_error.next = layers.framing_error or loss_error

    return parts, flags, connect


@block
def from_start(clk: Bit, rst: Bit, start: Bit, sinks: Bundles, sources: Bundles) -> Any:
    """Hold back words after a reset until the first start."""
    begun, opened = flag(), flag()

    @always(clk.posedge)
    def begin() -> None:
        if start:
            begun.next = True
        if rst:
            begun.next = False

    @always_comb
    def decide() -> None:
        opened.next = begun and not start

    gates = [
        open_stream(sink=stream_of(getattr(sinks, name)), enable=opened, source=stream_of(source))
        for name, source in vars(sources).items()
    ]
    return begin, decide, gates


@block
def _pass_on(sink: AxiStream, source: AxiStream) -> Any:
    """Connect the words of a stream whose handshake passes through a gate."""

    @always_comb
    def connect() -> None:
        source.tdata.next = sink.tdata
        source.tlast.next = sink.tlast

    return connect
