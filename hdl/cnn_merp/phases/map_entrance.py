"""Input of maps into a datapath, in the number of words and the beats that its banks take."""

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
    """Return the stream that a datapath takes of ``sink``, and its converter if one is needed.

    Beats of several elements are cut into pieces; the elements of a fully connected layer are
    padded with zeros to whole maps.
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
    """Append zeros to the elements of a fully connected layer, up to a whole map or kernel."""
    return tail_filler(
        clk,
        rst,
        start,
        length=ports.fold_config.elements,
        filling=ports.fold_config.filling,
        sink=sink,
        source=source,
    )
