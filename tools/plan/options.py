"""How a network is planned on a board: options that several verbs have."""

from __future__ import annotations

import argparse
from typing import Final

from merp.models.base.state_field import STATES
from merp.models.machines.cnn_merp.plan.plan import GOALS

STATE: Final = "pooled"
GOAL: Final = GOALS[0]


def add_planning(parser: argparse.ArgumentParser) -> None:
    """Add ``--for``, ``--state-bits`` and ``--apart``; what is not given is None or False."""
    add_tiling(parser)
    parser.add_argument(
        "--state-bits",
        choices=STATES,
        help="state kept for ReLU' and un-pooling; pooled: deltas are stored pooled, too "
        f"(default {STATE})",
    )


def add_tiling(parser: argparse.ArgumentParser) -> None:
    """Add ``--for`` and ``--apart``; what is not given is None or False."""
    parser.add_argument(
        "--for",
        dest="goal",
        choices=GOALS,
        help=f"what tiles are chosen for; the other one decides between equals (default {GOAL})",
    )
    parser.add_argument(
        "--apart",
        action="store_true",
        help="bitstreams for each layer alone: fewer bytes, more bitstreams to load",
    )
