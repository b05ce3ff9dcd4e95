"""Render the page of the report: the JSON document in a template, with inline charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from merp.tools.common.data import DATA
from merp.tools.report.charts import DRAW, Drawing, charts
from merp.tools.report.table import Column, read_column


def _card(card: Mapping[str, Any]) -> str:
    return Column(key="value", label="", digits=card["digits"]).cell(card)


def page(
    document: Mapping[str, Any],
    *,
    draw: Mapping[str, Drawing] = DRAW,
    home: str | None = None,
    picture: str | None = None,
) -> str:
    """Return the HTML of a document.

    Args:
        document: the report.
        draw: its charts by name.
        home: address of the site that the page belongs to.
        picture: address of the picture for link previews.
    """
    environment = Environment(
        loader=FileSystemLoader(DATA),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html")
    drawn = {name: Markup(svg) for name, svg in charts(document, draw).items()}
    columns = {
        name: [read_column(column) for column in table["columns"]]
        for name, table in document["tables"].items()
    }
    return template.render(
        document=document, charts=drawn, columns=columns, card_text=_card, home=home,
        picture=picture,
    )  # fmt: skip
