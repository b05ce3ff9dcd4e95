"""Training that was interrupted: an ``.npz`` from which it goes on to the same bits.

Keys: ``<layer>.kernel``, ``<layer>.bias``, ``<layer>.velocity`` (of the kernels, in stream order,
then of the biases), ``step``, ``seed``, ``network``, ``batch``, and ``loss``, one per step. Numbers
are binary32, which holds every format's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.errors import BadInput, shown
from merp.models.golden.training import Model
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat
from merp.tools.common.npz import read_npz

_NUMBERS = {"step": 0, "seed": 0, "batch": 1}  # and the least value of each


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Training between two steps.

    Attributes:
        model: parameters and velocities.
        seed: of the initial parameters and of the order of images.
        batch: images of a step.
        loss: mean loss of each step so far.
    """

    model: Model
    seed: int
    batch: int
    loss: tuple[float, ...]

    @property
    def step(self) -> int:
        """Steps done."""
        return len(self.loss)


def save(path: Path, checkpoint: Checkpoint, network: Network) -> None:
    """Write ``path`` whole or not at all: until the last moment the old file stays.

    Raises:
        BadInput: it cannot be written, or the model has elements that are not finite.
    """
    fmt = network.fmt
    arrays: dict[str, NDArray[np.generic]] = {
        "step": np.array(checkpoint.step, np.int64),
        "seed": np.array(checkpoint.seed, np.int64),
        "batch": np.array(checkpoint.batch, np.int64),
        "network": np.array(network.name),
        "loss": np.array(checkpoint.loss, np.float64),
    }
    for name, (kernels, biases) in checkpoint.model.parameters.items():
        velocity = np.concatenate([v.reshape(-1) for v in checkpoint.model.velocities[name]])
        for key, words in (("kernel", kernels), ("bias", biases), ("velocity", velocity)):
            numbers = to_values(words, fmt)
            if not np.isfinite(numbers).all():
                raise BadInput(f"{path}: not saved: {name}.{key} overflowed: allowed is less --lr")
            arrays[f"{name}.{key}"] = numbers.astype(np.float32)
    content = BytesIO()  # zipfile hides why a write failed
    np.savez(content, allow_pickle=False, **arrays)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be saved: {error.strerror}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def resume(path: Path, network: Network) -> Checkpoint:
    """Read what ``save`` wrote.

    Raises:
        BadInput: unreadable, of another network, or not such a file.
    """
    arrays = read_npz(path)
    _check(path, arrays, network)
    words = {
        key: _words(path, key, array, network.fmt) for key, array in arrays.items() if "." in key
    }
    parameters, velocities = {}, {}
    for layer in network.layers:
        kernels, biases = words[f"{layer.name}.kernel"], words[f"{layer.name}.bias"]
        velocity = words[f"{layer.name}.velocity"]
        parameters[layer.name] = kernels, biases
        moved = velocity[: kernels.size].reshape(kernels.shape)
        velocities[layer.name] = moved, velocity[kernels.size :]
    return Checkpoint(
        model=Model(parameters=parameters, velocities=velocities),
        seed=int(arrays["seed"]),
        batch=int(arrays["batch"]),
        loss=tuple(arrays["loss"].tolist()),
    )


def _check(path: Path, arrays: dict[str, NDArray[np.generic]], network: Network) -> None:
    """Check that every key is there, of its size and type, and no other."""
    name = arrays.get("network")
    if name is not None and str(name) != network.name:
        raise BadInput(f"{path}: network = {shown(str(name))}: allowed is {network.name!r}")
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {
        "network": ("U", ()),
        **dict.fromkeys(_NUMBERS, ("i", ())),
    }
    for layer in network.layers:
        shape = layer.shape
        wanted |= {
            f"{layer.name}.kernel": ("f", (layer.biases, shape.n, shape.k, shape.k)),
            f"{layer.name}.bias": ("f", (layer.biases,)),
            f"{layer.name}.velocity": ("f", (layer.kernels + layer.biases,)),
        }
    differing = sorted(arrays.keys() ^ {*wanted, "loss"})
    if differing:
        what = "unknown" if differing[0] in arrays else "missing"
        raise BadInput(
            f"{path}: {differing[0]}: {what}: allowed is what merp train saved of {network.name}"
        )

    def check(key: str, kind: str, size: tuple[int, ...]) -> None:
        array = arrays[key]
        if (array.dtype.kind, array.shape) != (kind, size):
            raise BadInput(
                f"{path}: {key}: type {array.dtype} of size {array.shape}: allowed for "
                f"{network.name} is size {size}, as merp train saves it"
            )

    for key, (kind, size) in wanted.items():
        check(key, kind, size)
    for key, low in _NUMBERS.items():
        if int(arrays[key]) < low:
            raise BadInput(f"{path}: {key} = {arrays[key]}: allowed is {low} or more")
    check("loss", "f", (int(arrays["step"]),))


def _words(path: Path, key: str, numbers: NDArray[np.generic], fmt: FloatFormat) -> Bits:
    exact = numbers.astype(np.float64)
    words = to_bits(exact, fmt)
    differing = np.argwhere(~(np.isfinite(exact) & (to_values(words, fmt) == exact)))
    if differing.size:
        place = tuple(int(index) for index in differing[0])
        raise BadInput(
            f"{path}: {key}[{', '.join(map(str, place))}] = {exact[place]}: allowed are finite "
            "numbers of the network's format"
        )
    return words
