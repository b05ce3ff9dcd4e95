"""Engine ``system``: a top runs from the memory of a simulated board, by lists of commands."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from merp.cosim.board.build import built
from merp.cosim.board.dram import Dram
from merp.cosim.board.play import PlayedPass, play
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.system import streams_needed, system_of
from merp.cosim.engines.job import Job, Playing
from merp.cosim.engines.record import RunRecord
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.memory.params.commands import MOST_ENGINES, MOST_STREAMS
from merp.models.memory.params.memory_port import MemoryPort
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top import Pin, TopPorts

BUSES = (16, 32, 64)
"""Widths of the data buses of DDR3 memories, in bits."""

NARROWEST = 8
"""Width of the data bus whose port has the fewest bits that AXI movers have, 64."""

MOST_CYCLES = (1 << 32) - 1
SPARE_CYCLES = 1_000_000
SLOWEST = 16
"""A pass may take so many times the cycles that it would take without memory."""


def run_job(job: Job, progress: Progress | None) -> list[RunRecord]:
    """Run ``job`` on a simulated board: memory holds every stream, and the engine's registers.

    Raises:
        BadInput: a package is missing, or a stream is wider than every memory. Or a run has stalls,
            a reset, or inputs that depend on its outputs.
        CheckFailed: a list of commands failed.
    """
    began = perf_counter()
    if not isinstance(job.runs, Generator):
        for run in job.runs:
            _check(run)
    given = None if job.memory is None else Dram.of(job.memory)
    memory = memory_for(job.top.ports.streams, given)
    name, ports = job.top.name, job.top.ports
    system = system_of({name: job.top}, port_for({name: ports}, memory))
    library = built(system.function, system.args, memory)
    sha = hashlib.sha256(library.library.read_bytes()).hexdigest()
    playing = Playing(job, "system", sha, began)
    board = SimulatedBoard(library)  # an engine may keep something from one run to the next
    for run in playing.runs():
        _check(run)
        board.free_all()
        start = perf_counter()
        words = sum(each.size for each in run.words.values()) + sum(run.outputs.values())
        known = sum(each.cycles or 0 for each in job.wanted)
        played, found = play(board, system, run, run.outputs, limit_of(words + known))
        (only,) = played.passes
        outcome = outcome_of(only, found)
        playing.deliver(replace(outcome, bus=played.record, seconds=perf_counter() - start))
        if progress is not None:
            progress(played.cycles, words)
    return playing.records


def outcome_of(played: PlayedPass, words: Mapping[str, Bits]) -> Outcome:
    """Return the outcome of a pass; ``words`` are those of its output streams in memory.

    Without a monitor, no transfer and no cycle on the pins is known.
    """
    moves = played.moves
    return Outcome(
        words=words,
        transfers={name: each.words for name, each in moves.items()},
        crossed=played.crossed,
        first={name: each.first if each.words else -1 for name, each in moves.items()},
        last={name: each.last if each.words else -1 for name, each in moves.items()},
        status=played.status,
        cycles=played.cycles,
        resets=0,
        faults=(),
        seconds=0.0,
    )


def memory_for(
    streams: Sequence[Pin], given: Dram | None = None, buses: Sequence[int] = BUSES
) -> Dram:
    """Return a memory whose beats hold a word of each of these streams.

    Args:
        streams: the streams.
        given: the memory; None: the narrowest one.
        buses: widths of the data buses that the narrowest one may have.

    Raises:
        BadInput: the memory is too narrow, or there is none.
    """
    widest = max(streams, key=lambda pin: pin.width)
    if given is not None:
        if widest.width > given.port_bits:
            raise BadInput(
                f"engine system: {widest.name}: beats of {widest.width} bits: allowed on a memory "
                f"of {given.data_bits} bits are at most {given.port_bits}"
            )
        return given
    for bits in buses:
        memory = Dram(data_bits=bits)
        if widest.width <= memory.port_bits:
            return memory
    raise BadInput(
        f"engine system: {widest.name}: beats of {widest.width} bits: allowed are at most "
        f"{memory.port_bits}"
    )


def port_for(tops: Mapping[str, TopPorts], memory: Dram) -> MemoryPort:
    """Return the port to a memory, with an ID for each stream, the list and the records.

    Raises:
        BadInput: there are more tops, or they need more streams, than a command processor has.
    """
    if len(tops) > MOST_ENGINES:
        raise BadInput(f"engine system: {len(tops)} engines: allowed are at most {MOST_ENGINES}")
    reads, writes = streams_needed(tops)
    if reads + writes + 1 > MOST_STREAMS:
        raise BadInput(
            f"engine system: {reads + writes} streams: allowed are at most {MOST_STREAMS - 1}"
        )
    return MemoryPort(data_bits=memory.port_bits, id_bits=max(4, max(reads, writes).bit_length()))


def limit_of(words: int) -> int:
    """Return the cycles that a pass may take; ``words`` are the cycles of a fast one."""
    return min(MOST_CYCLES, SLOWEST * words + SPARE_CYCLES)


def _check(run: Run) -> None:
    if run.stalls or run.reset_at is not None:
        raise BadInput("engine system: memory decides about stalls, and a run is not reset")
    if run.ends:
        raise BadInput("engine system: several passes in one run are not supported")
    if run.answers:
        raise BadInput(
            "engine system: inputs that depend on outputs of the same run are not supported: "
            f"{', '.join(run.answers)}"
        )
