"""``merp compare``: several architectures on one network, side by side."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.compare import OWN, compare
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.tools.common.arguments import add_tables, add_written
from merp.tools.common.boards import any_board
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.comparison.document import document
from merp.tools.comparison.evidence import read_evidence
from merp.tools.comparison.hardware_tables import hardware_tables
from merp.tools.comparison.options import add_step, add_word, word_bits
from merp.tools.comparison.scope import scope_of
from merp.tools.comparison.screen import show_all

ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_step(parser)
    parser.add_argument(
        "--architecture",
        default=ALL,
        metavar="A,B",
        help=f"of {', '.join(ARCHITECTURES)}, with commas; or all (default %(default)s)",
    )
    parser.add_argument(
        "--board",
        default=OWN,
        metavar="BOARD",
        help="own: each on its paper's board; or one for all, by name or TOML file (default "
        "%(default)s)",
    )
    add_word(parser, "bits of a word; needed with a board for all (default %(default)s)")
    parser.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="[NETWORK=]PATH",
        help="a folder of merp simulate -o, or a file of what merp resources --json or merp train "
        "--json printed; of NETWORK, if that is neither the one compared nor ships; may be "
        "repeated (default: none)",
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="FILE",
        help="write a page, with JSON and CSV beside (default: none)",
        place=Output.of_file,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparison, or write its page."""
    network = open_network(args.network)
    architectures = _architectures(args.architecture)
    scope = scope_of(network, args.scope)
    if args.output is not None and args.output.suffix not in (".html", ".htm"):
        raise BadInput(f"-o {args.output}: must end in .html")
    asked = compare(
        network,
        architectures,
        any_board,
        scope=scope,
        batch=args.batch,
        board=args.board,
        word_bits=word_bits(args.word),
        fit=args.fit,
    )
    hardware = hardware_tables(read_evidence(args.measured, asked))
    if args.output is None and not args.json:
        show_all(asked, hardware)
        return 0
    found = document(asked, hardware)
    text = json.dumps(found, indent=2) + "\n"
    written = "" if args.output is None else _write(args.output, found, text)
    print(text if args.json else written, end="")
    return 0


def _write(path: Path, found: dict[str, object], text: str) -> str:
    """Write page, JSON and CSV; return what was written."""
    from merp.tools.comparison.charts import DRAW  # matplotlib and jinja2 wait
    from merp.tools.report.page import page
    from merp.tools.report.table import as_csv

    tables = path.with_name(f"{path.stem}-tables")
    answer = path.with_suffix(".json")
    with Output.of_file("-o", path) as output:
        named = found["tables"]
        assert isinstance(named, dict)
        files = {f"{tables.name}/{name}.csv": as_csv(table) for name, table in named.items()}
        output.write(files | {answer.name: text, output.name: page(found, draw=DRAW)})
    return f"{path}, {answer}, {len(files)} CSV in {tables}\n"


def _architectures(text: str) -> list[Architecture]:
    if text == ALL:
        return list(ARCHITECTURES.values())
    return [named(name) for name in dict.fromkeys(text.split(","))]
