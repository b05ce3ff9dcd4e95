"""Select one of two routers on a bitstream: for convolutions, or for folded runs."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.cnn_merp.ports.windows import Intake, RouterSide
from merp.hdl.conversion.entity import Bit
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def router_choice(
    rst: Bit,
    start: Bit,
    folded: Bit,
    sink: Stream,
    by_pixel: RouterSide,
    by_map: RouterSide,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """Enable the router for the word order of the run, and report its progress.

    The other router is reset when a run begins. It is complete, takes no word, writes nothing and
    has no framing error of an earlier run. In a folded run, the word for which a window waits is
    always in the last column.
    """
    last_column = design.k - 1

    @always_comb
    def begin() -> None:
        by_pixel.rst.next = rst or (start and folded)
        by_map.rst.next = rst or (start and not folded)

    @always_comb
    def offer() -> None:
        by_pixel.sink.data.next = sink.data
        by_pixel.sink.last.next = sink.last
        by_pixel.sink.valid.next = sink.valid
        by_map.sink.data.next = sink.data
        by_map.sink.last.next = sink.last
        by_map.sink.valid.next = sink.valid
        sink.ready.next = by_pixel.sink.ready or by_map.sink.ready

    @always_comb
    def tell() -> None:
        intake.framing_error.next = by_pixel.intake.framing_error or by_map.intake.framing_error
        if folded:
            intake.place.row.next = by_map.intake.place.row
            intake.place.column.next = last_column
            intake.place.channel.next = by_map.intake.place.channel
            intake.complete.next = by_map.intake.complete
        else:
            intake.place.row.next = by_pixel.intake.place.row
            intake.place.column.next = by_pixel.intake.place.column
            intake.place.channel.next = by_pixel.intake.place.channel
            intake.complete.next = by_pixel.intake.complete

    return begin, offer, tell
