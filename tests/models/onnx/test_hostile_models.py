"""Models that would take much time or memory: one line each, with little of both."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnx_models as made
from merp.models.base.errors import BadInput
from merp.models.onnx.import_model import import_model
from needed_tools import needs
from spoilt_models import external

pytestmark = needs("onnx")
node = made.node
MOST = 100_000_000  # bytes
W = made.numbers(2, 1, 3, 3)
CONV = node("Conv", "x w", "y", "bad")


def computed(*nodes: Any, size: Any = ("N", 1, 8, 8), last: Any = CONV, **constants: Any) -> Any:
    return made.model([*nodes, last], constants, size=size)


def zeros(*size: int) -> Any:
    """A full connection whose weights are zeros of such a size."""
    last = node("Gemm", "x w", "y", "bad")
    nodes = [node("ConstantOfShape", "s", "w")]
    return computed(*nodes, size=("N", size[0]), last=last, s=np.array(size))


def doubled(times: int) -> Any:
    nodes = [node("Concat", f"t{i} t{i}", f"t{i + 1}", axis=0) for i in range(times)]
    return computed(*nodes, last=node("Conv", f"x t{times}", "y", "bad"), t0=W)


def outside() -> Any:
    model = computed(node("ConstantOfShape", "s", "w"), s=np.array(W.shape))
    attribute = model.graph.node[0].attribute.add(name="value", type=4)
    attribute.t.CopyFrom(external(location="/etc/hostname").graph.initializer[0])
    return model


def chain(length: int) -> Any:
    nodes = [node("Transpose", f"t{i}", f"t{i + 1}", perm=[0, 1, 3, 2]) for i in range(length)]
    return computed(*nodes, last=node("Conv", f"x t{length}", "y", "bad"), t0=W)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "a circle of constants": (
        lambda: computed(node("Neg", "w", "v", "bad"), node("Neg", "v", "w")),
        "node 'bad' (Neg): input 'w' is not computed by an earlier node",
    ),
    "a size below 0": (
        lambda: computed(node("ConstantOfShape", "s", "w"), s=np.array([2, 1, -3, 3])),
        "node 'bad' (Conv): input 2 'w' is computed: must be an initializer or a constant",
    ),
    "two gigabytes of zeros": (lambda: zeros(8192, 65536), "allowed are at most 134,217,728"),
    "a size beyond memory": (
        lambda: computed(node("ConstantOfShape", "s", "w"), s=np.array([1 << 62, 1 << 62, 3, 3])),
        "node 'bad' (Conv): weights' size = (4611686018427387904, 4611686018427387904, 3, 3): must",
    ),
    "weights that double": (
        lambda: doubled(40),
        "maps = 2199023255552: must be a whole number from 1 to 65536",
    ),
    "a long chain of constants": (
        lambda: chain(5000),
        "5,001 nodes: allowed are at most 4,096 in a model that computes shapes or weights",
    ),
    "too many nodes": (
        lambda: made.model([node("Relu", "x", "y")] * 20_000),
        "20,000 nodes: allowed are at most 16,384 in a model",
    ),
    "external data in an attribute": (
        outside,
        "(ConstantOfShape): 'value' is external data: allowed is data in the model",
    ),
    "an output that no node computes": (
        lambda: made.model([node("Neg", "w", "v"), node("Conv", "x v", "z")], {"w": W}),
        "output 'y': must be computed by a node",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_model_gets_one_line(case: str, tmp_path: Path) -> None:
    make, message = CASES[case]
    path = made.saved(tmp_path, make())
    import_model(made.saved(tmp_path, chain(1), "first.onnx"))  # imports the library
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as found:
            dict(import_model(path).network.weights)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert message in str(found.value)
    assert "\n" not in str(found.value)
    assert peak < MOST


def test_sizes_of_two_gigabytes_need_no_memory(tmp_path: Path) -> None:
    (layer,) = import_model(made.saved(tmp_path, zeros(8192, 65536))).network.layers
    assert (layer.shape.n, layer.shape.m) == (8192, 65536)


@pytest.mark.parametrize("name", ["net.onnx", "data"])
def test_a_file_that_is_a_hole(name: str, tmp_path: Path) -> None:
    model = made.model([node("Gemm", "x w", "y")], size=("N", 8192))
    weights = external(location="data").graph.initializer[0]
    weights.dims[:], weights.name = [8192, 8192], "w"
    model.graph.initializer.append(weights)
    path = made.saved(tmp_path, model)
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(BadInput, match="are stored: allowed is a file without holes"):
        dict(import_model(path).network.weights)
