"""From memory to a stream: a walk, its bursts, and the words that they return."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.legaliser import legaliser
from merp.hdl.memory.mover_ports import MoverCommands, MoverState, ReadChannels
from merp.hdl.memory.reader import reader
from merp.hdl.memory.requests import Bursts, Runs, WalkConfig
from merp.hdl.memory.walk import walk
from merp.models.memory.params.mover import Mover


@entity
def read_mover(
    clk: Bit,
    rst: Bit,
    commands: MoverCommands,
    config: WalkConfig,
    channels: ReadChannels,
    source: Stream,
    state: MoverState,
    mover: Mover,
) -> Any:
    """Send the words of a walk through memory.

    start     in   begin the walk; allowed while finished and idle, and after a reset
    stop      in   request nothing more
    config    in   the walk; stable from start to its end
    requests  out  bursts, for the port
    beats     in   beats of memory
    source    out  words; last is set with the last one of the walk
    finished  out  the last word of the walk was sent
    idle      out  every beat that was requested has arrived
    error     out  the first error response; no word behind it is sent

    Latency: the first request three cycles after start; a word three cycles after its beat.
    Throughput: a word per cycle. Reset: empty; allowed only while idle.
    """
    runs, bursts = Runs(mover), Bursts(mover)
    return (
        walk(clk, rst, start=commands.start, config=config, runs=runs, mover=mover),
        legaliser(clk, rst, runs=runs, bursts=bursts, mover=mover),
        reader(
            clk, rst, commands=commands, bursts=bursts, channels=channels, source=source,
            state=state, mover=mover,
        ),
    )  # fmt: skip
