"""Charts of a page as inline SVG. Colours are CSS variables, which follow the theme.

Each chart is drawn twice, for a screen and for a phone, and the page shows one of the two. In both
its letters have the size of the text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from merp.tools.report import chart_bytes, chart_speed
from merp.tools.report.chart_ink import CSS, STYLE, Json

WIDTHS = {"wide": 10.5, "narrow": 4.5}  # inches
Drawing = Callable[[Figure, Json, bool], None]
"""A function that draws a chart of a document into a figure, for a screen or a phone."""

DRAW: Mapping[str, Drawing] = {
    "staircase": chart_bytes.staircase,
    "traffic": chart_bytes.traffic,
    "attainable": chart_speed.attainable,
    "roofline": chart_speed.roofline,
    "variants": chart_bytes.variants,
    "cycles": chart_speed.cycles,
}


def charts(document: Json, draw: Mapping[str, Drawing] = DRAW) -> dict[str, str]:
    """Return the SVG of every chart of the sections, in both widths."""
    wanted = [chart for section in document["sections"] for chart in section["charts"]]
    with mpl.rc_context(STYLE):
        return {
            chart: "".join(_svg(chart, draw[chart], width, document) for width in WIDTHS)
            for chart in wanted
        }


def _svg(name: str, draw: Drawing, width: str, document: Json) -> str:
    figure = Figure(figsize=(WIDTHS[width], 3.2), layout="constrained")
    draw(figure, document, width == "wide")
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for colour, css in CSS.items():
        svg = svg.replace(colour, css)
    # Two charts of a page must not share an id.
    svg = re.sub(r'\bid="', f'id="{name}-{width}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-{width}-", svg)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert size is not None
    words = escape(document["alternatives"][name])
    head = (
        f'<svg class="chart {width}" data-chart="{name}" role="img" aria-label="{words}" '
        f'viewBox="0 0 {size[1]} {size[2]}">'
    )
    return re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)
