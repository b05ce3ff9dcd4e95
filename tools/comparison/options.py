"""Options that ``merp map``, ``merp compare`` and ``merp explore`` share."""

from __future__ import annotations

import argparse

from merp.models.machines.cnn_merp.plan.fit import BEST
from merp.tools.common.arguments import add_network, whole
from merp.tools.common.fit import add_fit
from merp.tools.comparison.scope import CONV

BATCH = 128


def add_step(parser: argparse.ArgumentParser) -> None:
    """Add NETWORK, ``--batch``, ``--scope`` and ``--fit``."""
    add_network(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=BATCH, metavar="IMAGES", help="images of a step"
    )
    add_scope(parser)
    add_fit(parser, BEST)


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add ``--scope``."""
    parser.add_argument(
        "--scope",
        default=CONV,
        metavar="LAYERS",
        help="conv, all, or names of layers with commas (default %(default)s)",
    )


def add_word(parser: argparse.ArgumentParser, says: str) -> None:
    """Add ``--word``; None for the paper's own."""
    parser.add_argument("--word", choices=("own", "16", "32"), default="own", help=says)


def word_bits(text: str) -> int | None:
    """What ``--word`` says."""
    return None if text == "own" else int(text)
