"""The fixed-point MAC array with everything around it: FP and DP of any layer, pass by pass.

S. K. Venkataramanaiah et al., FPL 2019, figure 3. Kernel updates are not built yet.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.element_counter import element_counter
from merp.hdl.base.signals import AxiStream, Stream, bits, flag, stream_of
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.array.mac_array import mac_array
from merp.hdl.mac_array.array.round_lanes import round_lanes
from merp.hdl.mac_array.output.output_path import output_path
from merp.hdl.mac_array.phases.operand_supply import operand_supply
from merp.hdl.mac_array.phases.pass_counters import pass_counters
from merp.hdl.mac_array.ports.kernels import BiasWrite
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.hdl.mac_array.ports.outputs import IndexWrite, OutputConfig
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.slots import Verdict
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.words import ROUNDED_BITS


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
def trainer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    supply_config: SupplyConfig,
    output_config: OutputConfig,
    s_axis_map: AxiStream,
    s_axis_kernel: AxiStream,
    m_axis_map: AxiStream,
    status: ArrayStatus,
    design: Design,
) -> Any:
    """Compute a pass of FP or DP of one layer and image.

    supply_config, output_config  in  registers, stable from start to done
    s_axis_map     in   atoms of input maps, of deltas in DP: band, map, row, column
    s_axis_kernel  in   beats of kernels, FP's with biases
    m_axis_map     out  atoms of output maps, of deltas in DP: band, tile of maps, tile of columns,
                        lane, row; last with the pass's last one
    status         out  progress and counters

    A beat has pox words of maps, or pof words of kernels; all of them count. Masks of ReLU stay on
    the chip from FP to DP. Throughput: a beat per cycle and port, a slot per cycle. Reset: the pass
    is abandoned; a start needs none.
    """
    operands, rank, bias = Operands(design), Rank(design), BiasWrite(design)
    verdict, index = Verdict(design), IndexWrite(design)
    drained, complete, error = flag(), flag(), flag()
    biases, words = bits(design.parameter_bits), bits(design.parameter_bits)
    rounded, clipped = bits(design.pof * ROUNDED_BITS), bits(design.pof)

    supply = operand_supply(
        clk, rst, start, config=supply_config, maps=stream_of(s_axis_map),
        parameters=stream_of(s_axis_kernel), deltas=Stream(design.atom_bits), drained=drained,
        operands=operands, bias=bias, verdict=verdict, complete=complete, framing_error=error,
        design=design,
    )  # fmt: skip
    array = mac_array(clk, rst, operands=operands, rank=rank, design=design)
    rounding = round_lanes(
        clk, sums=rank.sums, biases=biases, bias_shift=output_config.bias_shift,
        shift=output_config.shift, relu=output_config.relu, rounded=rounded, words=words,
        clipped=clipped,
    )  # fmt: skip
    output = output_path(
        clk, rst, start, config=output_config, bias=bias, copied=rank.copied, place=rank.place,
        drained=drained, biases=biases, words=words, clipped=clipped, index=index,
        source=stream_of(m_axis_map), saturated=status.saturated, design=design,
    )  # fmt: skip
    counters = (
        pass_counters(
            clk, rst, start, verdict=verdict, output=m_axis_map, drained=drained, error=error,
            status=status, design=design,
        ),
        element_counter(clk, rst, start, stream=s_axis_map, words=status.map_in),
        element_counter(clk, rst, start, stream=s_axis_kernel, words=status.kernel),
        element_counter(clk, rst, start, stream=m_axis_map, words=status.map_out),
    )  # fmt: skip
    return supply, array, rounding, output, _whole_beats(m_axis_map), counters
