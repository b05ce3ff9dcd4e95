"""Admission of images to a pipeline: one may enter if few enough are inside.

FPDeep's chain and Mazouz and Bridges' pipeline store data of an image until its own deltas have
used them. Therefore the stores limit the number of images.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.ports.slice_ports import AdmissionConfig
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def admission(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: AdmissionConfig,
    sink: Stream,
    source: Stream,
    leaving: Bit,
    flight: Word,
    peak: Word,
) -> Any:
    """Admit the images of a run, one whenever fewer than depth images are inside.

    config   in   images of the run, words of an image, number of its last words, and the depth
    sink     in   map words of images
    source   out  the same words
    leaving  in   pulse: one of config_leaving words of an image; the last of them completes the
                  image
    flight   out  number of images inside
    peak     out  the largest number of images inside, since start

    Words pass combinationally; between two images there is one cycle without a word. Reset: closed.
    """
    images = bits(len(config.images))
    words = bits(len(config.words))
    left = bits(len(config.leaving))
    inside, enters, leaves = flag(), flag(), flag()
    count, most = bits(len(config.depth)), bits(len(config.depth))

    @always_comb
    def connect() -> None:
        source.data.next = sink.data
        source.last.next = sink.last
        source.valid.next = sink.valid and inside
        sink.ready.next = source.ready and inside

    @always_comb
    def decide() -> None:
        enters.next = not inside and images != 0 and count < config.depth
        leaves.next = leaving and left == 1

    @always(clk.posedge)
    def admit() -> None:
        if enters:
            inside.next = True
            images.next = images - 1
            words.next = config.words
        elif inside and sink.valid and source.ready:
            inside.next = words != 1
            words.next = words - 1
        if leaves:
            left.next = config.leaving
        elif leaving and left != 0:
            left.next = left - 1
        if enters and not leaves:
            count.next = count + 1
        elif leaves and not enters and count != 0:
            count.next = count - 1
        if count > most:
            most.next = count
        if start:
            images.next = config.images
            left.next = config.leaving
            most.next = 0
        if rst:
            inside.next = False
            images.next = 0
            count.next = 0
            most.next = 0

    @always_comb
    def tell() -> None:
        flight.next = count
        peak.next = most

    return connect, decide, admit, tell
