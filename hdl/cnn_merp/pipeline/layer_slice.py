"""One layer of a pipeline: its three engines, which run at the same time, and the FIFOs between.

Source: FPDeep, section IV: inputs are kept until backward propagation has used them. The engines
are those of CNN-MERP, joined only by FIFOs, because output and input have the same order of words.
"""

from __future__ import annotations

from typing import Any

from myhdl import block

from merp.hdl.base.gather import gather
from merp.hdl.base.signals import BYTE, AxiStream, Stream, bits, stream_of
from merp.hdl.base.status import STATUS_WIDTH
from merp.hdl.cnn_merp.phases.delta import delta
from merp.hdl.cnn_merp.phases.forward import forward
from merp.hdl.cnn_merp.phases.kernel_update import kernel_update
from merp.hdl.cnn_merp.ports.delta_ports import DeltaPorts
from merp.hdl.cnn_merp.ports.forward_ports import ForwardPorts
from merp.hdl.cnn_merp.ports.kernel_update_ports import KernelUpdatePorts, UpdateDesign
from merp.hdl.cnn_merp.ports.slice_ports import LayerPorts, with_flags
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.broadcast import broadcast
from merp.hdl.streams.stream_fifo import stream_fifo
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.params.pipeline_design import SliceDesign


def _like(stream: Stream) -> Stream:
    """Make another stream of the same kind of words."""
    return Stream(len(stream.data))


@block
def _joint(clk: Bit, rst: Bit, start: Bit, sink: Stream, source: Stream, words: int) -> Any:
    """A FIFO that evens out the rates of two engines; its fill is not reported."""
    return stream_fifo(
        clk,
        rst,
        start,
        sink=sink,
        source=source,
        fill=bits(STATUS_WIDTH),
        peak=bits(STATUS_WIDTH),
        words=words,
    )


@entity
def layer_slice(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: LayerPorts,
    design: SliceDesign,
) -> Any:
    """Run forward propagation, delta propagation and kernel update of a layer in parallel.

    start begins a run of all engines; the configuration must be stable until they are done.

    config     in   registers of the engines: fp, dp, ku
    s_axis     in   fp_kernel (also for dp), fp_bias, ku_kernel, ku_bias, with momentum
                    ku_*_velocity
    m_axis     out  ku_kernel, ku_bias, with momentum ku_*_velocity
    maps       in   input maps in the order image, row, column, map
    maps_on    out  output maps in this order
    deltas     in   deltas of the sums in this order
    states     in   ReLU/pooling masks of the layer in front, in bytes; not in the first layer
    states_on  out  masks for the layer behind; not of the last layer
    deltas_on  out  deltas of the sums of the layer in front; not of the first layer
    sums       in   of a share of the input maps: partial sums of the shares in front
    sums_on    out  partial sums for the shares behind
    status     out  flags of the layer, and the counters of its engines and stores

    If the design expands deltas itself, deltas arrive and are sent at pooled resolution. Then
    deltas belong to the output, states to this layer, and deltas_on to the input.

    Throughput: that of the slowest engine. Reset: stores empty, runs abandoned.
    """
    config, s_axis, m_axis, status = ports.config, ports.s_axis, ports.m_axis, ports.status
    maps, deltas = ports.maps, ports.deltas
    parts: list[Any] = []
    fp, ku = with_flags(status.fp), with_flags(status.ku)
    told = [fp, ku]
    to_forward, to_store = _like(maps), _like(maps)
    computed, kept = AxiStream(len(maps.data)), AxiStream(len(maps.data))
    parts.append(broadcast(clk, rst, sink=maps, one=to_forward, other=to_store))
    parts.append(
        _joint(clk, rst, start, sink=to_forward, source=stream_of(computed), words=design.joint)
    )
    parts.append(
        stream_fifo(
            clk,
            rst,
            start,
            sink=to_store,
            source=stream_of(kept),
            fill=status.features_fill,
            peak=status.features_peak,
            words=design.features,
        )
    )
    to_update = AxiStream(len(deltas.data))
    kernels: AxiStream = s_axis.fp_kernel
    before = design.expanded is not None
    undoing, to_expand = AxiStream(BYTE), AxiStream(BYTE)
    if design.states:
        expands = undoing if design.delta else to_expand
        parts.append(
            stream_fifo(
                clk,
                rst,
                start,
                sink=ports.states,
                source=stream_of(expands),
                fill=status.states_fill,
                peak=status.states_peak,
                words=design.states,
            )
        )
    if design.delta:
        kernels, same_kernels = (AxiStream(len(s_axis.fp_kernel.tdata)) for _ in range(2))
        dp = with_flags(status.dp)
        told.append(dp)
        one, other = _like(deltas), _like(deltas)
        to_propagate = AxiStream(len(deltas.data))
        if before:
            kept_states, undoing = stream_of(undoing), AxiStream(BYTE)
            both = Stream(BYTE), Stream(BYTE)
            parts.append(broadcast(clk, rst, sink=kept_states, one=both[0], other=both[1]))
            parts += [
                _joint(clk, rst, start, sink=sink, source=stream_of(source), words=design.joint)
                for sink, source in zip(both, (undoing, to_expand), strict=True)
            ]
        parts += [
            broadcast(
                clk,
                rst,
                sink=stream_of(s_axis.fp_kernel),
                one=stream_of(kernels),
                other=stream_of(same_kernels),
            ),
            broadcast(clk, rst, sink=deltas, one=one, other=other),
            _joint(clk, rst, start, sink=one, source=stream_of(to_propagate), words=design.joint),
            delta(
                clk,
                rst,
                start,
                ports=DeltaPorts(
                    design.delta,
                    **vars(config.dp),
                    s_axis_delta=to_propagate,
                    s_axis_kernel=same_kernels,
                    s_axis_state=undoing,
                    m_axis_delta=ports.deltas_on,
                    status=dp,
                ),
                design=design.delta.engine,
                undone=design.undone,
                before=before,
            ),
        ]
        deltas = other
    parts.append(
        _joint(clk, rst, start, sink=deltas, source=stream_of(to_update), words=design.joint)
    )
    more: dict[str, Any] = {}
    if design.forward.state:
        more = {"m_axis_state": ports.states_on}
    if design.forward.partial:
        more |= {"s_axis_partial": ports.sums, "m_axis_partial": ports.sums_on}
    engine = forward(
        clk,
        rst,
        start,
        ports=ForwardPorts(
            design.forward,
            **vars(config.fp),
            s_axis_map=computed,
            s_axis_kernel=kernels,
            s_axis_bias=s_axis.fp_bias,
            m_axis_map=ports.maps_on,
            status=fp,
            **more,
        ),
        design=design.forward,
    )
    host = {f"s_axis_{name[3:]}": each for name, each in vars(s_axis).items() if name[:2] == "ku"}
    host |= {f"m_axis_{name[3:]}": each for name, each in vars(m_axis).items()}
    if before:
        host["s_axis_state"] = to_expand
    momentum = hasattr(s_axis, "ku_kernel_velocity")
    update = kernel_update(
        clk,
        rst,
        start,
        ports=KernelUpdatePorts(
            UpdateDesign(design.update, UpdateRule(momentum=momentum), design.expanded),
            **vars(config.ku),
            **host,
            s_axis_map=kept,
            s_axis_delta=to_update,
            status=ku,
        ),
        design=design.update,
        undone=design.expanded,
    )
    return parts, engine, update, gather(told, status=status)
