"""The request of an evaluation, on the command line and in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from merp.tools.common import fields
from merp.tools.common.kinds import File, Flag, Kind, Listener, Place, Told
from merp.tools.common.request import Being, again, keyword, option
from merp.tools.train.predict.request import Predict, engine_field, weights_field
from merp.tools.train.request import data_field, loss_field

if TYPE_CHECKING:
    from merp.tools.train.request import Labelled


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Fields that the verb and the Python methods share."""

    engine: str = engine_field()
    loss: str = loss_field()
    labels: Place | Sequence[str] | None = again(Predict, "labels")
    held_out: bool = option(
        Flag(),
        "use only the images that merp train holds out of the data",
        says="use only the images that ``train`` holds out of ``data``.",
    )


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Evaluate, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    weights: Place | None = weights_field(after="network")
    data: str = data_field(after="weights")
    labels: Place | None = again(Predict, "labels", kind=File())
    details: bool = fields.shows_more("print the whole confusion matrix, of many classes, too")


@dataclass(frozen=True)
class EvaluateKeywords(Evaluate):
    """The keywords of the method of a network."""

    data: Labelled = again(EvaluateOptions, "data", kind=Kind())
    _: KW_ONLY
    weights: Place | None = weights_field()
    labels: Place | Sequence[str] | None = again(Predict, "labels", kind=Kind())
    progress: Listener | None = keyword(Told(), "receives lines about the progress.")


@dataclass(frozen=True)
class TrainedEvaluateKeywords(Evaluate):
    """The keywords of the method of a training."""

    data: Labelled | None = keyword(
        Kind(),
        "images and labels, as for ``train``; by default the images that the training held out, "
        "or those for validation.",
    )
    _: KW_ONLY
    labels: Place | Sequence[str] | None = again(Predict, "labels", kind=Kind())
    held_out: bool = again(Evaluate, "held_out", needs=(Being("data"),))
    progress: Listener | None = keyword(Told(), "receives lines about the progress.")
