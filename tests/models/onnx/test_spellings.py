"""The same network in the spellings of several exporters: one import, and the runtime's numbers."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import onnx_models as made
import onnx_spellings
from marks import few
from merp.models.onnx.import_model import import_model
from needed_tools import needs
from onnx_runtime import check_against_runtime

pytestmark = [needs("onnx"), needs("onnxruntime")]
node = made.node
FLOAT32 = np.finfo(np.float32)
CONV = {"w": made.numbers(4, 2, 3, 3), "b": made.numbers(4)}
FC = {"v": made.numbers(4, 5), "c": made.numbers(5)}
FIRST = node("Conv", "x w b", "a", "conv")
RELU = node("Relu", "a", "r")


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def averages(*nodes: Any, opset: int = 17, **constants: Any) -> Any:
    """A convolution, averages m of its ReLU r, and a full connection of f or m."""
    last = nodes[-1].output[0]
    every = [FIRST, RELU, *nodes, node("MatMul", f"{last} v", "d", "fc"), node("Add", "d c", "y")]
    return made.model(every, {**CONV, **FC, **constants}, size=("N", 2, 8, 8), opset=opset)


def behind(*nodes: Any, opset: int = 17, **constants: Any) -> Any:
    """A convolution of two maps of 9 x 7, and nodes from a to y after it."""
    return made.model([FIRST, *nodes], {**CONV, **constants}, size=("N", 2, 9, 7), opset=opset)


def in_front(*nodes: Any, opset: int = 17, size: Any = ("N", 2, 9, 7), **constants: Any) -> Any:
    """Nodes from x to q, and a convolution of q."""
    every = [*nodes, node("Conv", "q w b", "y", "conv", strides=[2, 2])]
    return made.model(every, {**CONV, **constants}, size=size, opset=opset)


def weights(*nodes: Any, opset: int = 17, **constants: Any) -> Any:
    """A convolution whose weights w are computed."""
    every = [*nodes, node("Conv", "x w b", "y", "conv")]
    given = {"b": CONV["b"], **constants}
    return made.model(every, given, size=("N", 2, 9, 7), opset=opset)


def flattened(*nodes: Any, **constants: Any) -> Any:
    """A convolution, nodes from its ReLU r to f, and a full connection of f."""
    every = [FIRST, RELU, *nodes, node("Gemm", "f u c", "y", "fc")]
    given = {**CONV, "u": made.numbers(140, 5), "c": FC["c"], **constants}
    return made.model(every, given, size=("N", 2, 9, 7), opset=13)


def channels_last() -> Any:
    """Two convolutions as TensorFlow has them: biases, an addition and averages, channels last."""
    nodes = [
        node("Transpose", "x", "x1", perm=[0, 3, 1, 2]),
        node("Conv", "x1 w", "a1", "one", pads=[1] * 4),
        node("Transpose", "a1", "a", perm=[0, 2, 3, 1]),
        node("Add", "a b", "s"),
        node("Relu", "s", "r"),
        node("Transpose", "r", "r1", perm=[0, 3, 1, 2]),
        node("Conv", "r1 w2", "e1", "two", auto_pad="SAME_UPPER"),
        node("Transpose", "e1", "e", perm=[0, 2, 3, 1]),
        node("Mul", "scale e", "g"),
        node("Add", "g r", "h"),
        node("Relu", "h", "i"),
        node("ReduceMean", "i", "m", axes=[1, 2], keepdims=0),
        node("MatMul", "m v", "d", "fc"),
        node("Add", "d c", "y"),
    ]
    scale = np.abs(made.numbers(4, seed=2)) + np.float32(0.5)
    more = {"w2": made.numbers(4, 4, 3, 3), "scale": scale}
    return made.model(nodes, {**CONV, **FC, **more}, size=("N", 6, 6, 2))


def channels_last_flattened() -> Any:
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Conv", "t w b", "a"),
        node("Transpose", "a", "u", perm=[0, 2, 3, 1]),
        node("Reshape", "u s", "f"),
        node("Gemm", "f u140 c", "y"),
    ]
    more = {"u140": made.numbers(140, 5), "s": whole(-1, 140), "c": FC["c"]}
    return made.model(nodes, {**CONV, **more}, size=("N", 9, 7, 2))


W = CONV["w"]
POOL = {"kernel_shape": [3, 3], "strides": [2, 2]}
AROUND = whole(0, 0, 1, 1, 0, 0, 1, 1)
CASES: dict[str, Callable[[], Any]] = {
    # averages of whole maps
    "PyTorch's default": lambda: averages(
        node("ReduceMean", "r axes", "m", keepdims=1, noop_with_empty_axes=0),
        node("Reshape", "m s", "f", allowzero=1),
        opset=20, axes=whole(-1, -2), s=whole(-1, 4),
    ),
    "axes as an attribute": lambda: averages(
        node("ReduceMean", "r", "m", axes=[2, 3]), node("Flatten", "m", "f")
    ),
    "axes that disappear": lambda: averages(node("ReduceMean", "r", "m", axes=[-2, 3], keepdims=0)),
    "axes as an input that disappear": lambda: averages(
        node("ReduceMean", "r axes", "m", keepdims=0), opset=18, axes=whole(3, 2)
    ),
    "one axis after the other": lambda: averages(
        node("ReduceMean", "r", "m", axes=[3], keepdims=0),
        node("ReduceMean", "m", "f", axes=[2], keepdims=0),
    ),
    "one axis after the other, kept": lambda: averages(
        node("ReduceMean", "r", "m", axes=[2]), node("ReduceMean", "m", "n", axes=[-1]),
        node("Flatten", "n", "f"),
    ),
    "a squeezed average": lambda: averages(
        node("ReduceMean", "r", "m", axes=[3, 2]), node("Squeeze", "m axes", "f"),
        axes=whole(2, 3),
    ),
    "one window": lambda: averages(
        node("AveragePool", "r", "m", kernel_shape=[6, 6], strides=[1, 1]),
        node("Reshape", "m s", "f"), s=whole(0, -1),
    ),
    "one maximum": lambda: averages(
        node("MaxPool", "r", "m", kernel_shape=[5, 5], strides=[2, 2]), node("Flatten", "m", "f")
    ),
    # ReLU
    "Clip by an attribute": lambda: behind(node("Clip", "a", "y", min=0.0), opset=9),
    "Clip by an input": lambda: behind(node("Clip", "a zero", "y"), zero=np.float32(0)),
    "Clip to the largest number": lambda: behind(
        node("Clip", "a zero most", "y"), zero=np.float32(0), most=FLOAT32.max
    ),
    # constants behind a convolution
    "a normalisation in four nodes": lambda: behind(
        node("Sub", "a m", "d"), node("Div", "d e", "f"), node("Mul", "g f", "h"),
        node("Add", "h i", "y"), m=made.numbers(4, 1, 1), e=np.abs(made.numbers(1, 4, 1, 1)) + 1,
        g=made.numbers(4, 1, 1, seed=3), i=np.float32([0.25]),
    ),
    "a factor for all": lambda: behind(node("Mul", "a g", "y"), g=np.float32(0.5)),
    "factors of a full connection": lambda: flattened(
        node("Flatten", "r", "f0"), node("MatMul", "f0 u2", "p"), node("Mul", "p g", "f"),
        u2=made.numbers(140, 140), g=made.numbers(140, seed=5),
    ),
    "a sum of one": lambda: behind(node("Sum", "a", "y")),
    "a sum with a constant": lambda: behind(node("Sum", "a m", "y"), m=made.numbers(4, 1, 1)),
    # padding
    "Pad": lambda: in_front(node("Pad", "x p", "q"), p=AROUND),
    "Pad of some axes": lambda: in_front(
        node("Pad", "x p zero axes", "q"), opset=18, p=whole(2, 0, 1, 2), zero=np.float32(0),
        axes=whole(-1, 2),
    ),
    "Pad by an attribute": lambda: in_front(
        node("Pad", "x", "q", pads=[0, 0, 2, 0, 0, 0, 1, 2], mode="constant"), opset=9
    ),
    "two Pads": lambda: in_front(
        node("Pad", "x p", "q0"), node("Pad", "q0 n", "q1"), node("Pad", "q1 r", "q"),
        p=AROUND, n=np.zeros(8, np.int64), r=whole(0, 0, 1, 0, 0, 0, 0, 1),
    ),
    "Pad and padding": lambda: made.model(
        [node("Pad", "x p", "q"), node("Conv", "q w", "y", auto_pad="SAME_LOWER", strides=[2, 2])],
        {"w": made.numbers(4, 2, 5, 5), "p": whole(0, 0, 1, 0, 0, 0, 1, 1)}, size=("N", 2, 9, 7),
    ),
    "Pad before maxima of ReLU": lambda: behind(
        RELU, node("Pad", "r p", "q"), node("MaxPool", "q", "y", **POOL), p=AROUND
    ),
    "Pad of minus infinity": lambda: behind(
        node("Pad", "a p less", "q"), node("MaxPool", "q", "y", **POOL),
        p=AROUND, less=np.float32(-np.inf),
    ),
    "Pad before averages": lambda: behind(
        node("Pad", "a p", "q"), node("AveragePool", "q", "y", **POOL), p=AROUND
    ),
    # no effect
    "pooling of one element": lambda: behind(
        RELU, node("MaxPool", "r", "p", **POOL),
        node("AveragePool", "p", "y", kernel_shape=[1, 1], strides=[1, 1]),
    ),
    "the same type and size": lambda: behind(
        node("Cast", "a", "d", to=1), node("Reshape", "d s", "y"), s=whole(0, 4, -1, 5)
    ),
    "a pair of transpositions": lambda: behind(
        node("Transpose", "a", "d", perm=[3, 0, 2, 1]), node("Relu", "d", "r"),
        node("Transpose", "r", "y", perm=[1, 3, 2, 0]),
    ),
    # channels last
    "channels last": channels_last,
    "channels last, flattened": channels_last_flattened,
    # computed weights
    "weights of another type": lambda: weights(
        node("Cast", "half", "w", to=1), half=W.astype(np.float16)
    ),
    "quantised weights": lambda: weights(
        node("DequantizeLinear", "q s z", "w", axis=0), z=np.arange(4, dtype=np.int8),
        q=np.random.default_rng(0).integers(-128, 128, W.shape, np.int8),
        s=np.float32([0.01, 0.02, 0.03, 0.04]),
    ),
    "quantised weights of an old operator set": lambda: weights(
        node("Squeeze", "p", "q", axes=[0]), node("DequantizeLinear", "q s", "w"), opset=10,
        p=np.random.default_rng(0).integers(0, 255, (1, *W.shape), np.uint8), s=np.float32(0.01),
    ),
    "equal weights": lambda: weights(
        node("ConstantOfShape", "s", "one"), node("Mul", "one g", "w"),
        s=whole(4, 2, 3, 3), g=made.numbers(4, 1, 3, 1),
    ),
    "transposed weights": lambda: weights(
        node("Transpose", "t", "w", perm=[3, 2, 0, 1]), t=W.transpose(2, 3, 1, 0)
    ),
    "weights as a list": lambda: made.model(
        [node("Constant", "", "g", value_floats=[1.0, 2.0, -1.0, 0.5]),
         node("Constant", "", "s", value_ints=[4, 1, 1]), node("Reshape", "g s", "h"), FIRST,
         node("Mul", "a h", "y")], CONV, size=("N", 2, 9, 7),
    ),
    # computed shapes
    "the images of a value": lambda: flattened(
        node("Shape", "r", "s0"), node("Gather", "s0 zero", "s1"), node("Unsqueeze", "s1 ax", "s2"),
        node("Concat", "s2 rest", "s", axis=0), node("Reshape", "r s", "f"),
        zero=np.int64(0), ax=whole(0), rest=whole(-1),
    ),
    "the elements of a value": lambda: flattened(
        node("Shape", "r", "s0"), node("Slice", "s0 one four", "s1"),
        node("ReduceProd", "s1", "s2"),
        node("Concat", "rest s2", "s", axis=0), node("Reshape", "r s", "f"),
        one=whole(1), four=whole(4), rest=whole(-1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_spelling_has_the_numbers_of_the_runtime(case: str, tmp_path: Path) -> None:
    path = made.saved(tmp_path, CASES[case]())
    imported = import_model(path)
    assert imported.left == ()
    check_against_runtime(imported, path, 0)


def check_respelt(seed: int, folder: Path) -> None:
    """Spell a random model in another way; it is the same network, with the same numbers."""
    model = made.random_plain(seed, "spelling")
    plain = import_model(made.saved(folder, model)).network
    path = made.saved(folder, onnx_spellings.respelt(model, Random(seed)))
    imported = import_model(path)
    assert [(x.kind, x.groups, x.shape, x.input, x.add) for x in plain.layers] == [
        (x.kind, x.groups, x.shape, x.input, x.add) for x in imported.network.layers
    ]
    check_against_runtime(imported, path, seed)


@pytest.mark.parametrize("seed", few(range(24), *range(8)))
def test_random_spellings_are_the_same_network(seed: int, tmp_path: Path) -> None:
    check_respelt(seed, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("part", range(8))
def test_two_hundred_random_spellings_are_the_same_network(part: int, tmp_path: Path) -> None:
    for seed in range(24 + 25 * part, 24 + 25 * (part + 1)):
        check_respelt(seed, tmp_path)
