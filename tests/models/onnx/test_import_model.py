"""Networks of ONNX models: what becomes of each node, and the numbers that come out."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import onnx_models as made
from counted_networks import check_counts, check_plan, on_one_design
from merp.models.arithmetic.words import to_values
from merp.models.base.shape import Padding, Pool
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.network.network import Network
from merp.models.onnx.import_model import import_model
from merp.models.onnx.write_back import write_back
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network
from needed_tools import needs
from onnx_runtime import check_against_runtime, exact_and_error, golden, runtime

pytestmark = needs("onnx")


def layers_of(network: Network) -> list[tuple[Any, ...]]:
    return [(each.kind, each.groups, each.shape) for each in network.layers]


def test_each_node_becomes_what_a_network_file_says(tmp_path: Path) -> None:
    imported = import_model(made.saved(tmp_path, made.three_layers()))
    max2, max1 = ({"kind": "max", "window": 2, "stride": stride} for stride in (2, 1))
    conv1, conv2, fc = (dict(layer.table) for layer in imported.layers)
    assert conv1 == {
        "name": "conv1", "maps": 3, "kernel": 3, "stride": 1, "pad": 1, "groups": 1, "relu": True,
        "design": "auto", "pool": max2,
    }  # fmt: skip
    assert conv2 == conv1 | {"name": "conv2", "maps": 4, "pad": 0, "pool": max1}
    assert fc == {"name": "fc", "maps": 5, "relu": False, "design": "auto"}
    assert imported.network.input == (10, 8, 2)
    assert (imported.left, imported.reason) == ((), "")
    folded, swapped = imported.said
    assert folded.startswith("node '/norm/BatchNormalization' (BatchNormalization) is folded into")
    assert swapped.startswith("node '/relu_1/Relu' (Relu) of conv2 is moved before its maximum")


@needs("onnxruntime")
@pytest.mark.parametrize("seed", range(3))
def test_three_layers_are_within_the_stated_error_of_the_runtime(seed: int, tmp_path: Path) -> None:
    path = made.saved(tmp_path, made.three_layers(seed))
    imported = import_model(path)
    x = made.numbers(2, 2, 10, 8, seed=seed)
    exact, error = exact_and_error(imported, x.transpose(0, 2, 3, 1).astype(np.float64))
    ours, theirs = golden(imported.network, x), runtime(path, x)
    assert (np.abs(ours - exact) <= error).all()
    assert (np.abs(ours - theirs) <= 2 * error).all()
    assert error.max() < 1e-4 * np.abs(exact).max()  # so that the bound says something


@needs("onnxruntime")
@pytest.mark.parametrize("size", [(7, 5), (4, 11)])
def test_the_average_of_an_oblong_map(size: tuple[int, int], tmp_path: Path) -> None:
    nodes = [
        made.node("Conv", "x w b", "a"), made.node("GlobalAveragePool", "a", "m"),
        made.node("Flatten", "m", "f"), made.node("Gemm", "f u", "y"),
    ]  # fmt: skip
    weights = {"w": made.numbers(3, 2, 1, 1), "b": made.numbers(3), "u": made.numbers(3, 4)}
    path = made.saved(tmp_path, made.model(nodes, weights, size=("N", 2, *size)))
    imported = import_model(path)
    assert [layer.only_pools for layer in imported.network.layers] == [False, True, False]
    check_against_runtime(imported, path, 0)


@needs("onnxruntime")
@pytest.mark.parametrize("make", [made.random_model, made.random_branches, made.random_fires])
@pytest.mark.parametrize("seed", range(8))
def test_random_networks_are_within_the_stated_error_of_the_runtime(
    seed: int, make: Callable[[Random], Any], tmp_path: Path
) -> None:
    model = make(Random(f"runtime {seed}"))
    if model.graph.node[-1].op_type == "Softmax":
        del model.graph.node[-1]
        model.graph.output[0].name = model.graph.node[-1].output[0]
    path = made.saved(tmp_path, model)
    check_against_runtime(import_model(path), path, seed)


def test_a_normalisation_counts_its_epsilon(tmp_path: Path) -> None:
    """Of numbers that come out exactly: f = 3 / sqrt(3.5 + 0.5), and (2 - 5) f + 7."""
    values = {"w": 4.0, "b": 2.0, "s": 3.0, "t": 7.0, "u": 5.0, "v": 3.5}
    consts = {key: np.full((1,), each, np.float32) for key, each in values.items()}
    consts["w"] = consts["w"].reshape(1, 1, 1, 1)
    nodes = [
        made.node("Conv", "x w b", "a", "conv"),
        made.node("BatchNormalization", "a s t u v", "y", epsilon=0.5),
    ]
    network = import_model(made.saved(tmp_path, made.model(nodes, consts))).network
    kernels, biases = (to_values(each, network.fmt).item() for each in network.weights["conv"])
    assert (kernels, biases) == (6.0, 2.5)


def test_weights_behind_a_flattening_are_permuted(tmp_path: Path) -> None:
    """Each element of two maps of 2 x 3 has a weight of its own; maps come channel by channel."""
    nodes = [
        made.node("Conv", "x w", "a", "conv"),
        made.node("Flatten", "a", "b"),
        made.node("MatMul", "b v", "y", "fc"),
    ]
    identity = np.eye(2, dtype=np.float32).reshape(2, 2, 1, 1)
    weights = np.arange(12, dtype=np.float32).reshape(12, 1)  # channel, row, column
    model = made.model(nodes, {"w": identity, "v": weights}, size=(1, 2, 2, 3))
    network = import_model(made.saved(tmp_path, model)).network
    kernels, _ = network.weights["fc"]
    found = to_values(kernels.reshape(-1), network.fmt).tolist()
    assert found == [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]  # row, column, channel
    for element in range(12):
        x = np.zeros((1, 2, 2, 3), np.float32)
        x.reshape(-1)[element] = 1
        assert golden(network, x).tolist() == [[element]]


@pytest.mark.parametrize(
    ("attributes", "size", "pad"),
    [
        ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, 7, 1),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, 7, 1),
        ({"auto_pad": "SAME_UPPER"}, 6, 1),
        ({"auto_pad": "SAME_UPPER", "strides": [3, 3]}, 6, 0),
        ({"auto_pad": "VALID"}, 6, 0),
        ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, 6, (0, 0, 1, 1)),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, 6, (1, 1, 0, 0)),
        ({"auto_pad": "NOTSET", "pads": [2, 2, 2, 2]}, 6, 2),
        ({"pads": [2, 0, 1, 1]}, 6, (2, 0, 1, 1)),
    ],
)
def test_automatic_padding_is_resolved(
    attributes: dict[str, Any], size: int, pad: Padding, tmp_path: Path
) -> None:
    """ceil(size / stride) outputs: (ceil(7 / 2) - 1) * 2 + 3 - 7 = 2, one on each side."""
    nodes = [made.node("Conv", "x w", "y", "conv", **attributes)]
    model = made.model(nodes, {"w": made.numbers(1, 1, 3, 3)}, size=(1, 1, size, size))
    (layer,) = import_model(made.saved(tmp_path, model)).network.layers
    assert layer.shape.pad == pad


@pytest.mark.parametrize(
    ("attributes", "size", "pool"),
    [
        ({"pads": [1] * 4}, 112, Pool(window=3, stride=2, pad=1)),
        ({"pads": [1] * 4, "ceil_mode": 1}, 113, Pool(window=3, stride=2, pad=1)),
        ({"ceil_mode": 1}, 112, Pool(window=3, stride=2, pad=(0, 0, 1, 1))),
        ({"ceil_mode": 1}, 113, Pool(window=3, stride=2)),
        ({"auto_pad": "SAME_UPPER"}, 112, Pool(window=3, stride=2, pad=(0, 0, 1, 1))),
        ({"auto_pad": "SAME_LOWER"}, 112, Pool(window=3, stride=2, pad=(1, 1, 0, 0))),
        ({"auto_pad": "SAME_UPPER"}, 113, Pool(window=3, stride=2, pad=1)),
    ],
)
def test_pooling_that_hangs_over(
    attributes: dict[str, Any], size: int, pool: Pool, tmp_path: Path
) -> None:
    """The stems of ResNet and GoogLeNet: ceil((112 - 3) / 2) + 1 = 56 windows, the last of two."""
    windows = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [
        made.node("Conv", "x w", "a", "conv"),
        made.node("MaxPool", "a", "y", "pool", **windows, **attributes),
    ]
    model = made.model(nodes, {"w": made.numbers(1, 1, 1, 1)}, size=(1, 1, size, size))
    path = made.saved(tmp_path, model)
    (layer,) = import_model(path).network.layers
    assert layer.shape.pool == pool
    assert layer.shape.pooled_rows == (size + 1) // 2 - (pool.pad == 0)


@pytest.mark.parametrize(
    ("kind", "attributes", "pool"),
    [
        # Inception's branches, and "same" of 2 x 2.
        ("MaxPool", {"pads": [1] * 4}, Pool(window=3, stride=1, pad=1)),
        ("MaxPool", {"auto_pad": "SAME_UPPER"}, Pool(window=3, stride=1, pad=1)),
        (
            "AveragePool",
            {"pads": [1] * 4, "count_include_pad": 1},
            Pool(kind="average", window=3, stride=1, pad=1),
        ),
        (
            "MaxPool",
            {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"},
            Pool(window=2, stride=1, pad=(0, 0, 1, 1)),
        ),
        ("MaxPool", {"pads": [2, 2, 2, 2], "strides": [2, 2]}, Pool(window=3, stride=2, pad=2)),
        (
            "MaxPool",
            {"pads": [1] * 4, "strides": [2, 2], "ceil_mode": 1},
            Pool(window=3, stride=2, pad=(1, 1, 2, 2)),
        ),
    ],
)
def test_pooling_that_hangs_over_by_a_stride_or_more(
    kind: str, attributes: dict[str, Any], pool: Pool, tmp_path: Path
) -> None:
    windows = {"kernel_shape": [3, 3], "strides": [1, 1]}
    nodes = [
        made.node("Conv", "x w", "a", "conv"),
        made.node(kind, "a", "y", "pool", **(windows | attributes)),
    ]
    model = made.model(nodes, {"w": made.numbers(1, 1, 1, 1)}, size=(1, 1, 8, 8))
    (layer,) = import_model(made.saved(tmp_path, model)).network.layers
    assert layer.shape.pool == pool


def test_what_changes_nothing_is_taken(tmp_path: Path) -> None:
    """ceil_mode where windows fit, global pooling of one element, beta without a bias."""
    nodes = [
        made.node("Conv", "x w", "a", "conv"),
        made.node("Relu", "a", "b"),
        made.node("Relu", "b", "c"),
        made.node("MaxPool", "c", "d", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        made.node("Conv", "d v", "e", "other", auto_pad="VALID"),
        made.node("GlobalAveragePool", "e", "f"),
        made.node("Squeeze", "f axes", "g"),
        made.node("Gemm", "g u", "y", "fc", beta=3.0),
    ]
    consts = {"w": made.numbers(2, 1, 3, 3), "v": made.numbers(3, 2, 3, 3), "u": made.numbers(3, 4)}
    model = made.model(nodes, consts | {"axes": np.array([2, 3])})
    network = import_model(made.saved(tmp_path, model)).network
    conv, other, fc = (layer.shape for layer in network.layers)
    assert (conv.relu, conv.pooled_rows, other.pool, other.out_rows) == (True, 3, None, 1)
    assert (fc.n, fc.m) == (3, 4)


def test_images_that_are_flattened_at_once_are_permuted_too(tmp_path: Path) -> None:
    nodes = [made.node("Flatten", "x", "a"), made.node("Gemm", "a v", "y", "fc", transB=1)]
    model = made.model(nodes, {"v": made.numbers(1, 12)}, size=("N", 3, 2, 2))
    network = import_model(made.saved(tmp_path, model)).network
    x = made.numbers(1, 3, 2, 2, seed=1)
    wanted = made.numbers(1, 12).astype(np.float64) @ x.reshape(-1)
    assert golden(network, x)[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("batch", ["N", None, 1, 7])
def test_the_batch_of_a_model_does_not_matter(batch: int | str | None, tmp_path: Path) -> None:
    size, layers = made.LENET
    model = made.chain(size, layers)
    axis = model.graph.input[0].type.tensor_type.shape.dim[0]
    axis.Clear()
    if isinstance(batch, int):
        axis.dim_value = batch
    elif batch:
        axis.dim_param = batch
    assert open_network(str(made.saved(tmp_path, model))).input == (28, 28, 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["lenet5", "alexnet", "vgg16"])
def test_known_networks_load_and_plan(name: str, tmp_path: Path) -> None:
    size, layers = {"lenet5": made.LENET, "alexnet": made.ALEXNET, "vgg16": made.VGG16}[name]
    path = made.saved(tmp_path, made.chain(size, layers), f"{name}.onnx")
    network, shipped = open_network(str(path)), open_network(name)
    assert layers_of(network) == layers_of(shipped)
    assert network.name == name
    assert len(network.weights) == 0  # sizes alone
    found = plan(network, open_board("kc705"), 16)
    assert found.seconds > 0
    assert {each.work.layer.name for each in found.layers} == {x.name for x in network.layers}


@needs("onnxruntime")
@pytest.mark.parametrize(("kind", "sizes"), [
    ("cifar", [32] * 5 + [16] * 5 + [8] * 5 + [4] * 4 + [1, 1]),
    ("imagenet", [56] * 5 + [28] * 5 + [14] * 5 + [7] * 4 + [1, 1]),
])  # fmt: skip
def test_resnet_18(kind: str, sizes: list[int], tmp_path: Path) -> None:
    """He et al. 2016, table 1: eight blocks, three of them with a shortcut, and the ends."""
    path = made.saved(tmp_path, made.resnet18(kind))
    imported = import_model(path)
    network = imported.network
    assert [layer.shape.pooled_rows for layer in network.layers] == sizes
    maps = [layer.biases for layer in network.layers]
    assert maps == [4] * 5 + [6] * 5 + [8] * 5 + [10] * 5 + [network.layers[-1].biases]
    wired = {layer.name: (layer.input, layer.add) for layer in network.layers}
    additions = {name: add for name, (_, add) in wired.items() if add}
    assert len(additions) == len(set(additions.values())) == 8
    shortcuts = {name: front for name, (front, _) in wired.items() if front}
    assert list(shortcuts) == [f"conv-downsample.0{number}" for number in ("", "-2", "-3")]
    assert [layer.shape.relu for layer in network.layers].count(False) == 3 + 1
    pools = [layer.name for layer in network.layers if layer.shape.pool]
    assert pools == ["conv1"] * (kind == "imagenet") + [network.layers[-2].name]
    assert not imported.left
    check_counts(on_one_design(imported))
    check_plan(imported)
    check_against_runtime(imported, path, 0)


SIX = {"low": np.float32(0), "high": np.float32(6)}
CLIPPED: dict[str, Callable[[], Any]] = {
    "inputs": lambda: clipping("Clip", "a low high"),
    "attributes": lambda: clipping("Clip", "a", opset=9, min=0.0, max=6.0),
    "after ReLU": lambda: clipping("Relu", "a", made.node("Clip", "r low high", "s"), last="s"),
    "before ReLU": lambda: clipping("Clip", "a low high", made.node("Relu", "r", "s"), last="s"),
    "after the maximum": lambda: made.model(
        [
            made.node("Conv", "x w", "a"),
            made.node("MaxPool", "a", "m", kernel_shape=[2, 2], strides=[1, 1]),
            made.node("Clip", "m low high", "y"),
        ],
        {"w": made.numbers(3, 2, 3, 3) * 64, **SIX},
        size=("N", 2, 7, 6),
    ),
}


def clipping(
    operator: str, inputs: str, *more: Any, last: str = "r", opset: int = 13, **attributes: float
) -> Any:
    """A convolution, an activation, and maxima."""
    return made.model(
        [
            made.node("Conv", "x w", "a"),
            made.node(operator, inputs, "r", **attributes),
            *more,
            made.node("MaxPool", last, "y", kernel_shape=[2, 2], strides=[1, 1]),
        ],
        {"w": made.numbers(3, 2, 3, 3) * 64, **({} if opset < 11 else SIX)},
        size=("N", 2, 7, 6),
        opset=opset,
    )


@needs("onnxruntime")
@pytest.mark.parametrize("name", CLIPPED)
def test_a_clip_to_six_is_relu6(name: str, tmp_path: Path) -> None:
    path = made.saved(tmp_path, CLIPPED[name]())
    imported = import_model(path)
    (layer,) = imported.layers
    assert layer.table == {
        "name": "conv1", "maps": 3, "kernel": 3, "stride": 1, "pad": 0, "groups": 1,
        "activation": "relu6", "design": "auto", "pool": {"kind": "max", "window": 2, "stride": 1},
    }  # fmt: skip
    assert imported.network.layers[0].shape.relu6
    assert (runtime(path, made.numbers(2, 2, 7, 6, seed=4)) == 6).any()
    check_against_runtime(imported, path, 4)


LEAKY: dict[str, Callable[[], Any]] = {
    "attribute": lambda: clipping("LeakyRelu", "a", alpha=0.3),
    "old": lambda: clipping("LeakyRelu", "a", opset=9, alpha=0.3),
    "after the maximum": lambda: made.model(
        [
            made.node("Conv", "x w", "a"),
            made.node("MaxPool", "a", "m", kernel_shape=[2, 2], strides=[1, 1]),
            made.node("LeakyRelu", "m", "y", alpha=0.3),
        ],
        {"w": made.numbers(3, 2, 3, 3)},
        size=("N", 2, 7, 6),
    ),
}


@needs("onnxruntime")
@pytest.mark.parametrize("name", LEAKY)
def test_leaky_relu_has_its_slope(name: str, tmp_path: Path) -> None:
    path = made.saved(tmp_path, LEAKY[name]())
    imported = import_model(path)
    (layer,) = imported.layers
    assert list(layer.table.items()) == [
        ("name", "conv1"), ("activation", "leaky-relu"), ("slope", 0.3), ("maps", 3),
        ("kernel", 3), ("stride", 1), ("pad", 0), ("groups", 1), ("design", "auto"),
        ("pool", {"kind": "max", "window": 2, "stride": 1}),
    ]  # fmt: skip
    assert imported.network.layers[0].shape.slope == 0x3E99999A
    assert (runtime(path, made.numbers(2, 2, 7, 6, seed=4)) < 0).any()
    check_against_runtime(imported, path, 4)


SEQUENCES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "default": (("LeakyRelu",), {"activation": "leaky-relu", "slope": 0.01}),
    "ReLU first": (("Relu", "LeakyRelu"), {"relu": True}),
    "ReLU last": (("LeakyRelu", "Relu"), {"relu": True}),
    "ReLU6 first": (("Clip", "LeakyRelu"), {"activation": "relu6"}),
    "ReLU6 last": (("LeakyRelu", "Clip"), {"activation": "relu6"}),
    "ReLU, maxima": (("Relu", "MaxPool", "LeakyRelu"), {"relu": True}),
    "ReLU, averages": (("Relu", "AveragePool", "LeakyRelu"), {"relu": True}),
    "maxima, ReLU": (("LeakyRelu", "MaxPool", "Relu"), {"relu": True}),
}


@needs("onnxruntime")
@pytest.mark.parametrize("name", SEQUENCES)
def test_of_two_activations_one_is_enough(name: str, tmp_path: Path) -> None:
    operators, wanted = SEQUENCES[name]
    nodes, value = [made.node("Conv", "x w", "v0")], "v0"
    for place, operator in enumerate(operators, 1):
        keys = {"kernel_shape": [2, 2], "strides": [1, 1]} if "Pool" in operator else {}
        last = "y" if place == len(operators) else f"v{place}"
        inputs = f"{value} low high" if operator == "Clip" else value
        nodes.append(made.node(operator, inputs, last, **keys))
        value = last
    weights = {"w": made.numbers(3, 2, 3, 3) * 64, **SIX}
    path = made.saved(tmp_path, made.model(nodes, weights, size=("N", 2, 7, 6)))
    imported = import_model(path)
    (layer,) = imported.layers
    keys = ("relu", "activation", "slope")
    assert {key: layer.table[key] for key in keys if key in layer.table} == wanted
    check_against_runtime(imported, path, 4)


def test_a_model_with_leaky_relu_gets_its_weights_back(tmp_path: Path) -> None:
    imported = import_model(made.saved(tmp_path, LEAKY["attribute"]()))
    words = {name: (w ^ 1, b) for name, (w, b) in imported.network.weights.items()}
    path = tmp_path / "back.onnx"
    path.write_bytes(write_back(imported, words))
    back = import_model(path)
    assert [each.operator for each in back.layers[0].nodes] == ["Conv", "LeakyRelu", "MaxPool"]
    assert layers_of(back.network) == layers_of(imported.network)


def test_a_model_with_relu6_gets_its_weights_back(tmp_path: Path) -> None:
    """The Clip stays, with its limits, and the network is the same."""
    imported = import_model(made.saved(tmp_path, CLIPPED["inputs"]()))
    words = {name: (w ^ 1, b) for name, (w, b) in imported.network.weights.items()}
    path = tmp_path / "back.onnx"
    path.write_bytes(write_back(imported, words))
    back = import_model(path)
    assert [each.operator for each in back.layers[0].nodes] == ["Conv", "Clip", "MaxPool"]
    assert layers_of(back.network) == layers_of(imported.network)
    assert (back.network.weights["conv1"][0] == words["conv1"][0]).all()
