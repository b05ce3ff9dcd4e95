"""``merp evaluate``: the accuracy of trained parameters on labelled images."""

from __future__ import annotations

from pathlib import Path

from merp.tools.common import fields
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.train.evaluate_request import EvaluateOptions

REQUEST = EvaluateOptions


def run(asked: EvaluateOptions) -> int:
    """Evaluate, and print accuracy, loss and confusion matrix."""
    network = open_network(asked.network, fuses=True)

    # import numba only after the arguments were checked
    from merp.tools.train.datasets.labelled import labelled
    from merp.tools.train.evaluate import prepare
    from merp.tools.train.evaluation_tables import show

    weights = None if asked.weights is None else Path(asked.weights)
    ready = prepare(network, asked, labelled(asked.data, network), weights)
    with ProgressBar("evaluate", ready.work) as bar:
        found = ready.run(bar)
    return fields.answered(asked, found.json(), lambda: show(found, details=asked.details))
