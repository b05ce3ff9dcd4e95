"""A picture of a batch on a chain: the image of each server over time."""

from __future__ import annotations

from io import BytesIO

from merp.models.base.names import plot_label
from merp.tools.comparison.cluster.tables import SimulatedPlan

SHOWN = 8
"""Images of the batch in the picture."""
INCHES = 0.16
"""Height of a server's line."""


def picture(run: SimulatedPlan) -> bytes:
    """Draw each server's spans as SVG, from the first to the last task of an image, by colour."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    graph = run.outcome.graph
    lines = [
        place
        for place, stream in enumerate(graph.streams)
        if not stream.what.startswith(("source", "loss"))
    ]
    figure = Figure(figsize=(10, 1.2 + INCHES * len(lines)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    last = 0
    for line, place in enumerate(lines):
        ends, cycles = run.outcome.ends[place], graph.streams[place].cycles
        for image in range(min(SHOWN, run.chain.images)):
            first = image * len(cycles)
            begin = ends[first] - cycles[0]
            last = max(last, ends[first + len(cycles) - 1])
            span = (begin, ends[first + len(cycles) - 1] - begin)
            axes.broken_barh([span], (line - 0.4, 0.8), facecolors=f"C{image}", alpha=0.7)
    axes.set_yticks(range(len(lines)), [plot_label(graph.streams[each].what) for each in lines])
    axes.tick_params(axis="y", labelsize=6)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlim(0, last)
    axes.set_xlabel(f"cycles; a colour is an image, the first {SHOWN} are shown")
    axes.set_title(plot_label(f"{run.plan.network.name} on {run.plan.board.devices} boards"))
    image_bytes = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "merp"}):
        figure.savefig(image_bytes, format="svg", metadata={"Date": None, "Creator": None})
    return image_bytes.getvalue()
