"""The request of a traffic report, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from merp.models.base.state_field import STATES
from merp.models.traffic.count import COUNTS, FORMER
from merp.tools.common import fields
from merp.tools.common.kinds import Flag, OneOf, Place, Text, WholeOption
from merp.tools.common.request import Being, again, option

BUS = "bus"
"""A count of the verb alone: its figures come from a plan of the machine's hardware."""

STRATEGIES = (Being("strategies"),)
ON_BUS = Being("count", (BUS,))


@dataclass(frozen=True)
class TrafficFields:
    """The keywords of the Python method; the verb has them, too."""

    batch: int = fields.batch()
    count: str | None = option(
        OneOf(COUNTS, FORMER),
        "the words to count: see merp help count (default: maps; board with --board; all with "
        "--backward combined)",
        without=STRATEGIES,
        says="the words to count. ``maps``: maps and deltas; ``all``: also kernels, biases and the "
        "ReLU/pooling mask; ``board``: all, in passes that fit a board (modelled). Default: "
        "``maps``; ``all`` with the combined backward pass.",
        former=("footing",),
    )
    _: KW_ONLY
    state_bits: str | None = option(
        OneOf(STATES),
        "bits of the ReLU/pooling mask (default 32; pooled with --backward combined)",
        without=(*STRATEGIES, ON_BUS),
        says="bits of the ReLU/pooling mask: ``32``, ``1`` or ``pooled`` (default ``32``; "
        "``pooled`` with the combined backward pass). ``1`` and ``pooled`` need count ``all`` or "
        "``board``.",
    )
    memory_bytes: int | None = option(
        WholeOption(1, 1 << 40),
        "for count board: on-chip memory that tiles must fit (default: the plan on a board)",
        "--memory",
        metavar="BYTES",
        without=(*STRATEGIES, Being("board"), ON_BUS),
        says="for count ``board``: on-chip memory that tiles must fit, without a board.",
    )
    board: Place | None = fields.board(
        "for count board: the paper's",
        without=(*STRATEGIES, ON_BUS),
        says="for count ``board``: a shipped board or a TOML file; by default the paper's.",
    )
    backward: str | None = fields.backward(
        without=STRATEGIES,
        says="delta propagation and kernel update of a convolution in ``separate`` passes or "
        "``combined`` in one; by default as the network says.",
    )


@dataclass(frozen=True, kw_only=True)
class TrafficOptions(TrafficFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    count: str | None = again(TrafficFields, "count", kind=OneOf((*COUNTS, BUS), FORMER))
    strategies: bool = option(Flag(), "show the traffic of each strategy of the paper")
    compare: str | None = option(
        Text(),
        "another network or .toml file to compare with (default: none)",
        metavar="NETWORK",
        without=(*STRATEGIES, ON_BUS),
    )
    layer: str | None = option(
        Text(), "the layer for --strategies (default: all convolution layers)", needs=STRATEGIES
    )
    all: bool = fields.shows_more(
        "print every layer, not only those with the most bytes", *STRATEGIES, Being("compare")
    )
    errata: bool = fields.shows_more(
        "print the paper's values next to these, and its errata",
        Being("compare"),
        Being("all"),
        ON_BUS,
    )
