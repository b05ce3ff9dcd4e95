"""The fixed-point MAC array with everything around it: every phase of any layer, pass by pass.

S. K. Venkataramanaiah et al., FPL 2019, figure 3.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.either import either
from merp.hdl.base.interface import SOURCE
from merp.hdl.base.signals import AxiStream, Stream, bits, count, flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.array.mac_array import mac_array
from merp.hdl.mac_array.array.round_lanes import round_lanes
from merp.hdl.mac_array.output.loss_unit import loss_unit
from merp.hdl.mac_array.output.output_path import output_path
from merp.hdl.mac_array.phases.last_sent import last_sent
from merp.hdl.mac_array.phases.operand_supply import OperandSupplyPorts, operand_supply
from merp.hdl.mac_array.phases.pass_counters import PassCountersPorts, pass_counters
from merp.hdl.mac_array.phases.pooled_entry import PooledEntryPorts, pooled_entry
from merp.hdl.mac_array.ports.kernels import BiasWrite
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.slots import Verdict
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.hdl.mac_array.ports.updates import Saturated
from merp.hdl.mac_array.update.update_path import update_path
from merp.hdl.streams.stream_gate import stream_gate
from merp.hdl.streams.stream_mux import stream_mux
from merp.hdl.streams.wanted_gate import wanted_gate
from merp.models.machines.mac_array.params.design import WORD_BITS, Design
from merp.models.machines.mac_array.params.words import ROUNDED_BITS


@block
def _whole_beats(stream: AxiStream) -> Any:
    """Every element of every beat counts: rows and tiles are filled up."""
    full = (1 << len(stream.tkeep)) - 1

    @always_comb
    def keep() -> None:
        stream.tkeep.next = 0
        if stream.tvalid:
            stream.tkeep.next = full

    return keep


@entity
def trainer(clk: Bit, rst: Bit, start: Bit, ports: TrainerPorts, design: Design) -> Any:
    """Compute a pass of FP, DP, KU or un-pooling of one layer and image.

    supply_config, output_config, update_config, unpool_config  in  registers, stable from start to
                          done
    s_axis_map       in   atoms of input maps, of deltas in DP and un-pooling, pooled or not
    s_axis_delta     in   atoms of deltas in KU, likewise
    s_axis_kernel    in   beats of kernels and biases: FP, DP without biases, KU of the last image
    s_axis_gradient  in   beats of gradients: KU of all images but the first
    m_axis_map       out  atoms of output maps, of deltas in DP and un-pooling
    m_axis_kernel    out  new kernels and biases: KU of the last image
    m_axis_gradient  out  new gradients: KU of all images but the last
    status           out  progress and counters
    s_axis_velocity  in   (of a design with momentum) old velocities: KU of the last image
    m_axis_velocity  out  (there) new ones
    s_axis_target    in   (of a design with loss) number of the right class: FP with a loss, whose
                          deltas leave behind the outputs

    A beat has pox words of maps and deltas, one of a target, pof words of all else, which all
    count; last comes with a pass's last one. Masks of ReLU and places of maxima stay on the chip
    from FP to the way back. Throughput: a beat per cycle and port, a slot per cycle.
    Reset: the pass is abandoned; a start needs none.
    """
    output_config, update_config = ports.output_config, ports.update_config
    status = ports.status
    update, unpools = ports.supply_config.walk.update, ports.unpool_config.active
    operands, rank, bias = Operands(design), Rank(design), BiasWrite(design)
    verdict, index = Verdict(design), IndexWrite(design)
    kernels, layer_kernels = stream_of(ports.s_axis_kernel), Stream(design.parameter_bits)
    offered_kernels, old_kernels = Stream(design.parameter_bits), Stream(design.parameter_bits)
    old_gradients = Stream(design.parameter_bits)
    results = stream_of(ports.m_axis_map)
    whole_maps, whole_deltas = Stream(design.atom_bits), Stream(design.atom_bits)
    outputs, expanded = Stream(design.atom_bits), Stream(design.atom_bits)
    with_deltas = Stream(design.atom_bits) if design.loss else outputs
    start_computing, computes, unpool_error = flag(), flag(), flag()
    drained, complete, sent, error = flag(), flag(), flag(), flag()
    supply_error, kernel_error, gradient_error, velocity_error = (flag() for _ in range(4))
    target_error = flag()
    biases, words = bits(design.parameter_bits), bits(design.parameter_bits)
    rounded, clipped = bits(design.pof * ROUNDED_BITS), bits(design.pof)
    layer_copied, update_copied = flag(), flag()
    layer_drained, update_drained = flag(), flag()
    layer_place, update_place = count(design.pixels), count(design.pixels)
    shift, update_shift = bits(len(output_config.shift)), bits(len(output_config.shift))
    map_sent, kernel_sent, gradient_sent = flag(), flag(), flag()
    velocity_sent, velocity_due = flag(), flag()
    wants_gradients, wants_kernels = flag(), flag()
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
        layer_copied.next = rank.copied and not update
        update_copied.next = rank.copied and update
        drained.next = layer_drained or update_drained

    @always_comb
    def ask() -> None:
        wants_gradients.next = update and not update_config.first
        wants_kernels.next = update and update_config.last

    @always_comb
    def tell() -> None:
        error.next = (
            supply_error
            or kernel_error
            or gradient_error
            or velocity_error
            or unpool_error
            or target_error
        )
        if not update:
            sent.next = map_sent
        elif update_config.last:
            sent.next = kernel_sent and (velocity_sent or not velocity_due)
        else:
            sent.next = gradient_sent

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
            clk, sums=rank.sums, biases=biases, bias_shift=output_config.bias_shift, shift=shift,
            relu=output_config.relu, rounded=rounded, words=words, clipped=clipped,
        ),
        either(choice=update, one=update_place, other=layer_place, y=rank.place),
        either(choice=update, one=update_shift, other=output_config.shift, y=shift),
    )  # fmt: skip
    maps_out = output_path(
        clk, rst, start, config=output_config, bias=bias, copied=layer_copied, place=layer_place,
        drained=layer_drained, biases=biases, words=words, clipped=clipped, index=index,
        source=outputs, saturated=status.saturated, design=design,
    )  # fmt: skip
    unpooling = pooled_entry(
        clk, rst, start, design=design, ports=PooledEntryPorts(
            config=ports.unpool_config, update=update, index=index,
            maps=stream_of(ports.s_axis_map), deltas=stream_of(ports.s_axis_delta),
            whole_maps=whole_maps, whole_deltas=whole_deltas, alone=expanded,
            framing_error=unpool_error,
        ),
    )  # fmt: skip
    mapped = [stream_mux(second=unpools, one=with_deltas, other=expanded, source=results)]
    gates = [
        wanted_gate(
            clk, rst, start, wanted=wants_gradients, beats=update_config.beats,
            sink=stream_of(ports.s_axis_gradient), source=old_gradients,
            framing_error=gradient_error,
        ),
        wanted_gate(
            clk, rst, start, wanted=wants_kernels, beats=update_config.beats,
            sink=offered_kernels, source=old_kernels, framing_error=kernel_error,
        ),
    ]  # fmt: skip
    ends = [
        last_sent(clk, rst, start, stream=ports.m_axis_map, sent=map_sent),
        last_sent(clk, rst, start, stream=ports.m_axis_kernel, sent=kernel_sent),
        last_sent(clk, rst, start, stream=ports.m_axis_gradient, sent=gradient_sent),
    ]
    more: dict[str, Any] = {}
    if design.momentum:
        wants_velocities = flag()
        old_velocities = Stream(design.parameter_bits)
        more = {
            "velocity_sink": old_velocities,
            "velocity_source": stream_of(ports.m_axis_velocity),
        }

        @always_comb
        def ask_velocities() -> None:
            velocity_due.next = update_config.has_momentum
            wants_velocities.next = update and update_config.last and update_config.has_momentum

        gates += [
            ask_velocities,
            wanted_gate(
                clk, rst, start, wanted=wants_velocities, beats=update_config.beats,
                sink=stream_of(ports.s_axis_velocity), source=old_velocities,
                framing_error=velocity_error,
            ),
        ]  # fmt: skip
        ends.append(last_sent(clk, rst, start, stream=ports.m_axis_velocity, sent=velocity_sent))
    if design.loss:
        s_axis_target = ports.s_axis_target
        target, targets = Stream(WORD_BITS), bits(1)

        @always_comb
        def ask_target() -> None:
            targets.next = 0
            if output_config.loss:
                targets.next = 1
            target.data.next = s_axis_target.tdata

        mapped += [
            ask_target,
            stream_gate(
                clk, rst, start, words=targets, sink=stream_of(s_axis_target), valid=target.valid,
                ready=target.ready, framing_error=target_error,
            ),
            loss_unit(
                clk, rst, start, config=output_config, target=target, sink=outputs,
                source=with_deltas, saturated=status.saturated_loss, design=design,
            ),
        ]  # fmt: skip
    parameters_out = update_path(
        clk, rst, start, config=update_config, copied=update_copied, place=update_place,
        drained=update_drained, shift=update_shift, rounded=rounded, gradient_sink=old_gradients,
        kernel_sink=old_kernels, gradient_source=stream_of(ports.m_axis_gradient),
        kernel_source=stream_of(ports.m_axis_kernel), saturated=saturated, design=design, **more,
    )  # fmt: skip
    counters = (
        pass_counters(
            clk, rst, start, design=design, ports=PassCountersPorts(
                verdict=verdict, sent=sent, computes=computes, complete=complete, drained=drained,
                error=error, status=status,
            ),
        ),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
    beats = [_whole_beats(each) for name, each in vars(ports).items() if name.startswith(SOURCE)]
    return (
        share_kernels, begin, share_rank, ask, tell, supply, array, maps_out, unpooling, gates,
        ends, parameters_out, counters, beats, mapped,
    )  # fmt: skip
