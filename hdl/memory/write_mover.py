"""From a stream to memory: a walk, its bursts, and the words that they write."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.bundle_slice import bundle_slice
from merp.hdl.memory.legaliser import legaliser
from merp.hdl.memory.mover_ports import MoverCommands, MoverState, WriteChannels
from merp.hdl.memory.requests import Bursts, Runs, WalkConfig
from merp.hdl.memory.walk import walk
from merp.hdl.memory.writer import writer
from merp.models.memory.params.mover import Mover


@entity
def write_mover(
    clk: Bit,
    rst: Bit,
    commands: MoverCommands,
    config: WalkConfig,
    sink: Stream,
    channels: WriteChannels,
    state: MoverState,
    mover: Mover,
) -> Any:
    """Write words to the places of a walk through memory.

    start      in   begin the walk; allowed while finished and idle, and after a reset
    stop       in   take no word
    config     in   the walk; stable from start to its end
    sink       in   words
    requests   out  bursts, for the port
    beats      out  their beats
    responses  in   one for each burst
    finished   out  the last word of the walk was taken
    idle       out  there is a response for each burst of which all words were taken
    error      out  the first error response; no further word is taken

    Latency: the first word is taken four cycles after start at the earliest; a request comes two
    cycles after the last word of its burst. Throughput: a word per cycle. Reset: empty; allowed
    only while idle.
    """
    runs, cut, bursts = Runs(mover), Bursts(mover), Bursts(mover)
    return (
        walk(clk, rst, start=commands.start, config=config, runs=runs, mover=mover),
        legaliser(clk, rst, runs=runs, bursts=cut, mover=mover),
        bundle_slice(clk, rst, sink=cut, source=bursts),
        writer(
            clk, rst, commands=commands, bursts=bursts, sink=sink, channels=channels, state=state,
            mover=mover,
        ),
    )  # fmt: skip
