"""``merp schema``: the JSON Schema of the files that users write."""

from __future__ import annotations

import argparse
import json

from merp.tools.schema.network import network_schema

SCHEMAS = {"network": network_schema}
"""By the kind of file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        choices=tuple(SCHEMAS),
        default="network",
        help="kind of file: network (default)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(SCHEMAS[args.kind](), indent=2))
    return 0
