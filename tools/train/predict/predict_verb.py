"""``merp predict``: the classes of images, with trained parameters."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common import fields
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.train.predict.request import PredictOptions

REQUEST = PredictOptions
FORMATS = (".npy", ".npz")


def run(asked: PredictOptions) -> int:
    """Predict, write the outputs, and print the classes."""
    suffix = "" if asked.output is None else Path(asked.output).suffix
    if asked.output is not None and suffix not in FORMATS:
        raise BadInput(f"-o {asked.output}: must end in {' or '.join(FORMATS)}")
    network = open_network(asked.network, fuses=True)

    # import numba only after the arguments were checked
    from merp.tools.train.predict.predict import prepare
    from merp.tools.train.predict.prediction import file_of
    from merp.tools.train.predict.show import show

    with ExitStack() as held:
        output = None
        if asked.output is not None:
            output = held.enter_context(Output.of_file("-o", Path(asked.output)))
        weights = None if asked.weights is None else Path(asked.weights)
        ready = prepare(network, asked, asked.input, weights)
        with ProgressBar("predict", ready.work) as bar:
            found = ready.run(bar)
        if output is not None:
            output.write({output.name: file_of(found, suffix)})
    return fields.answered(
        asked, found.json(asked.top), lambda: show(found, asked.top, details=asked.details)
    )
