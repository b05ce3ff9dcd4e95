"""The fully connected module of F-CNN: forward or delta propagation, or gradients, of a layer."""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import always_comb

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import flag, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.fcnn.beat_ports import full_beats
from merp.hdl.fcnn.block_product import ProductActivity, ProductStreams, block_product
from merp.hdl.fcnn.cycle_counters import cycle_counters
from merp.hdl.fcnn.module_ports import status_of, stream_of_words
from merp.hdl.fcnn.run_flags import run_flags
from merp.hdl.fcnn.tile_loops import ProductConfig
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import COUNTERS, WORDS


class ProductPorts(DesignPorts[ProductDesign]):
    """Ports of the module. A piece has R elements. All beats are full, so tkeep of an input is not
    read. Counters count elements.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", ProductConfig),
        stream_of_words(WORDS["map_in"], "map_in", lambda design: design.size),
        stream_of_words(WORDS["kernel"], "kernel", lambda design: design.size),
        stream_of_words(WORDS["bias"], "bias", lambda design: 1),
        stream_of_words(WORDS["sum_out"], "sum_out", lambda design: design.size),
        status_of(COUNTERS, lambda design: WORDS),
    )
    WORDS = tuple(WORDS)


@entity
def fcnn_mlp(clk: Bit, rst: Bit, start: Bit, ports: ProductPorts, design: ProductDesign) -> Any:
    """Compute a matrix product of a fully connected layer: C (I x O) = start + A (I x K) B (K x O).

    start          in   pulse: a run begins; registers are stable from here to done
    s_axis_map     in   column pieces of A: column of tiles, tile, column of A, piece
    s_axis_kernel  in   row pieces of B: column of tiles, tile, row of B, piece
    s_axis_bias    in   the start of each column of C, if biased
    m_axis_sum     out  column pieces of C: column of tiles, tile, column of C, piece

    Forward propagation: rows are images, K inputs, columns outputs, starts biases. Delta
    propagation: K outputs, columns inputs, with the kernels transposed. Gradients: rows are inputs
    and a row of ones for the biases, K images, columns outputs. The host arranges all three.
    Latency: mul_latency + add_latency + 2 cycles from the last column piece of a tile to the first
    read of a sum, and 4 to the port. Throughput: a column piece per cycle in a tile. Reset: no run.
    """
    activity = ProductActivity()
    running, done, error = flag(), flag(), flag()
    streams = ProductStreams(
        design, sink_map=stream_of(ports.s_axis_map), sink_kernel=stream_of(ports.s_axis_kernel),
        sink_bias=stream_of(ports.s_axis_bias), source=stream_of(ports.m_axis_sum),
    )  # fmt: skip

    @always_comb
    def look() -> None:
        running.next = (
            activity.issue or activity.drain or activity.stall_output or activity.stall_bias
            or activity.stall_kernel or activity.stall_map
        )  # fmt: skip

    wide = [each for each in ports.sources.values() if each.tkeep is not None]
    return (
        look,
        [full_beats(stream=each) for each in wide],
        block_product(
            clk, rst, start, config=ports.config, streams=streams, activity=activity, done=done,
            framing_error=error, design=design,
        ),
        run_flags(
            clk, rst, start, running=running, ended=done, wrong=error, status=ports.status
        ),
        cycle_counters(
            clk, start, running=running, activity=activity, status=ports.status,
            counters=COUNTERS,
        ),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
