"""Labelled images as Python gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, shown
from merp.models.network.network import Network
from merp.tools.common.checks import path
from merp.tools.datasets.data import KEYS, Data, checked, fitted
from merp.tools.datasets.labelled import labelled
from merp.tools.datasets.names import DIGITS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def given_data(name: str, given: object, network: Network) -> Data:
    """Return labelled images: a name, a file, or arrays of images and labels.

    Raises:
        BadInput: it is none of these, or the file or an array is wrong.
    """
    if isinstance(given, tuple) and len(given) == 2:
        images, labels = (
            _array(f"{name}: {part}", each) for part, each in zip(KEYS, given, strict=True)
        )
        return fitted(checked(name, images, labels), network)
    if isinstance(given, tuple | list):
        what = f"allowed is (images, labels), '{DIGITS}', or a path"
        raise BadInput(f"{name} = {shown(given)}: {what}")
    return labelled(str(path(name, given)), network, name)


def _array(where: str, given: ArrayLike) -> NDArray[np.generic]:
    try:
        return np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"{where}: no array of numbers") from error
