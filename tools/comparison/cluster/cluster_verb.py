"""``merp cluster``: simulate FPDeep's plan on a chain of boards, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.base.errors import CheckFailed
from merp.models.comparison.fpdeep import ARCHITECTURE, ChainCut
from merp.models.comparison.fpdeep_simulated import MOST_IMAGES, chain_of, simulated
from merp.models.comparison.options import Options
from merp.models.rows.layout import Layout
from merp.models.rows.simulator import Deadlock, simulate
from merp.tools.common import fields
from merp.tools.common.kinds import POSITIVE, Flag, Repeated, Text, WholeOption
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import option
from merp.tools.common.scope import scope_field, scope_of
from merp.tools.common.shipped import open_network
from merp.tools.comparison.cluster.fifos import read_fifos, sizes_of
from merp.tools.comparison.cluster.tables import SimulatedPlan
from merp.tools.comparison.options import word, word_bits
from merp.tools.comparison.own_options import chosen, own_options
from merp.tools.comparison.place import (
    board_of,
    costs_of,
    linked,
    place_board,
    place_costs,
    place_devices,
)

MOST_CYCLES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(fields.Tables):
    """The options of the verb."""

    network: str = fields.network()
    board: str | None = place_board()
    devices: int | None = place_devices()
    costs: str | None = place_costs()
    scope: str = scope_field()
    word: str = word("bits of a word on links; own: the paper's (default %(default)s)")
    images: int = option(WholeOption(1, MOST_IMAGES), "images a batch", default=32, metavar="N")
    link_gbs: float | None = option(
        POSITIVE, "rate of a link, each way, in 10^9 bits per second (default: the board's)",
        metavar="RATE",
    )  # fmt: skip
    latency: int | None = option(
        WholeOption(0, MOST_CYCLES), "latency of a link (default: the board's)", metavar="CYCLES"
    )
    loss: int = option(
        WholeOption(0, MOST_CYCLES), "time of the host for the loss of an image", default=0,
        metavar="CYCLES",
    )  # fmt: skip
    fifo: tuple[str, ...] = option(
        Repeated(Text()),
        "rows of the FIFOs of a kind: maps, features, sums, errors, deltas, own, send. May be "
        "repeated (default: enough for a window, plus one row)",
        default=(),
        metavar="KIND=ROWS",
    )
    shared_fifo: bool = option(
        Flag(), "use one FIFO behind each link for all of its streams, instead of one per stream"
    )
    own: Mapping[str, Any] = own_options(ARCHITECTURE)
    output: Path | None = fields.output(
        "folder", "JSON, tables as CSV, time line as CSV and SVG (default: none)"
    )


REQUEST = ClusterOptions


def run(asked: ClusterOptions) -> int:
    """Simulate a batch; print its cycles, and the waiting times by cause."""
    network = open_network(asked.network)
    fifos = read_fifos(asked.fifo)
    board = linked(board_of(asked, ARCHITECTURE), asked.link_gbs, asked.latency)
    options = Options(
        batch=asked.images,
        scope=scope_of(network, asked.scope),
        word_bits=word_bits(asked.word),
        costs=costs_of(asked, ARCHITECTURE, board),
        extra=chosen(asked.own, ARCHITECTURE),
    )
    plan = ARCHITECTURE.plan(network, board, options)
    chain = chain_of(
        plan, loss=asked.loss, sizes=sizes_of(fifos, len(plan.cut.pieces)), shared=asked.shared_fifo
    )
    with ExitStack() as held:
        output = None
        if asked.output is not None:
            output = held.enter_context(Output.of_folder("-o", asked.output))
        run = _simulated(plan, chain)
        from merp.tools.comparison.cluster.answer import answer, files, show_answer  # slow import

        found = answer(run, {"loss": asked.loss, "fifos": fifos, "shared_fifo": asked.shared_fifo})
        if output is not None:
            output.write(files(run, found))
    return fields.answered(asked, found, lambda: show_answer(run))


def _simulated(plan: ChainCut, chain: Layout) -> SimulatedPlan:
    """Return the simulated plan.

    Raises:
        CheckFailed: the simulation reaches a deadlock.
    """
    work = f"{len(chain.slices)} slices on {plan.board.devices} boards, {chain.images} images"
    with ProgressBar("cluster", work) as bar, bar.spent.on("simulating"):
        try:
            outcome = simulate(chain)
        except Deadlock as stuck:
            raise CheckFailed(f"deadlock: {stuck}") from None
    return SimulatedPlan(plan=plan, chain=chain, outcome=outcome, record=simulated(plan, outcome))
