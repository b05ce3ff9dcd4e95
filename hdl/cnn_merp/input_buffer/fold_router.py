"""Router of a folded run: each group of k*k elements fills a map of k x k.

``models/base/folded_shape.py`` defines the layout. The maps of an image arrive one after the other.
Therefore the window of a map is complete long before the last element of the image.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.maps import BankWrite, Floor
from merp.hdl.cnn_merp.ports.windows import FoldedConfig, Intake
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def fold_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: FoldedConfig,
    sink: Stream,
    floor: Floor,
    bank: BankWrite,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """Accept the elements of folded images and write them into the banks.

    Tap (r, c) of map i goes to bank (r, c), address i of the place of the image in the ring. An
    image is k rows. Its elements are accepted once all of them may be written. For this, the image
    must lie within the d*k rows kept, counted from the first row of the oldest open position.

    enable       in   elements may be accepted (kernels are loaded)
    sink         in   elements in the order image, map, row, column; k*k for every map
    floor        in   data that the oldest open position still uses; only its row_limit counts
    bank         out  write of the element into the banks
    intake       out  map and row (over all images) of the next element; whether the run is
                      complete; framing errors. The sequencer waits for the last element of a
                      window.
    config.rows  in   (of a kernel update by row) images are the columns of a row. The maps of a row
                      count as the maps of one image, and channel counts all of them

    Latency: an element is in its bank 2 cycles after its transfer. Throughput: one per cycle.
    Reset: the run is complete.
    """
    fold, config_map = config.rows, config.map
    row, channel = intake.place.row, intake.place.channel
    complete, framing_error = intake.complete, intake.framing_error
    k, row_words = design.k, design.row_words
    last_base = (design.d - 1) * row_words

    images_left = count(design.max_images)
    bank_row = bits(k)  # one-hot
    bank_column = bits(k)
    base = count(design.d * row_words)  # place of this image in the ring
    accept = flag()
    last_map, last_word = flag(), flag()
    maps = config_map.inputs  # maps of this image
    uneven: Any = ()
    if fold is not None:
        maps, first = count(row_words), flag(1)

        @always_comb
        def of_row() -> None:
            maps.next = fold.row_maps
            if first:
                maps.next = fold.first_row_maps

        @always(clk.posedge)
        def go_on() -> None:
            if accept and last_map and bank_row[k - 1] and bank_column[k - 1]:
                first.next = False
            if start:
                first.next = True

        uneven = of_row, go_on

    @always_comb
    def permission() -> None:
        sink.ready.next = False
        accept.next = False
        if enable and not complete and (floor.open or (floor.valid and row < floor.row_limit)):
            sink.ready.next = True
            accept.next = sink.valid

    @always_comb
    def recognise() -> None:
        last_map.next = channel + 1 == maps
        last_word.next = (
            images_left == 1 and channel + 1 == maps and bank_row[k - 1] and bank_column[k - 1]
        )

    @always(clk.posedge)
    def route() -> None:
        bank.rows.next = 0
        bank.columns.next = 0
        if accept:
            bank.rows.next = bank_row
            bank.columns.next = bank_column
            bank.addr.next = base + channel
            bank.data.next = sink.data
            if sink.last != last_word:
                framing_error.next = True
            if not bank_column[k - 1]:
                bank_column.next = bank_column << 1
            else:
                bank_column.next = 1
                if not bank_row[k - 1]:
                    bank_row.next = bank_row << 1
                else:
                    bank_row.next = 1
                    if not last_map:
                        channel.next = channel + 1
                    else:
                        channel.next = 0
                        if base == last_base:
                            base.next = 0
                        else:
                            base.next = base + row_words
                        if last_word:
                            row.next = row + 1  # behind every row of the run
                            complete.next = True
                        else:
                            row.next = row + k
                            images_left.next = images_left - 1
        if start:
            row.next = k - 1
            channel.next = 0
            images_left.next = config_map.images
            bank_row.next = 1
            bank_column.next = 1
            base.next = 0
            complete.next = False
            framing_error.next = False
        if rst:
            complete.next = True
            framing_error.next = False

    return permission, recognise, route, uneven
