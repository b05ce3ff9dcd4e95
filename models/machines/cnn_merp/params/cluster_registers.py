"""Run-time registers of a chain of nodes, except those of its engines and of admission."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.register_table import RegisterTable, RunRegister
from merp.models.machines.cnn_merp.params.cluster_design import LinkDesign, ShareDesign


@dataclass(frozen=True, kw_only=True)
class ShareRun:
    """A share of a layer in a batch.

    Attributes:
        own: input maps of the share.
        maps: its own input maps and those of the shares behind it.
        positions: of the layer's input, of all images.
    """

    own: int
    maps: int
    positions: int


_Register = RunRegister[ShareDesign, ShareRun]

SHARE: RegisterTable[ShareDesign, ShareRun] = RegisterTable(
    "share",
    (
        _Register(
            "own", 1, lambda design: design.max_maps, "maps of the share", lambda run: run.own,
        ),
        _Register(
            "maps", 1, lambda design: design.max_maps, "its maps and those of the shares behind",
            lambda run: run.maps,
        ),
        _Register(
            "positions", 1, lambda design: design.max_positions,
            "positions of the layer's input in the run", lambda run: run.positions,
        ),
    ),
)  # fmt: skip
"""Registers of the blocks that distribute maps and collect deltas where a layer is cut."""

LINK: RegisterTable[LinkDesign, int] = RegisterTable(
    "link",
    (
        RunRegister[LinkDesign, int](
            "pace", 1, lambda design: design.max_pace, "cycles that a word takes on the lanes",
            lambda pace: pace,
        ),
    ),
)  # fmt: skip
"""Registers of the links; a run sets their pace."""
