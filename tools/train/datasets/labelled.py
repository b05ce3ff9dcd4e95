"""Find labelled images by the name of their source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.tools.train.datasets.csv_data import read_csv_data
from merp.tools.train.datasets.data import Data, fitted
from merp.tools.train.datasets.digits import digits
from merp.tools.train.datasets.idx_data import idx_files, is_idx, read_idx_data
from merp.tools.train.datasets.names import DIGITS
from merp.tools.train.datasets.npz_data import read_npz_data
from merp.tools.train.datasets.pictures import Size, read_pictures


def labelled(source: str, network: Network, argument: str = "data") -> Data:
    """Return the labelled images of a source, with images of the network's size.

    The digits are of as many classes as the network has outputs. If a source for ``validation``
    has images of its own for it, these are returned.

    Args:
        source: ``digits``; or an ``.npz``, ``.csv`` or IDX file; or a folder of IDX files or of
            pictures by class.
        network: the network.
        argument: name of the argument, for messages.

    Raises:
        BadInput: scikit-learn is not installed, or the source is not such images.
    """
    if source == DIGITS:
        return fitted(digits(network.layers[-1].outputs, argument), network)
    found = _read(Path(source), network.input)
    if argument == "validation" and found.held is not None:
        found = found.held
    return fitted(found, network)


def _read(path: Path, size: Size) -> Data:
    try:
        if path.is_dir():
            return _read_folder(path, size)
        if is_idx(path):
            return read_idx_data(path)
        return read_csv_data(path) if path.suffix.lower() == ".csv" else read_npz_data(path)
    except BadInput:
        raise
    except (OSError, ValueError) as error:  # the latter for a name that no file can have
        reason = getattr(error, "strerror", None) or "no such name of a file"
        raise BadInput(f"{path}: cannot be read: {reason}") from error


def _read_folder(folder: Path, size: Size) -> Data:
    files = idx_files(folder)
    if "train" not in files:
        return read_pictures(folder, size)
    found = read_idx_data(files["train"])
    return replace(found, held=read_idx_data(files["held"])) if "held" in files else found
