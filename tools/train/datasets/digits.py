"""The 1,797 handwritten digits that scikit-learn ships: 8 x 8 real scans, no download."""

from __future__ import annotations

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.tools.train.datasets.data import Data
from merp.tools.train.datasets.names import DIGITS

_WHITEST = 16.0  # pixels count the set dots of a 4 x 4 block


def digits(classes: int, argument: str = "data") -> Data:
    """Load the digits of the first ``classes`` of their ten classes.

    All ten are (1797, 8, 8, 1) in [0, 1], background 0.

    Args:
        classes: number of classes.
        argument: name of the argument, for messages.

    Raises:
        BadInput: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise BadInput(
            f"{given(argument, DIGITS)}: needs scikit-learn: pip install 'merp[train]', or give "
            "a file"
        ) from error
    found = load_digits()
    images = np.asarray(found.images, np.float64)[..., np.newaxis] / _WHITEST
    labels = np.asarray(found.target, np.int64)
    return Data(DIGITS, images[labels < classes], labels[labels < classes])
