"""The complete fixed-point MAC array: every phase of any layer, pass by pass.

Source: S. K. Venkataramanaiah et al., FPL 2019, figure 3.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.either import either
from merp.hdl.base.interface import SOURCE
from merp.hdl.base.signals import AxiStream, Stream, bits, flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.array.mac_array import mac_array
from merp.hdl.mac_array.array.round_lanes import round_lanes
from merp.hdl.mac_array.output.loss_unit import loss_unit
from merp.hdl.mac_array.output.output_path import output_path
from merp.hdl.mac_array.phases.last_sent import all_sent
from merp.hdl.mac_array.phases.old_parameters import old_parameters
from merp.hdl.mac_array.phases.operand_supply import OperandSupplyPorts, operand_supply
from merp.hdl.mac_array.phases.pass_counters import PassCountersPorts, pass_counters
from merp.hdl.mac_array.phases.pooled_entry import PooledEntryPorts, pooled_entry
from merp.hdl.mac_array.ports.kernels import BiasTileWrite
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.hdl.mac_array.ports.outputs import Outputs
from merp.hdl.mac_array.ports.rounding import PixelWords, Readout, RoundedSums
from merp.hdl.mac_array.ports.slots import ArrayVerdict
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.hdl.mac_array.ports.updates import Saturated, StepStreams
from merp.hdl.mac_array.update.update_path import update_path
from merp.hdl.streams.stream_gate import stream_gate
from merp.hdl.streams.stream_mux import stream_mux
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@block
def _whole_beats(stream: AxiStream) -> Any:
    """Mark every element of every beat as valid, because rows and tiles are padded."""
    full = (1 << len(stream.tkeep)) - 1

    @always_comb
    def keep() -> None:
        stream.tkeep.next = 0
        if stream.tvalid:
            stream.tkeep.next = full

    return keep


def _step_streams(ports: TrainerPorts, design: ArrayDesign) -> tuple[StepStreams, StepStreams]:
    """Connect the parameters before and after a kernel update to their streams."""
    sources = {"gradient": ports.m_axis_gradient, "kernel": ports.m_axis_kernel}
    if design.momentum:
        sources["velocity"] = ports.m_axis_velocity
    old = {kind: Stream(design.parameter_bits) for kind in sources}
    return StepStreams(**old), StepStreams(**{k: stream_of(axi) for k, axi in sources.items()})


@block
def _with_loss(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: TrainerPorts,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Send the deltas of the loss behind the outputs of the last layer, for the right class."""
    output_config, s_axis_target = ports.output_config, ports.s_axis_target
    target, targets = Stream(WORD_BITS), bits(1)

    @always_comb
    def ask_target() -> None:
        targets.next = 0
        if output_config.loss:
            targets.next = 1
        target.data.next = s_axis_target.tdata

    return (
        ask_target,
        stream_gate(
            clk, rst, start, words=targets, sink=stream_of(s_axis_target), valid=target.valid,
            ready=target.ready, framing_error=framing_error,
        ),
        loss_unit(
            clk, rst, start, config=output_config, target=target, sink=sink, source=source,
            saturated=ports.status.saturated_loss, design=design,
        ),
    )  # fmt: skip


@entity
def trainer(clk: Bit, rst: Bit, start: Bit, ports: TrainerPorts, design: ArrayDesign) -> Any:
    """Compute a pass of FP, DP, KU or un-pooling of one layer and image.

    supply_config, output_config, update_config, unpool_config  in   registers, stable from start to
                            done
    s_axis_map       in   atoms of input maps; in DP and un-pooling atoms of deltas, pooled or not
    s_axis_delta     in   atoms of deltas in KU, pooled or not
    s_axis_kernel    in   beats of kernels and biases: FP, DP without biases, KU of the last image
    s_axis_gradient  in   beats of gradients: KU of all images but the first
    m_axis_map       out  atoms of output maps; in DP and un-pooling atoms of deltas
    m_axis_kernel    out  new kernels and biases: KU of the last image
    m_axis_gradient  out  new gradients: KU of all images but the last
    status           out  progress and counters
    s_axis_velocity  in   (of a design with momentum) old velocities: KU of the last image
    m_axis_velocity  out  (of a design with momentum) new velocities: KU of the last image
    s_axis_target    in   (of a design with loss) number of the right class: FP with a loss, whose
                          deltas follow the outputs

    A beat of maps or deltas has pox words, a beat of targets has one word, and all other beats have
    pof words. All words of a beat count; last comes with the last beat of a pass. ReLU masks and
    places of maxima stay on the chip from FP to backward propagation. Throughput: a beat per cycle
    and port, a slot per cycle. Reset: the pass is abandoned; a start needs no reset.
    """
    output_config, update_config = ports.output_config, ports.update_config
    status = ports.status
    update, unpools = ports.supply_config.walk.update, ports.unpool_config.active
    operands, rank, bias = Operands(design), Rank(design), BiasTileWrite(design)
    verdict = ArrayVerdict(design)
    kernels, layer_kernels = stream_of(ports.s_axis_kernel), Stream(design.parameter_bits)
    offered_kernels = Stream(design.parameter_bits)
    old, new = _step_streams(ports, design)
    results = stream_of(ports.m_axis_map)
    whole_maps, whole_deltas = Stream(design.atom_bits), Stream(design.atom_bits)
    outputs, expanded = Outputs(design), Stream(design.atom_bits)
    with_deltas = Stream(design.atom_bits) if design.loss else outputs.atoms
    start_computing, computes, unpool_error = flag(), flag(), flag()
    drained, complete, sent, error = flag(), flag(), flag(), flag()
    supply_error, parameter_error, target_error = flag(), flag(), flag()
    pixels = PixelWords(design)
    layer, of_update = Readout(design), Readout(design)
    shift = bits(len(output_config.shift))
    sums = RoundedSums(design, bits(len(output_config.shift)))
    saturated = Saturated()
    saturated.gradient = status.saturated_gradient
    saturated.velocity = status.saturated_velocity
    saturated.kernel = status.saturated_kernel

    @always_comb
    def share_kernels() -> None:
        layer_kernels.data.next = kernels.data
        layer_kernels.last.next = kernels.last
        layer_kernels.valid.next = kernels.valid and not update
        offered_kernels.data.next = kernels.data
        offered_kernels.last.next = kernels.last
        offered_kernels.valid.next = kernels.valid and update
        if update:
            kernels.ready.next = offered_kernels.ready
        else:
            kernels.ready.next = layer_kernels.ready

    @always_comb
    def begin() -> None:
        computes.next = not unpools
        start_computing.next = start and not unpools

    @always_comb
    def share_rank() -> None:
        layer.copied.next = rank.copied and not update
        of_update.copied.next = rank.copied and update
        drained.next = layer.drained or of_update.drained

    @always_comb
    def tell() -> None:
        error.next = supply_error or parameter_error or unpool_error or target_error

    supply = operand_supply(
        clk, rst, start=start_computing, design=design, ports=OperandSupplyPorts(
            config=ports.supply_config, maps=whole_maps, parameters=layer_kernels,
            deltas=whole_deltas, drained=drained, operands=operands, bias=bias, verdict=verdict,
            complete=complete, framing_error=supply_error,
        ),
    )  # fmt: skip
    array = (
        mac_array(clk, rst, operands=operands, rank=rank, design=design),
        round_lanes(
            clk, sums=rank.sums, biases=pixels.biases, bias_shift=output_config.bias_shift,
            shift=shift, relu=output_config.relu, rounded=sums.rounded, words=pixels.words,
            clipped=pixels.clipped, limit=output_config.get("limit"),
        ),
        either(choice=update, one=of_update.place, other=layer.place, y=rank.place),
        either(choice=update, one=sums.shift, other=output_config.shift, y=shift),
    )  # fmt: skip
    maps_out = output_path(
        clk, rst, start, config=output_config, bias=bias, readout=layer, pixels=pixels,
        outputs=outputs, saturated=status.saturated, design=design,
    )  # fmt: skip
    unpooling = pooled_entry(
        clk, rst, start, design=design, ports=PooledEntryPorts(
            config=ports.unpool_config, update=update, index=outputs.index,
            maps=stream_of(ports.s_axis_map), deltas=stream_of(ports.s_axis_delta),
            whole_maps=whole_maps, whole_deltas=whole_deltas, alone=expanded,
            framing_error=unpool_error,
        ),
    )  # fmt: skip
    mapped = [stream_mux(second=unpools, one=with_deltas, other=expanded, source=results)]
    if design.loss:
        mapped.append(
            _with_loss(
                clk, rst, start, ports=ports, sink=outputs.atoms, source=with_deltas,
                framing_error=target_error, design=design,
            )
        )  # fmt: skip
    parameters_in = old_parameters(
        clk,
        rst,
        start,
        ports=ports,
        kernels=offered_kernels,
        old=old,
        framing_error=parameter_error,
    )
    parameters_out = update_path(
        clk, rst, start, config=update_config, readout=of_update, sums=sums, sinks=old,
        sources=new, saturated=saturated, design=design,
    )  # fmt: skip
    counters = (
        pass_counters(
            clk, rst, start, design=design, ports=PassCountersPorts(
                verdict=verdict, sent=sent, computes=computes, complete=complete, drained=drained,
                error=error, status=status,
            ),
        ),
        word_counters(clk, rst, start, ports),
        all_sent(clk, rst, start, ports=ports, sent=sent),
    )  # fmt: skip
    beats = [_whole_beats(each) for name, each in vars(ports).items() if name.startswith(SOURCE)]
    return (
        share_kernels, begin, share_rank, tell, supply, array, maps_out, unpooling, mapped,
        parameters_in, parameters_out, counters, beats,
    )  # fmt: skip
