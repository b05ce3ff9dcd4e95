"""The router of a folded run: k*k elements at a time fill a map of k x k.

``models/base/folded_shape.py`` has the layout. The maps of an image come one after the other, so
the window of a map is there long before the image's last element.
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

    Tap (r, c) of map i goes to bank (r, c), address i of the image's place in the ring. An image is
    k rows. Its elements are accepted once all of them may be written: the image lies within the
    d*k rows that are kept, counted from the oldest open position's first.

    enable         in   elements may be accepted (kernels are loaded)
    sink           in   elements in the order image, map, row, column; k*k for every map
    floor          in   what the oldest open position still needs; its row_limit counts
    bank           out  the element's write into the banks
    intake         out  for the sequencer, which waits for the last element of a window: the next
                        one to come is that of this map, in this row (over all images); whether the
                        run is complete, and framing errors
    config.rows    in   (of a kernel update by row) images lie side by side as the columns of a row:
                        the maps of a row are one image's here, channel counts all of them

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
    base = count(design.d * row_words)  # of this image's ring place
    accept = flag()
    last_map, last_word = flag(), flag()
    maps = config_map.inputs  # of this image
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
