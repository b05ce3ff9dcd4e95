"""A picture of the losses of training runs."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from merp.models.base.names import plot_label
from merp.tools.train.names import step_size

Accuracies = tuple[list[int], list[float]]
"""Numbers of steps, and the accuracy on the held-out images after each."""


def epoch_means(answer: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return the middle step of each epoch and the mean loss of its steps; the last may be short.

    ``answer`` is the output of ``merp train --json``.
    """
    loss = np.array(answer["loss"])
    per_epoch = answer["images"]["trained"] // (answer.get("accumulate", 1) * answer["batch"])
    epochs = range(0, len(loss), per_epoch)
    middles = [low + min(per_epoch, len(loss) - low) / 2 for low in epochs]
    return middles, [float(loss[low : low + per_epoch].mean()) for low in epochs]


def draw(
    runs: Mapping[str, Mapping[str, Any]],
    title: str,
    suffix: str,
    accuracies: Mapping[str, Accuracies] = {},
) -> bytes:
    """Draw the loss of each step, thin, and its mean over each epoch, for answers by label.

    Args:
        runs: answers by label.
        accuracies: accuracies by label, drawn below the losses if there are any.
        title: title of the picture.
        suffix: format, ``.png`` or ``.svg``.

    Returns:
        The content of the picture file; equal answers give equal bytes.
    """
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6 if accuracies else 4), layout="constrained")
    axes, *below = figure.subplots(1 + bool(accuracies), sharex=True, squeeze=False)[:, 0]
    for index, (label, answer) in enumerate(runs.items()):
        loss = answer["loss"]
        # Curves of similar runs overlap; their rings of different sizes do not.
        size = 3 + 3 * (len(runs) - 1 - index)
        means = axes.plot(
            *epoch_means(answer),
            marker="o",
            markersize=size,
            fillstyle="none",
            label=plot_label(label),
        )  # fmt: skip
        steps = np.arange(1, len(loss) + 1)
        axes.plot(steps, loss, linewidth=0.6, alpha=0.4, color=means[0].get_color())
    if all(loss > 0 for answer in runs.values() for loss in answer["loss"]):
        axes.set_yscale("log")
    batches = sorted({(answer["batch"], answer.get("accumulate", 1)) for answer in runs.values()})
    lowest = below[0] if below else axes
    sizes = " or ".join(step_size(*each) for each in batches)
    lowest.set_xlabel(f"step ({sizes} images each)")
    axes.set_ylabel("loss: each step, and mean of an epoch")
    axes.set_title(plot_label(title))
    axes.legend()
    for label, points in accuracies.items():
        below[0].plot(*points, marker="o", markersize=3, label=plot_label(label))
        below[0].set_ylabel("accuracy on images not trained on")
    with matplotlib.rc_context({"svg.hashsalt": "merp", "svg.fonttype": "none"}):
        metadata = {"Date": None} if suffix == ".svg" else None
        picture = BytesIO()
        figure.savefig(picture, format=suffix[1:], dpi=120, metadata=metadata)
    return picture.getvalue()
