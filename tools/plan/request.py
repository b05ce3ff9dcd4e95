"""The request of a plan, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from merp.models.base.state_field import STATES
from merp.models.network.planning import GOALS, SHIPPED
from merp.tools.common import fields
from merp.tools.common.fields import STATE
from merp.tools.common.kinds import Named, OneOf, Place, Text
from merp.tools.common.request import again, needed, option

GOAL = "bytes"
BEST, NONE = "best", "none"
"""Fused layers: those that save most, or no two."""


def on_board() -> Any:
    """Metadata of a board that must be given."""
    return needed(Named(), "a shipped board or a TOML file.")


@dataclass(frozen=True)
class PlanFields:
    """The keywords of the Python method; the verb has them, too."""

    board: Place = field(metadata=on_board())
    batch: int = fields.batch()
    _: KW_ONLY
    fit: str = fields.fit(
        SHIPPED,
        says="``shipped``, on the designs of the network; ``best``, on these or on designs sized "
        "for the board, whichever take less time.",
    )
    goal: str | None = fields.goal(says="what tiles are chosen for, ``bytes`` or ``time``.")
    apart: bool = fields.apart(
        says="bitstreams for each layer alone, not for all that share its design."
    )
    state_bits: str | None = fields.plan_state(
        says="as for ``traffic``; ``pooled``: deltas are stored pooled, too."
    )
    backward: str | None = fields.backward(
        says="``separate`` or ``combined``, as for ``traffic``; convolutions that cannot go back "
        "in one pass, or do not fit whole, have both passes."
    )
    layer_fusion: str | None = option(
        Text(),
        "two layers that are one pass of forward propagation, or those of the pairs that fit whose "
        "step moves fewest bytes (default: as the network says)",
        metavar=f"L1+L2|{BEST}|{NONE}",
        former=("fuse",),
        says="two layers that are one pass of forward propagation, as ``conv1+conv2``; ``best``, "
        "those of the pairs that fit that save most bytes; ``none``; or as the network says if not "
        "given. A pair that does not fit runs one by one.",
    )


@dataclass(frozen=True, kw_only=True)
class PlanOptions(PlanFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    board: str = fields.board()
    output: Path | None = fields.output(
        "file",
        "the network file of what is planned, its designs and fused layers (default: none)",
        metavar="NET.toml",
    )


@dataclass(frozen=True)
class PlanKeywords(PlanFields):
    """The keywords of the Python method."""

    _: KW_ONLY
    goal: str = again(PlanFields, "goal", kind=OneOf(GOALS), default=GOAL)
    state_bits: str = again(PlanFields, "state_bits", kind=OneOf(STATES), default=STATE)
