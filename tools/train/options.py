"""Options of the command line that training has, in whatever numbers."""

from __future__ import annotations

import argparse
import math
import sys

from merp.tools.common.arguments import number
from merp.tools.train.course import DIGITS, LOSSES, MOMENTUM, RATE


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add what is trained on."""
    parser.add_argument(
        "--data",
        default=DIGITS,
        metavar="digits|FILE.npz",
        help="a file, or scikit-learn's digits of as many classes as the network has outputs",
    )


def add_rate(parser: argparse.ArgumentParser) -> None:
    """Add the learning rate."""
    parser.add_argument(
        "--lr",
        type=number(sys.float_info.min, math.inf, "a number above 0"),
        default=RATE,
        metavar="X",
        help=f"learning rate (default {RATE})",
    )


def add_momentum(parser: argparse.ArgumentParser) -> None:
    """Add the momentum."""
    parser.add_argument(
        "--momentum",
        type=number(0, 1, "a number from 0 to below 1"),
        default=MOMENTUM,
        metavar="X",
        help=f"default {MOMENTUM}",
    )


def add_loss(parser: argparse.ArgumentParser) -> None:
    """Add the loss."""
    parser.add_argument("--loss", choices=LOSSES, default=LOSSES[0], help=f"default {LOSSES[0]}")
