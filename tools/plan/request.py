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
"""Values of layer fusion: the pairs that save the most bytes, or no pair."""


def on_board() -> Any:
    """Return metadata of a required board."""
    return needed(Named(), "a shipped board or a TOML file.")


@dataclass(frozen=True)
class PlanFields:
    """The keywords of the Python method; the verb has them, too."""

    board: Place = field(metadata=on_board())
    batch: int = fields.batch()
    _: KW_ONLY
    fit: str = fields.fit(
        SHIPPED,
        says="``shipped``: the designs of the network; ``best``: these or designs sized for the "
        "board, whichever take less time.",
    )
    goal: str | None = fields.goal(says="optimise the tiles for ``bytes`` or ``time``.")
    apart: bool = fields.apart(
        says="separate bitstreams for each layer, not shared ones for each design."
    )
    state_bits: str | None = fields.plan_state(
        says="as for ``traffic``; with ``pooled``, deltas are stored pooled, too."
    )
    backward: str | None = fields.backward(
        says="``separate`` or ``combined``, as for ``traffic``. A convolution has separate passes "
        "if it cannot have a combined pass, or does not fit whole.",
    )
    layer_fusion: str | None = option(
        Text(),
        "two layers that share one pass of forward propagation, or the fitting pairs whose step "
        "moves the fewest bytes (default: as the network file says)",
        metavar=f"L1+L2|{BEST}|{NONE}",
        former=("fuse",),
        says="two layers that share one pass of forward propagation, as ``conv1+conv2``; ``best``: "
        "the fitting pairs that save the most bytes; ``none``. Default: as the network says. The "
        "layers of a pair that does not fit run one by one.",
    )


@dataclass(frozen=True, kw_only=True)
class PlanOptions(PlanFields, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    board: str = fields.board()
    output: Path | None = fields.output(
        "file",
        "the network file of the plan, with its designs and fused layers (default: none)",
        metavar="NET.toml",
    )
    details: bool = fields.shows_more(
        "print each phase of each layer with its tiles, and the bitstreams"
    )


@dataclass(frozen=True)
class PlanKeywords(PlanFields):
    """The keywords of the Python method."""

    _: KW_ONLY
    goal: str = again(PlanFields, "goal", kind=OneOf(GOALS), default=GOAL)
    state_bits: str = again(PlanFields, "state_bits", kind=OneOf(STATES), default=STATE)
