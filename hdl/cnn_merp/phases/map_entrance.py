"""Where maps come into a datapath: as many words as its banks take, in the beats that they take."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.interface import Interface
from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit
from merp.hdl.streams.piece_cutter import piece_cutter
from merp.hdl.streams.tail_filler import tail_filler
from merp.models.machines.cnn_merp.params.design import EngineDesign


def map_entrance(
    clk: Bit, rst: Bit, start: Bit, ports: Interface, design: EngineDesign, sink: Stream
) -> tuple[Stream, Any]:
    """The stream that a datapath takes of ``sink``, and what makes it, if anything has to.

    Beats of several elements are cut into pieces; elements of a fully connected layer are filled
    up with zeros to whole maps.
    """
    if design.map_port > 1:
        pieces = Stream(len(sink.data))
        cutter = piece_cutter(
            clk,
            rst,
            start,
            length=ports.port_config.elements,
            lengths=ports.port_config.pixels,
            sink=sink,
            source=pieces,
            width=design.fmt.width,
            filling=ports.fold_config.filling if design.folded else None,
        )
        return pieces, cutter
    if not design.folded:
        return sink, ()
    whole = Stream(design.fmt.width)
    return whole, fold_filler(clk, rst, start, ports, sink, whole)


def fold_filler(
    clk: Bit, rst: Bit, start: Bit, ports: Interface, sink: Stream, source: Stream
) -> Any:
    """Zeros behind the elements of a fully connected layer, up to a whole map or kernel."""
    return tail_filler(
        clk,
        rst,
        start,
        length=ports.fold_config.elements,
        filling=ports.fold_config.filling,
        sink=sink,
        source=source,
    )
