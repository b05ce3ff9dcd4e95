"""The request of a prediction, on the command line and in Python."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from merp.cosim.engines.names import ENGINES as SIMULATORS
from merp.models.base.errors import BadInput, shown
from merp.models.network.network_keys import MAX_MAPS
from merp.tools.common import fields
from merp.tools.common.kinds import File, Kind, Listener, OneOf, Place, Told, WholeOption
from merp.tools.common.request import again, keyword, needed, option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ENGINES = ("golden", *SIMULATORS)
TOP = 5
"""Default number of classes of an image."""


class PerChannel(Kind):
    """Finite numbers, one for each channel of an image, or one for all of them."""

    allowed = "one number, or one for each channel"

    def form(self) -> dict[str, Any]:
        """Parse numbers that are separated by commas."""
        return {"type": self._read}

    def _read(self, given: str) -> tuple[float, ...]:
        try:
            return self._checked(tuple(float(each) for each in given.split(",")))
        except ValueError as error:
            said = f"must be {self.allowed}, separated by commas, not {shown(given)}"
            raise argparse.ArgumentTypeError(said) from error

    def checked(self, name: str, value: Any) -> tuple[float, ...]:
        """Accept a number or a sequence of numbers.

        Raises:
            BadInput: it is none.
        """
        try:
            several = (value,) if isinstance(value, int | float) else tuple(value)
            return self._checked(tuple(float(each) for each in several))
        except (TypeError, ValueError) as error:
            raise BadInput(f"{name} = {shown(value)}: must be {self.allowed}") from error

    def _checked(self, numbers: tuple[float, ...]) -> tuple[float, ...]:
        if not numbers or not all(map(math.isfinite, numbers)):
            raise ValueError
        return numbers


def weights_field(**more: Any) -> Any:
    """Declare ``--weights``."""
    return option(
        File(),
        "kernels and biases, from merp train --save or merp import --weights (default: those of "
        "the model)",
        metavar="FILE.npz",
        says="``.npz`` file of kernels and biases, as ``train(save=...)`` and ``merp import`` "
        "write it; by default those of the model.",
        **more,
    )


def engine_field() -> Any:
    """Declare ``--engine``."""
    return option(
        OneOf(ENGINES),
        f"engine, with the same bits (default {ENGINES[0]})",
        default=ENGINES[0],
        says="``golden``: the golden model; ``myhdl``, ``verilator``, ``ghdl`` or ``system``: "
        "simulated hardware, with every word compared to the golden model.",
    )


@dataclass(frozen=True, kw_only=True)
class Predict:
    """Fields that the verb and the Python methods share."""

    engine: str = engine_field()
    labels: Place | Sequence[str] | None = option(
        File(),
        "text file with a line for each output (default: numbers only)",
        metavar="FILE",
        says="names of the outputs, in order; or a text file with a line for each.",
    )
    mean: tuple[float, ...] | None = option(
        PerChannel(),
        "subtract this from the pixels of a picture, which are 0 to 1 (default 0)",
        metavar="X[,X,X]",
        says="subtracted from the pixels of a picture, which are 0 to 1; a number for each "
        "channel, or one.",
    )
    std: tuple[float, ...] | None = option(
        PerChannel(),
        "divide the pixels of a picture by this, after --mean (default 1)",
        metavar="X[,X,X]",
        says="divides the pixels of a picture, after ``mean``.",
    )


@dataclass(frozen=True, kw_only=True)
class PredictOptions(Predict, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    weights: Place | None = weights_field(after="network")
    input: Place = option(
        File(),
        "images: an .npy or .npz file of (images, rows, columns[, channels]) numbers, or a picture",
        metavar="FILE",
        required=True,
        after="weights",
    )
    labels: Place | None = again(Predict, "labels")
    top: int = option(
        WholeOption(1, MAX_MAPS),
        f"classes of each image (default {TOP})",
        default=TOP,
        metavar="N",
    )
    output: Place | None = fields.output(
        "file",
        "file of the outputs, .npy, or .npz with the classes, too (default: none)",
        metavar="FILE",
    )
    details: bool = fields.shows_more("print every image, not the first only")


@dataclass(frozen=True)
class TrainedKeywords(Predict):
    """The keywords of the method of a training."""

    x: ArrayLike | Place = field(
        metadata=needed(
            Kind(),
            "images ``(images, rows, columns[, channels])``, or one; or an ``.npy`` or ``.npz`` "
            "file of them, or a picture.",
        ),
    )
    _: KW_ONLY
    labels: Place | Sequence[str] | None = again(Predict, "labels", kind=Kind())
    progress: Listener | None = keyword(Told(), "receives lines about the progress.")


@dataclass(frozen=True)
class PredictKeywords(TrainedKeywords):
    """The keywords of the method of a network."""

    _: KW_ONLY
    weights: Place | None = weights_field()
