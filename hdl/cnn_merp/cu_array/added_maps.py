"""Input of maps that are added to the sums of a layer (residual connection).

Source: He et al. 2016, section 3.1: the output of an earlier layer is added before ReLU. Here a sum
starts at this output plus its bias, so no addition follows the accumulators.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.widen import widen
from merp.hdl.base.delay import delay
from merp.hdl.base.raster import raster
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.kernels import BiasWrite
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def added_maps(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    wanted: Bit,
    config: MapConfig,
    sink: Stream,
    bias: BiasWrite,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Add the bias to each word of a run, in the order image, row, column, map.

    enable  in   words may be taken: the biases of the run are written
    wanted  in   the run has such words
    bias    in   the biases of the run, written in the order of maps between start and enable
    sink    in   elements
    source  out  sums in the format of the accumulator, with zeros above; last as in sink

    No word of the next run is taken, because its biases differ. Latency: added_latency cycles.
    Throughput: a word per cycle. Reset: nothing is taken; words in the pipeline are dropped.
    """
    fmt = design.accumulator_format
    places = design.add_latency + CREDIT_RETURN + 1
    maps = design.groups * design.n_cu

    biases = [bits(design.fmt.width) for _ in range(maps)]
    loaded = count(maps)  # biases of the run
    place = count(maps)  # map of the next word
    active = flag()  # words of the run are left
    accept, position_end, last_word = flag(), flag(), flag()
    last_column, last_row, last_image = flag(), flag(), flag()
    position_taken, some, push, credit = flag(), flag(), flag(), flag()
    ends, ended = flag(), flag()
    element, offset = bits(design.fmt.width), bits(design.fmt.width)
    wide_element, wide_offset, total = bits(fmt.width), bits(fmt.width), bits(fmt.width)
    joined, head = bits(1 + fmt.width), bits(1 + fmt.width)
    pair = ConcatSignal(ended, total)

    @always_comb
    def permit() -> None:
        sink.ready.next = active and enable and some
        accept.next = sink.valid and active and enable and some

    @always_comb
    def recognise() -> None:
        position_end.next = place + 1 == loaded

    @always_comb
    def finish() -> None:
        position_taken.next = accept and position_end
        last_word.next = position_end and last_column and last_row and last_image

    @always(clk.posedge)
    def take() -> None:
        if bias.enable != 0:
            biases[loaded].next = bias.data
            loaded.next = loaded + 1
        if accept:
            if position_end:
                place.next = 0
            else:
                place.next = place + 1
            if last_word:
                active.next = False
        if start:
            active.next = wanted
            loaded.next = 0
            place.next = 0
        if rst:
            active.next = False

    @always(clk.posedge)
    def fetch() -> None:
        offset.next = biases[place]
        element.next = sink.data
        ends.next = sink.last

    @always_comb
    def join() -> None:
        joined.next = pair

    @always_comb
    def present() -> None:
        source.data.next = head[fmt.width :]
        source.last.next = head[fmt.width]

    return (
        permit,
        recognise,
        finish,
        take,
        fetch,
        join,
        present,
        raster(
            clk,
            start,
            advance=position_taken,
            columns=config.out_columns,
            rows=config.out_rows,
            images=config.images,
            last_column=last_column,
            last_row=last_row,
            last_image=last_image,
        ),
        credit_gate(clk, rst, taken=accept, freed=credit, some=some, places=places),
        valid_delay(clk, rst, d=accept, q=push, cycles=1 + design.add_latency),
        delay(clk, d=ends, q=ended, cycles=design.add_latency),
        widen(x=element, y=wide_element, width=fmt.width),
        widen(x=offset, y=wide_offset, width=fmt.width),
        fp_add(clk, a=wide_element, b=wide_offset, y=total, fmt=fmt, latency=design.add_latency),
        credit_fifo(
            clk,
            rst,
            push=push,
            data=joined,
            head=head,
            head_valid=source.valid,
            take=source.ready,
            credit=credit,
            words=places,
        ),
    )
