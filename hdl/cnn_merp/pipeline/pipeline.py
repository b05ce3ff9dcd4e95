"""A network on one chip: the training pipeline of Mazouz and Bridges, with engines of CNN-MERP.

Forward propagation, delta propagation and kernel update of all layers run at the same time, image
after image. The part of FPDeep's chain in one node is such a pipeline, too.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.gather import gather
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, Stream, flag, stream_of
from merp.hdl.cnn_merp.pipeline.admission import admission
from merp.hdl.cnn_merp.pipeline.layer_slice import layer_slice
from merp.hdl.cnn_merp.pipeline.ports import PipelineStatus
from merp.hdl.cnn_merp.ports.slice_ports import LayerPorts, with_flags
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.stream_gate import stream_gate
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign


@entity
def pipeline(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: Bundles,
    s_axis: Bundles,
    m_axis: Bundles,
    status: PipelineStatus,
    design: PipelineDesign,
) -> Any:
    """Train all layers of a network on a batch: one run is a step.

    start begins a run; the configuration must be stable from start to status_done. Kernels and
    biases of every layer are loaded first. Then images stream in, and for each image the output of
    the last layer streams out. The host returns the deltas of the sums of this output. After the
    last delta of the run, new kernels and biases are sent in the order of the old ones. The old
    ones are read a second time then. If the velocity streams exist, velocities are sent in
    parallel. The next run needs no reset.

    config  in   registers of admission and of every engine: layer1_fp, layer1_ku, layer2_fp, ...
    s_axis  in   map: images in the order image, row, column, map. delta: deltas of the last layer's
                 sums, in the same order. For each layer: layer1_fp_kernel (order m, n, row,
                 column), ...
    m_axis  out  map: output of the last layer in the order image, row, column, map. For each layer:
                 layer1_ku_kernel, ...
    status  out  flags, number of images inside, and the counters of every engine and store

    Throughput: an image takes as many cycles as in the slowest engine, if enough images may be
    inside. Reset: synchronous, active high; the run is abandoned.
    """
    admitted, losses = Stream(len(s_axis.map.tdata)), Stream(len(s_axis.delta.tdata))
    loss_error, leaving = flag(), flag()
    between = design.slices[1:]
    ons = [AxiStream(each.forward.stored_input.width) for each in between]
    backs = [AxiStream(len(s_axis.delta.tdata)) for _ in between]
    states = [AxiStream(BYTE) for _ in between]
    maps = [admitted, *(stream_of(on) for on in ons)]
    deltas = [*(stream_of(back) for back in backs), losses]
    slices: list[Any] = []
    told = [with_flags(getattr(status, f"layer{place}")) for place in range(1, len(maps) + 1)]
    for place, each in enumerate(design.slices):
        name = f"layer{place + 1}"
        more: dict[str, Any] = {}
        if place:
            more = {"states": stream_of(states[place - 1]), "deltas_on": backs[place - 1]}
        if place < len(between):
            more["states_on"] = states[place]
        slices.append(
            layer_slice(
                clk,
                rst,
                start,
                ports=LayerPorts(
                    each,
                    config=getattr(config, name),
                    s_axis=getattr(s_axis, name),
                    m_axis=getattr(m_axis, name),
                    maps=maps[place],
                    maps_on=ons[place] if place < len(between) else m_axis.map,
                    deltas=deltas[place],
                    status=told[place],
                    **more,
                ),
                design=each,
            )
        )
    first = deltas[0]
    layers = with_flags(Bundles({}))
    flags = gather(told, status=layers)

    @always_comb
    def connect() -> None:
        losses.data.next = s_axis.delta.tdata
        losses.last.next = s_axis.delta.tlast
        leaving.next = first.valid and first.ready
        status.done.next = layers.done
        status.busy.next = layers.busy
        status.framing_error.next = layers.framing_error or loss_error

    loss_gate = stream_gate(
        clk,
        rst,
        start,
        words=config.admission.losses,
        sink=stream_of(s_axis.delta),
        valid=losses.valid,
        ready=losses.ready,
        framing_error=loss_error,
    )
    entrance = admission(
        clk,
        rst,
        start,
        config=config.admission,
        sink=stream_of(s_axis.map),
        source=admitted,
        leaving=leaving,
        flight=status.flight,
        peak=status.flight_peak,
    )
    return slices, flags, connect, loss_gate, entrance
