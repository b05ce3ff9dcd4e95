"""Compare imported networks with ONNX Runtime.

Against ONNX Runtime a sum of K products and a bias may differ by (K + 8) half ulps of the sum of
all magnitudes, here and there: each rounds every product and every sum once, in an order of its
own, and a normalisation takes a few operations more, or rounds the folded weight. Errors of a
layer's input go on with the magnitudes of its weights; ReLU and maxima make none larger.
"""

from pathlib import Path

import numpy as np

import onnx_models as made
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.shape import sides
from merp.models.golden.inference import as_input, inference
from merp.models.golden.initial import parameters
from merp.models.network.branches import added, previous
from merp.models.network.network import Layer, Network
from merp.models.onnx.import_model import Imported

HALF_ULP = 2.0**-24
RELATIVE = 1e-5


def windows(x: np.ndarray, k: int, stride: int) -> np.ndarray:
    """(images, rows, columns, maps, k, k)."""
    view = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(1, 2))
    return view[:, ::stride, ::stride]


def convolved(layer: Layer, x: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    """The sums of a layer of x (images, rows, columns, maps)."""
    shape = layer.shape
    top, left, bottom, right = sides(shape.pad)
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    groups = [
        np.einsum(
            "brcnij,mnij->brcm",
            windows(padded[..., g * shape.n :][..., : shape.n], shape.k, shape.stride),
            kernels[g * shape.m : (g + 1) * shape.m],
        )
        for g in range(layer.groups)
    ]
    return np.concatenate(groups, axis=-1)


def pooled(layer: Layer, x: np.ndarray, kind: str | None = None) -> np.ndarray:
    """The pooling of a layer, as ``kind`` if given, on x (images, rows, columns, maps)."""
    pool = layer.shape.pool
    if pool is None:
        return x
    top, left, bottom, right = sides(pool.pad)
    averaged = (kind or pool.kind) == "average"
    around = ((0, 0), (top, bottom), (left, right), (0, 0))
    x = np.pad(x, around, constant_values=0 if averaged else -np.inf)
    seen = windows(x, pool.window, pool.stride)
    return seen.mean((-2, -1)) if averaged else seen.max((-2, -1))


def taken(
    network: Network, layer: Layer, made: dict[str, tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray]:
    """What a layer takes of the outputs ``made`` and their errors; nothing for the images."""
    front = previous(network, layer)
    if front is None:
        return []
    names = [layer.input] if isinstance(layer.input, str) else layer.input or [front.name]
    return [np.concatenate([made[name][each] for name in names], axis=-1) for each in range(2)]


def exact_and_error(imported: Imported, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The network in binary64, and how far a run in binary32 may be from it, element by element."""
    network, images = imported.network, (x, np.zeros_like(x))
    made: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for layer, source in zip(network.layers, imported.layers, strict=True):
        beside = added(network, layer)
        x, error = (as_input(each, layer) for each in taken(network, layer, made) or images)
        if layer.only_pools:
            k, elements = layer.shape.k, layer.shape.rows * layer.shape.columns
            averaged = elements if k > 1 else 1  # with k above 1 the window is the whole map
            kernels = np.full((layer.biases, 1, k, k), 1 / averaged)
            biases = np.zeros(layer.biases)
        else:
            kernels, biases = (to_values(each, network.fmt) for each in network.weights[layer.name])
        spread = np.abs(biases)
        if source.bias is not None:
            spread = np.abs(source.bias.array()).astype(np.float64)
        for fold in source.folds:
            factor, less, more = fold.affine(len(kernels))
            spread = np.abs(factor) * (spread + np.abs(less)) + np.abs(more)
        magnitudes = convolved(layer, np.abs(x) + error, np.abs(kernels)) + spread
        terms = layer.shape.n * layer.shape.k**2 + 8
        error = convolved(layer, error, np.abs(kernels))
        x = convolved(layer, x, kernels) + biases
        if beside is not None:  # one product more, of a factor 1
            more_x, more_error = (each.reshape(x.shape) for each in made[beside.name])
            x, error = x + more_x, error + more_error
            magnitudes, terms = magnitudes + np.abs(more_x) + more_error, terms + 1
        error += terms * HALF_ULP * magnitudes
        if layer.shape.slope:
            slope = to_values([layer.shape.slope], network.fmt)[0]
            error += HALF_ULP * slope * (np.abs(x) + error)  # of the product
            x = np.where(x > 0, x, slope * x)
        elif layer.shape.relu:
            x = np.maximum(x, 0)
        x = np.minimum(x, 6) if layer.shape.relu6 else x
        pool = layer.shape.pool
        if pool and pool.kind == "average":
            rounding = (pool.window**2 + 2) * HALF_ULP
            error = pooled(layer, error + rounding * (np.abs(x) + error))
        else:
            error = pooled(layer, error, "max")
        x = pooled(layer, x)
        made[layer.name] = x, error
    return x.reshape(len(x), -1), error.reshape(len(x), -1)


def golden(network: Network, x: np.ndarray) -> np.ndarray:
    """What the golden model makes of images (images, channels, rows, columns)."""
    words = to_bits(x.transpose(0, 2, 3, 1), network.fmt)
    *_, last = inference(network, words, parameters(network, 0))
    return to_values(last.y, network.fmt).reshape(len(x), -1)


def runtime(path: Path, x: np.ndarray) -> np.ndarray:
    """What ONNX Runtime makes of images in the order of the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0], np.float64).reshape(len(x), -1)


def check_against_runtime(imported: Imported, path: Path, seed: int) -> None:
    """See that golden model and runtime are both within the error of what is exact.

    They also differ by at most 1e-5 of the largest output. If a Transpose uses the images, they
    have the channels last.
    """
    rows, columns, channels = imported.network.input
    x = made.numbers(2, channels, rows, columns, seed=seed)
    exact, error = exact_and_error(imported, x.transpose(0, 2, 3, 1).astype(np.float64))
    ours = golden(imported.network, x)
    if imported.network.layers[-1].kind == "conv":  # maps leave the model channels first
        last = imported.network.layers[-1].shape
        size = len(x), last.pooled_rows, last.pooled_columns, -1
        exact, error, ours = (
            each.reshape(size).transpose(0, 3, 1, 2).reshape(len(x), -1)
            for each in (exact, error, ours)
        )
    assert (np.abs(ours - exact) <= error).all()
    first = next(node for node in imported.model.graph.node if "x" in node.input)
    theirs = runtime(path, x.transpose(0, 2, 3, 1) if first.op_type == "Transpose" else x)
    assert (np.abs(ours - theirs) <= 2 * error).all()
    assert np.abs(ours - theirs).max() <= RELATIVE * np.abs(theirs).max()
