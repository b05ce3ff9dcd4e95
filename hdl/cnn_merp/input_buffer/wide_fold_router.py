"""Router of a folded run with several elements per beat."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.maps import Floor, WideBankWrite
from merp.hdl.cnn_merp.ports.windows import FoldedConfig, Intake
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _lane(clk: Bit, accept: Bit, place: Word, places: Word, at: int) -> Any:
    """Compute the bank of the element ``at`` places behind the first one of a piece."""
    taps = len(place)

    @always(clk.posedge)
    def write() -> None:
        turned = intbv(0)[2 * taps :]
        turned[:] = concat(place, place)
        places.next = 0
        if accept:
            places.next = turned[2 * taps - at : taps - at]

    return write


@entity
def wide_fold_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: FoldedConfig,
    sink: Stream,
    floor: Floor,
    bank: WideBankWrite,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """Accept the elements of folded images and write them into the banks, map_port per cycle.

    Element e of an image is tap e mod k*k of map i = e div k*k. It goes to bank e mod k*k, address
    i div map_port of its memory e mod map_port. Since k*k is odd, the maps of a word lie in
    different memories of the banks of a tap. The elements of the maps of a word fill whole beats,
    so a beat has one address. Elements of a beat behind the last tap of an image go to places that
    belong to no map. Elements are accepted as in ``fold_router``.

    enable       in   elements may be accepted (kernels are loaded)
    sink         in   elements in the order image, map, row, column; k*k for every map. Each image
                      begins with a new beat
    floor        in   data that the oldest open position still uses; only its row_limit counts
    bank         out  write of the elements into the banks
    intake       out  map and row (over all images) of the next element; whether the run is
                      complete; framing errors. The sequencer waits for the last element of a
                      window.
    config.rows  in   (of a kernel update by row) images are the columns of a row

    Latency: an element is in its bank 2 cycles after its transfer. Throughput: a beat per cycle.
    Reset: the run is complete.
    """
    fold, config_map = config.rows, config.map
    row, channel = intake.place.row, intake.place.channel
    complete, framing_error = intake.complete, intake.framing_error
    k, taps, lanes, row_words = design.k, design.taps, design.map_port, design.row_words
    last_base = (design.d - 1) * row_words

    rows_left = count(design.max_images)  # images left, or rows of them
    place = bits(taps)  # bank of the first element of the beat, one-hot
    base = count(design.d * row_words)  # place of this image in the ring
    image_base = count(design.d * row_words)  # base of this image
    # word of the map of the first element of the beat
    word = count(design.map_words(design.max_maps))
    lane = count(lanes - 1)  # place of this map in its word
    accept, wraps = flag(), flag()
    last_map, last_in_word, image_end, row_end, last_beat = flag(), flag(), flag(), flag(), flag()
    uneven: Any = ()
    if fold is not None:
        images_left = count(design.max_size)

        @always_comb
        def end() -> None:
            row_end.next = image_end and images_left == 1

        @always(clk.posedge)
        def of_row() -> None:
            if accept and image_end:
                images_left.next = images_left - 1
                if images_left == 1:
                    images_left.next = config_map.out_columns
            if start:
                images_left.next = fold.first_images

        uneven = end, of_row
    else:

        @always_comb
        def end() -> None:
            row_end.next = image_end

        uneven = end

    @always_comb
    def permission() -> None:
        sink.ready.next = False
        accept.next = False
        if enable and not complete and (floor.open or (floor.valid and row < floor.row_limit)):
            sink.ready.next = True
            accept.next = sink.valid

    @always_comb
    def locate() -> None:
        wraps.next = False
        for t in range(taps - lanes, taps):
            if place[t]:
                wraps.next = True
        last_map.next = channel + 1 == config_map.inputs
        last_in_word.next = lane == lanes - 1

    @always_comb
    def recognise() -> None:
        image_end.next = wraps and last_map
        last_beat.next = row_end and rows_left == 1

    @always(clk.posedge)
    def route() -> None:
        bank.data.next = sink.data
        if accept:
            bank.addr.next = image_base + word
            if sink.last != last_beat:
                framing_error.next = True
            place.next = concat(place[taps - lanes :], place[taps : taps - lanes])
            if wraps:
                channel.next = channel + 1
                if last_in_word:
                    lane.next = 0
                    word.next = word + 1
                else:
                    lane.next = lane + 1
            if image_end:
                place.next = 1
                channel.next = 0
                lane.next = 0
                word.next = 0
                image_base.next = image_base + word + 1
            if row_end:
                if base == last_base:
                    base.next = 0
                    image_base.next = 0
                else:
                    base.next = base + row_words
                    image_base.next = base + row_words
                if last_beat:
                    row.next = row + 1  # behind every row of the run
                    complete.next = True
                else:
                    row.next = row + k
                    rows_left.next = rows_left - 1
        if start:
            row.next = k - 1
            channel.next = 0
            rows_left.next = config_map.images
            place.next = 1
            lane.next = 0
            word.next = 0
            base.next = 0
            image_base.next = 0
            complete.next = False
            framing_error.next = False
        if rst:
            complete.next = True
            framing_error.next = False

    places = [bits(taps) for _ in range(lanes)]
    all_places = ConcatSignal(*reversed(places))

    @always_comb
    def join() -> None:
        bank.places.next = all_places

    writes = [
        _lane(clk, accept=accept, place=place, places=places[at], at=at) for at in range(lanes)
    ]
    return permission, locate, recognise, route, join, writes, uneven
