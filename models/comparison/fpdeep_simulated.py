"""FPDeep's record with the cycles of a simulated batch instead of the formula's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.comparison import of_board
from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.fpdeep import ChainCut, record
from merp.models.comparison.record import PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.papers.fpdeep.links import borders
from merp.models.papers.fpdeep.rows import rows_of, slices_of
from merp.models.rows.layout import Layout, Links, Place
from merp.models.rows.simulator import RowOutcome, simulate

MOST_IMAGES: Final = 1024
"""Largest batch; AlexNet on 15 boards then has about three million tasks."""


def chain_of(
    plan: ChainCut, *, loss: int = 0, sizes: Mapping[Place, int] | None = None, shared: bool = False
) -> Layout:
    """Return a plan's boards as a chain of slices, links and FIFOs.

    Args:
        loss: cycles of an image at the host.
        sizes: rows of FIFOs with other sizes than the default.
        shared: use one FIFO after each link for all of its streams.

    Raises:
        BadInput: maps are not whole, there are more than ``MOST_IMAGES``, or a layer in scope does
            not read the output of its predecessor.
    """
    if plan.options.extra["grain"] != "unit":
        raise BadInput("--grain dsp: rows are of whole maps: allowed is unit")
    images = plan.options.batch
    if images > MOST_IMAGES:
        raise BadInput(
            f"{images:,} images: a simulation keeps every task of at most {MOST_IMAGES:,}"
        )
    stages = tuple(dict.fromkeys(piece.stage for piece in plan.cut.pieces))
    try:
        layers = rows_of(stages)
    except ValueError as wrong:
        raise BadInput(
            f"{plan.network.name}: layers in scope must be neighbours: {wrong}"
        ) from None
    plain = borders(plan.cut.pieces)
    link = plan.board.link
    return Layout(
        layers=layers,
        slices=slices_of(plan.cut.pieces),
        links=Links(
            bits_per_cycle=_bits_per_cycle(plan.board),
            word_bits=plan.word_bits,
            latency=link.latency_cycles if link else 0,
            carried={
                each.node: ceil(each.forward - without.forward)
                for each, without in zip(plan.borders, plain, strict=True)
            },
            shared=shared,
        ),
        images=images,
        depth=plan.depth,
        loss=loss,
        sizes=sizes or {},
    )


def _bits_per_cycle(board: Board) -> Fraction | None:
    if board.link is None:  # a single board
        return None
    gbits_s = 8 * board.link.lanes * Fraction(str(board.link.gbytes_s))
    return gbits_s * 1000 / Fraction(str(board.clock_mhz))


def simulated(plan: ChainCut, found: RowOutcome) -> Record:
    """Return the cost of a plan with simulated times and cycles."""
    modelled = record(plan)
    cycles = Figure(found.total, "simulated")
    clock = of_board.clock(plan.board)
    seconds = derived(found.total / clock.value / 1e6, cycles, clock)
    return replace(
        modelled,
        rows=tuple(_row(each, found) for each in modelled.rows),
        latency_s=seconds,
        interval_s=seconds,
        notes=(
            "row by row, by an event simulator: one batch, from an empty chain to an empty chain",
            *modelled.notes[1:],
        ),
    )


def simulated_alone(plan: ChainCut) -> Record:
    """Simulate a plan, and return its cost.

    Raises:
        BadInput: as in ``chain_of``.
        Deadlock: the pipeline is deadlocked.
    """
    return simulated(plan, simulate(chain_of(plan)))


def _row(row: PhaseRow, found: RowOutcome) -> PhaseRow:
    """Return a phase of a piece with simulated cycles; each is a separate server."""
    server = found.graph.servers.index(f"{row.phase} {row.layer} on node {row.device}")
    waits = found.waits[server]
    return replace(
        row,
        cycles=Figure(found.busy[server] + sum(waits.values()), "simulated"),
        waits={cause: Figure(cycles, "simulated") for cause, cycles in waits.items()},
        binds=max(waits, key=waits.__getitem__, default=""),
    )
