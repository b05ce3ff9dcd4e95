"""Read of the window of an input map, which may be one of several maps in a word of a pixel."""

from __future__ import annotations

from typing import Any

from myhdl import block

from merp.hdl.base.lane import split_index
from merp.hdl.base.signals import count
from merp.hdl.cnn_merp.ports.windows import WindowFetch
from merp.hdl.cnn_merp.sequencer.window_read import window_read
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def map_read(
    clk: Bit,
    enable: Bit,
    position: Word,
    channel: Word,
    fetch: WindowFetch,
    design: EngineDesign,
) -> Any:
    """Read the window of an input map at a position, with the timing of ``window_read``.

    If a word of a pixel has several maps, its lane is that of ``channel``.
    """
    word, lane = channel, ()
    if design.map_port > 1:
        word = count(design.map_words(design.max_maps) - 1)
        lane = split_index(clk, index=channel, word=word, lane=fetch.read.lane)
    reader = window_read(
        clk, enable=enable, position=position, channel=word, fetch=fetch, design=design
    )
    return lane, reader
