"""``merp map``: plan a network on a board by one architecture, with its costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.comparison.compare import OWN, Comparison, MachineAnswer
from merp.models.comparison.fairness import unfair
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.comparison.record_json import as_json
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.tools.common import fields
from merp.tools.common.kinds import Flag, Text
from merp.tools.common.request import option
from merp.tools.common.scope import scope_of
from merp.tools.common.shipped import open_network
from merp.tools.comparison import tables
from merp.tools.comparison.options import ComparedStep, word, word_bits
from merp.tools.comparison.own_options import chosen, own_options
from merp.tools.comparison.place import board_of, costs_of, place_board, place_costs, place_devices
from merp.tools.comparison.screen import show, show_all


@dataclass(frozen=True, kw_only=True)
class MapOptions(ComparedStep, fields.Tables):
    """The options of the verb."""

    architecture: str = option(Text(), ", ".join(ARCHITECTURES), metavar="A", required=True)
    board: str | None = place_board()
    devices: int | None = place_devices()
    costs: str | None = place_costs()
    word: str = word("bits of a word in memory; own: the paper's (default %(default)s)")
    strict: bool = option(Flag(), "refuse a plan that does not fit, with status 2")
    own: Mapping[str, Any] = own_options(*ARCHITECTURES.values())


REQUEST = MapOptions


def run(asked: MapOptions) -> int:
    """Print the record of a plan."""
    network, architecture = open_network(asked.network), named(asked.architecture)
    board = board_of(asked, architecture)
    scope = scope_of(network, asked.scope)
    options = Options(
        batch=asked.batch,
        scope=scope,
        word_bits=word_bits(asked.word),
        fit=asked.fit,
        costs=costs_of(asked, architecture, board),
        extra=chosen(asked.own, architecture),
    )
    record = architecture.answer(network, board, options)
    if asked.strict and not record.fits:
        raise BadInput(f"--strict: {architecture.name} on {board.name}: {_excess(record)}")
    if asked.json:
        print(json.dumps(as_json(record), indent=2))
        return 0
    why = unfair(record, network, scope, asked.batch)
    found = Comparison(
        network=network,
        batch=asked.batch,
        scope=scope,
        board=OWN if board.name == architecture.board else board.name,
        word_bits=options.word_bits,
        fit=asked.fit,
        answers=(MachineAnswer(architecture=architecture, record=record, why=why),),
    )
    show(tables.rows_table(record), keys=2)
    show_all(found)
    return 0


def _excess(record: Record) -> str:
    return "; ".join(
        f"device {each.device} needs {each.need:,.0f} {tables.TITLES[each.resource]}: allowed are "
        f"{each.limit:,.0f}"
        for each in record.violated
    )
