"""The option that says whose designs a network is planned on."""

from __future__ import annotations

import argparse

from merp.models.machines.cnn_merp.plan.fit import FITS


def add_fit(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--fit``."""
    parser.add_argument(
        "--fit",
        choices=FITS,
        default=default,
        help="CNN-MERP's designs: the quickest of those sized for the board and those of the "
        "network file, or the file's (default %(default)s)",
    )
