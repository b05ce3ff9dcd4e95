"""The state of training as an ``.npz`` file, from which it resumes to the same bits.

The keys are:

- ``<layer>.kernel``, ``<layer>.bias``
- ``<layer>.velocity``: of the kernels, in stream order, then of the biases
- ``step``, ``seed``, ``network``, ``batch``
- ``accumulate``: minibatches of a step, if there are several
- ``loss``: one number per step
- ``inputs``: a hash of network and data
- ``file_format``: the format number of the file
- ``sha256``: a hash of all other keys

Numbers are binary32, which holds the numbers of every format. Each is a number of the format that
the network stores it in, or of its fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput, shown
from merp.models.base.file_format import KEY, PARAMETERS, check_format, numbered
from merp.models.base.given import name_of
from merp.models.base.storage import Tensor
from merp.models.network.network import Network
from merp.tools.common.npz import read_npz
from merp.tools.common.output import Output
from merp.tools.common.seal import SEAL, digest, is_whole, sealed
from merp.tools.train.arithmetic import Model, arithmetic_of
from merp.tools.train.data import Split

_TENSORS: Mapping[str, Tensor] = {
    "kernel": "kernels", "bias": "kernels", "velocity": "gradients",
}  # fmt: skip
_NUMBERS = {"step": 0, "seed": 0, "batch": 1}  # and the least value of each
_SEVERAL = {"accumulate": 2}  # only in files of steps with several minibatches


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The state of training between two steps.

    Attributes:
        model: parameters and velocities.
        seed: seed of the initial parameters and of the order of images.
        batch: images of a minibatch.
        accumulate: minibatches of a step.
        loss: mean loss of each step so far.
        inputs: hash of the network and the data.
    """

    model: Model
    seed: int
    batch: int
    accumulate: int
    loss: tuple[float, ...]
    inputs: str

    @property
    def step(self) -> int:
        """Number of finished steps."""
        return len(self.loss)

    @property
    def images(self) -> int:
        """Images of a step."""
        return self.accumulate * self.batch


def inputs_of(network: Network, data: Split, *, pooled: bool) -> str:
    """Return a hash of everything that decides the next step, except seed, batch and options.

    If deltas are stored in a narrower format than they are summed in, this includes whether they
    are ``pooled`` in memory.
    """
    arithmetic = arithmetic_of(network).identity
    frozen = [layer.name for layer in network.layers if not layer.trainable]
    if frozen:
        arithmetic += (frozen,)
    if network.storage is not None:
        at = pooled if network.stored("deltas") != network.fmt else None
        arithmetic += (network.storage, at)
    return digest({"network": np.array(repr(arithmetic)), **data._asdict()})


def save(output: Output, checkpoint: Checkpoint, network: Network) -> None:
    """Write the file of ``output``.

    Raises:
        BadInput: it cannot be written, or the model has elements that are not finite.
    """
    arithmetic = arithmetic_of(network)
    arrays: dict[str, NDArray[np.generic]] = {
        "step": np.array(checkpoint.step, np.int64),
        "seed": np.array(checkpoint.seed, np.int64),
        "batch": np.array(checkpoint.batch, np.int64),
        "network": np.array(network.name),
        "loss": np.array(checkpoint.loss, np.float64),
        "inputs": np.array(checkpoint.inputs),
    }
    if checkpoint.accumulate > 1:
        arrays["accumulate"] = np.array(checkpoint.accumulate, np.int64)
    for layer, (kernels, biases) in checkpoint.model.parameters.items():
        velocity = np.concatenate([v.reshape(-1) for v in checkpoint.model.velocities[layer]])
        for key, words in (("kernel", kernels), ("bias", biases), ("velocity", velocity)):
            numbers = arithmetic.numbers(layer, _TENSORS[key], words)
            if not np.isfinite(numbers).all():
                what = f"{layer}.{key} overflowed: allowed is less {name_of('learning_rate')}"
                raise BadInput(f"{output.said}: not saved: {what}")
            arrays[f"{layer}.{key}"] = numbers.astype(np.float32)
    output.write({output.name: sealed(numbered(arrays, PARAMETERS))})


def resume(path: Path, network: Network) -> Checkpoint:
    """Read a file of ``save``.

    Raises:
        BadInput: it is unreadable, of another network, damaged, or not such a file.
    """
    arrays = read_npz(path)
    check_format(path, arrays, PARAMETERS)
    _check(path, arrays, network)
    arithmetic = arithmetic_of(network)
    words = {}
    for layer in network.layers:
        for part, tensor in _TENSORS.items():
            key = f"{layer.name}.{part}"
            exact = arrays[key].astype(np.float64)
            words[key] = arithmetic.words(f"{path}: {key}", layer.name, tensor, exact)
    if not is_whole(arrays):
        raise BadInput(f"{path}: damaged, {SEAL} differs: train again")
    parameters, velocities = {}, {}
    for layer in network.layers:
        kernels, biases = words[f"{layer.name}.kernel"], words[f"{layer.name}.bias"]
        velocity = words[f"{layer.name}.velocity"]
        parameters[layer.name] = kernels, biases
        moved = velocity[: kernels.size].reshape(kernels.shape)
        velocities[layer.name] = moved, velocity[kernels.size :]
    return Checkpoint(
        model=arithmetic.model(parameters, velocities),
        seed=int(arrays["seed"]),
        batch=int(arrays["batch"]),
        accumulate=int(arrays.get("accumulate", 1)),
        loss=tuple(arrays["loss"].tolist()),
        inputs=str(arrays["inputs"]),
    )


def _check(path: Path, arrays: dict[str, NDArray[np.generic]], network: Network) -> None:
    """Check that the file has exactly the expected keys, with their sizes and types."""
    name = arrays.get("network")
    if name is not None and str(name) != network.name:
        raise BadInput(f"{path}: network = {shown(str(name))}: allowed is {network.name!r}")
    numbers = _NUMBERS | {key: low for key, low in _SEVERAL.items() if key in arrays}
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {
        **dict.fromkeys(("network", "inputs", SEAL), ("U", ())),
        **dict.fromkeys(numbers, ("i", ())),
    }
    for layer in network.layers:
        shape = layer.shape
        wanted |= {
            f"{layer.name}.kernel": ("f", (layer.biases, shape.n, shape.k, shape.k)),
            f"{layer.name}.bias": ("f", (layer.biases,)),
            f"{layer.name}.velocity": ("f", (layer.kernels + layer.biases,)),
        }
    differing = sorted((arrays.keys() - {KEY}) ^ {*wanted, "loss"})
    if differing:
        what = "unknown" if differing[0] in arrays else "missing"
        raise BadInput(
            f"{path}: {differing[0]}: {what}: allowed is a file of merp train for {network.name}"
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
    for key, low in numbers.items():
        if int(arrays[key]) < low:
            raise BadInput(f"{path}: {key} = {arrays[key]}: allowed is {low} or more")
    check("loss", "f", (int(arrays["step"]),))
