"""The request of a traffic report, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from merp.models.base.state_field import STATES
from merp.models.traffic.count import COUNTS, FORMER
from merp.tools.common import fields
from merp.tools.common.kinds import Flag, OneOf, Place, Text, WholeOption
from merp.tools.common.request import Being, option

STRATEGIES = (Being("strategies"),)


@dataclass(frozen=True)
class TrafficFields:
    """The keywords of the Python method; the verb has them, too."""

    batch: int = fields.batch()
    count: str | None = option(
        OneOf(COUNTS, FORMER),
        "what is counted: see merp help count (default maps; board with --board; all with "
        "--backward combined)",
        without=STRATEGIES,
        says="what is counted: ``maps`` (maps and deltas), ``all`` (also kernels, biases, state) "
        "or ``board`` (all, in passes that fit a board; modelled). If not given ``maps``; "
        "``all`` with both backward phases in one pass.",
        former=("footing",),
    )
    _: KW_ONLY
    state_bits: str | None = option(
        OneOf(STATES),
        "state kept for ReLU' and un-pooling (default 32; pooled with --backward combined)",
        without=STRATEGIES,
        says="bits of state for ReLU' and un-pooling: ``32``, ``1`` or ``pooled`` (default ``32``; "
        "``pooled`` with the combined backward pass). ``1`` and ``pooled`` need count ``all`` or "
        "``board``.",
    )
    memory_bytes: int | None = option(
        WholeOption(1, 1 << 40),
        "of count board: tiles fit so many bytes (default: the plan on a board)",
        "--memory",
        metavar="BYTES",
        without=(*STRATEGIES, Being("board")),
        says="on-chip memory, of ``board``: tiles by their bytes alone, without a board.",
    )
    board: Place | None = fields.board(
        "the paper's, of count board",
        without=STRATEGIES,
        says="a shipped board or a TOML file, of ``board``; the paper's if none is given.",
    )
    backward: str | None = fields.backward(
        without=STRATEGIES,
        says="delta propagation and kernel update of a convolution in ``separate`` passes or "
        "``combined`` in one; as the network says if not given.",
    )


@dataclass(frozen=True, kw_only=True)
class TrafficOptions(TrafficFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    strategies: bool = option(Flag(), "show what each strategy of the paper saves")
    compare: str | None = option(
        Text(),
        "another network or .toml file, beside the first (default: none)",
        metavar="NETWORK",
        without=STRATEGIES,
    )
    layer: str | None = option(
        Text(), "of --strategies (default: all convolution layers)", needs=STRATEGIES
    )
