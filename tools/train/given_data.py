"""Labelled images as Python gives them."""

from __future__ import annotations

from merp.models.base.errors import BadInput, shown
from merp.models.network.network import Network
from merp.tools.common.checks import path
from merp.tools.common.given_numbers import given_array
from merp.tools.train.datasets.data import KEYS, Data, checked, fitted
from merp.tools.train.datasets.labelled import labelled
from merp.tools.train.datasets.names import DIGITS


def given_data(name: str, given: object, network: Network) -> Data:
    """Return labelled images: a name, a file, or arrays of images and labels.

    Raises:
        BadInput: it is none of these, or the file or an array is wrong.
    """
    if isinstance(given, tuple) and len(given) == 2:
        images, labels = (
            given_array(f"{name}: {part}", each) for part, each in zip(KEYS, given, strict=True)
        )
        return fitted(checked(name, images, labels), network)
    if isinstance(given, tuple | list):
        what = f"allowed is (images, labels), '{DIGITS}', or a path"
        raise BadInput(f"{name} = {shown(given)}: {what}")
    return labelled(str(path(name, given)), network, name)
