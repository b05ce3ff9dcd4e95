"""ONNX models with something wrong in them."""

from collections.abc import Callable
from typing import Any

import numpy as np

import onnx_models as made

Model = Any


def one(operator: str, inputs: str = "x", *, consts: Any = None, **attributes: Any) -> Model:
    """A model of one node behind a convolution of 8 x 8 to 8 x 8, two maps."""
    nodes = [made.node("Conv", "x c", "a", "first")]
    nodes.append(made.node(operator, inputs.replace("x", "a"), "y", "bad", **attributes))
    return made.model(nodes, {"c": made.numbers(2, 1, 1, 1), **(consts or {})})


def conv(shape: tuple[int, ...] = (2, 1, 3, 3), bias: Any = None, **attributes: Any) -> Model:
    """A model of one convolution of one map of 8 x 8."""
    consts = {"w": made.numbers(*shape)} | ({} if bias is None else {"b": bias})
    inputs = "x w" if bias is None else "x w b"
    return made.model([made.node("Conv", inputs, "y", "bad", **attributes)], consts)


def gemm(weights: Any, bias: Any = None, **attributes: Any) -> Model:
    """A model of one full connection of four features."""
    consts = {"w": weights} | ({} if bias is None else {"b": bias})
    inputs = "x w" if bias is None else "x w b"
    return made.model([made.node("Gemm", inputs, "y", "bad", **attributes)], consts, size=("N", 4))


def changed(change: Callable[[Model], object], model: Model | None = None) -> Model:
    """A model of three layers that ``change`` has spoilt."""
    model = model or made.three_layers()
    change(model)
    return model


def of_size(*size: Any) -> Model:
    """A convolution of images of such a size."""
    return made.model([made.node("Conv", "x w", "y")], {"w": made.numbers(2, 1, 3, 3)}, size=size)


def normalised(size: int = 2, variance: float = 1.0, **attributes: Any) -> Model:
    """A convolution and a normalisation of so many maps, of such a variance."""
    values = {"s": np.ones(size), "o": np.ones(size), "m": np.ones(size)}
    consts = {key: each.astype(np.float32) for key, each in values.items()}
    consts["v"] = np.full(size, variance, np.float32)
    return one("BatchNormalization", "x s o m v", consts=consts, **attributes)


def statistics() -> Model:
    """A normalisation that gives its statistics, too."""
    model = normalised()
    model.graph.node[1].output.extend(["mean", "variance"])
    return model


def bias_behind_flatten() -> Model:
    """A bias that is added only where maps are flattened."""
    nodes = [
        made.node("Conv", "x c", "a", "first"),
        made.node("Flatten", "a", "b"),
        made.node("Add", "b d", "y", "bad"),
    ]
    consts = {"c": made.numbers(2, 1, 8, 8), "d": made.numbers(2)}
    return made.model(nodes, consts)


def two_ways(operator: str, *outputs: str) -> Model:
    """A convolution that goes two ways, which ``operator`` joins or nothing does."""
    nodes = [
        made.node("Conv", "x c", "a", "first"),
        made.node("Relu", "a", "b", "left"),
        made.node("MaxPool", "a", "d", "right", kernel_shape=[2, 2]),
        made.node(operator, "b d", "y", "bad"),
    ]
    return made.model(nodes[: 4 if operator else 3], {"c": made.numbers(2, 1, 1, 1)}, output="d")


def behind_softmax() -> Model:
    """A full connection behind the loss."""
    nodes = [
        made.node("Gemm", "x w", "a", "fc"),
        made.node("Softmax", "a", "b", "loss"),
        made.node("Relu", "b", "y", "bad"),
    ]
    return made.model(nodes, {"w": made.numbers(4, 3)}, size=("N", 4))


def after_pool(kind: str, then: str, **attributes: Any) -> Model:
    """An operator behind pooling of a ``kind``."""
    nodes = [
        made.node("Conv", "x c", "a", "first"),
        made.node(kind, "a", "b", "pool", kernel_shape=[2, 2], strides=[2, 2]),
        made.node(then, "b", "y", "bad", **attributes),
    ]
    return made.model(nodes, {"c": made.numbers(2, 1, 1, 1)})


def circle() -> Model:
    """Two nodes, each in front of the other."""
    nodes = [made.node("Relu", "b", "a", "bad"), made.node("Relu", "a", "b", "other")]
    return made.model([made.node("Conv", "x c", "y"), *nodes], {"c": made.numbers(2, 1, 1, 1)})


def reshaped(*shape: int, **attributes: Any) -> Model:
    """A reshaping to ``shape`` behind a convolution."""
    return one("Reshape", "x s", consts={"s": np.array(shape)}, **attributes)


def external(**entries: str) -> Model:
    """A model of three layers, data of one of which lies elsewhere."""
    from onnx import TensorProto

    def spoil(model: Model) -> None:
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)

    return changed(spoil)


def tensor(**fields: Any) -> Model:
    """A model of three layers with other fields of its first initializer."""

    def spoil(model: Model) -> None:
        found = model.graph.initializer[0]
        for key, value in fields.items():
            found.ClearField(key)
            if isinstance(value, list):
                getattr(found, key).extend(value)
            else:
                setattr(found, key, value)

    return changed(spoil)


def of_type(dtype: Any, kind: int) -> Model:
    """A convolution with elements of a type, said to be of ``kind``."""
    consts = {"w": made.numbers(2, 1, 3, 3, dtype=dtype)}
    return made.model([made.node("Conv", "x w", "y", "bad")], consts, kind=kind)


def not_finite(value: float) -> Model:
    """A convolution, one of whose weights is no finite number."""
    weights = made.numbers(2, 1, 3, 3)
    weights[1, 0, 2, 1] = value
    return made.model([made.node("Conv", "x w", "y", "bad")], {"w": weights})
