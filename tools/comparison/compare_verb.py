"""``merp compare``: compare several architectures on one network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.compare import OWN, compare
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.tools.common import fields
from merp.tools.common.boards import any_board
from merp.tools.common.kinds import Repeated, Text
from merp.tools.common.output import Output
from merp.tools.common.request import Being, option
from merp.tools.common.scope import scope_of
from merp.tools.common.shipped import open_network
from merp.tools.comparison.document import document
from merp.tools.comparison.evidence import read_evidence
from merp.tools.comparison.hardware_tables import hardware_tables
from merp.tools.comparison.options import ComparedStep, word, word_bits
from merp.tools.comparison.screen import show_all

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ComparedStep, fields.Tables):
    """The options of the verb."""

    architecture: str = option(
        Text(),
        f"{', '.join(ARCHITECTURES)}, separated by commas, or all (default %(default)s)",
        default=ALL,
        metavar="A,B",
    )
    board: str = option(
        Text(),
        "own: each on its paper's board; or one board for all, by name or TOML file (default "
        "%(default)s)",
        default=OWN,
        metavar="BOARD",
    )
    word: str = word("bits of a word; required with one board for all (default %(default)s)")
    measured: tuple[str, ...] = option(
        Repeated(Text()),
        "measured results: a folder of merp simulate -o, or a file of merp resources --json or "
        "merp train --json. NETWORK is needed for a network that is neither the compared one nor "
        "shipped. May be repeated (default: none)",
        default=(),
        metavar="[NETWORK=]PATH",
    )
    output: Path | None = fields.output(
        "file", "write a page, and JSON and CSV next to it (default: none)", metavar="FILE"
    )
    details: bool = fields.shows_more(
        "print all tables: cycles, traffic, resources and omissions of each model",
        Being("output"),
    )
    errata: bool = fields.shows_more(
        "list the papers' errata, and their figures that do not reproduce", Being("output")
    )


REQUEST = CompareOptions


def run(asked: CompareOptions) -> int:
    """Print the comparison, or write its page."""
    network = open_network(asked.network)
    architectures = _architectures(asked.architecture)
    scope = scope_of(network, asked.scope)
    if asked.output is not None and asked.output.suffix not in (".html", ".htm"):
        raise BadInput(f"-o {asked.output}: must end in .html")
    compared = compare(
        network,
        architectures,
        any_board,
        scope=scope,
        batch=asked.batch,
        board=asked.board,
        word_bits=word_bits(asked.word),
        fit=asked.fit,
    )
    hardware = hardware_tables(read_evidence(asked.measured, compared))
    if asked.output is None and not asked.json:
        show_all(compared, hardware, details=asked.details, errata=asked.errata)
        return 0
    found = document(compared, hardware)
    text = json.dumps(found, indent=2) + "\n"
    written = "" if asked.output is None else _write(asked.output, found, text)
    print(text if asked.json else written, end="")
    return 0


def _write(path: Path, found: dict[str, object], text: str) -> str:
    """Write page, JSON and CSV; return the names of the files."""
    from merp.tools.comparison.charts import DRAW  # imports matplotlib only if needed
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
