"""Models that cannot be taken: each gets one line that names node, operator, attribute, and what
is allowed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnx_models as made
from merp.tools.cli import main
from needed_tools import needs
from spoilt_models import (
    Model,
    after_pool,
    behind_softmax,
    bias_behind_flatten,
    changed,
    circle,
    conv,
    external,
    gemm,
    normalised,
    not_finite,
    of_size,
    of_type,
    one,
    reshaped,
    statistics,
    tensor,
    two_ways,
)

pytestmark = needs("onnx")

BAD = "net.onnx: node 'bad' "


def behind_half(last: Any) -> Model:
    """A node ``last`` of the mean h over the rows of a convolution."""
    nodes = [made.node("Conv", "x c", "a"), made.node("ReduceMean", "a", "h", "half", axes=[2])]
    return made.model([*nodes, last], {"c": made.numbers(2, 1, 1, 1)})


CASES: dict[str, tuple[Callable[[], Model], str]] = {
    # convolutions
    "a side padded as far as the kernel": (
        lambda: conv(pads=[0, 0, 3, 1]),
        f"{BAD}(Conv): layer conv-bad: pad = [0, 0, 3, 1]: must be",
    ),
    "padding as large as the kernel": (lambda: conv(pads=[3, 3, 3, 3]), "pad = 3: must be"),
    "negative padding": (lambda: conv(pads=[-1, -1, -1, -1]), "pads = [-1, -1, -1, -1]: must be"),
    "unknown auto_pad": (lambda: conv(auto_pad="SAME"), "auto_pad = 'SAME': must be NOTSET, VALID"),
    "dilation": (
        lambda: conv(dilations=[2, 2]),
        f"{BAD}(Conv): dilations = [2, 2]: must be [1, 1]",
    ),
    "oblong kernel": (
        lambda: conv((2, 1, 3, 5)),
        "kernel_shape = [3, 5]: must be the same whole number",
    ),
    "one dimension": (
        lambda: conv((2, 1, 3)),
        "weights' size = (2, 1, 3): must be (maps, 1, k, k)",
    ),
    "oblong stride": (lambda: conv(strides=[1, 2]), "strides = [1, 2]: must be the same"),
    "stride 0": (lambda: conv(strides=[0, 0]), "strides = [0, 0]: must be the same whole number"),
    "kernel larger than the map": (
        lambda: conv((2, 1, 9, 9)),
        "kernel = 9: must be no larger than the padded input map (8 x 8)",
    ),
    "another kernel_shape": (
        lambda: conv(kernel_shape=[5, 5]),
        "kernel_shape = [5, 5]: must be [3, 3], that of the wei",
    ),
    "groups that do not divide": (lambda: conv(group=2), "must be (maps, channels/group, k, k)"),
    "groups that do not divide the maps": (
        lambda: made.model(
            [made.node("Conv", "x w", "y", "bad", group=2)],
            {"w": made.numbers(3, 1, 1, 1)},
            size=("N", 2, 4, 4),
        ),
        "groups = 2: must be a divisor of the 3 maps",
    ),
    "no groups": (lambda: conv(group=0), "weights' size = (2, 1, 3, 3): must be"),
    "too large for a design": (
        lambda: made.model(
            [made.node("Conv", "x w", "y", "bad")],
            {"w": made.numbers(2, 1, 13, 13)},
            size=("N", 1, 20, 20),
        ),
        f"{BAD}(Conv): no design: k must be a whole number from 1 to 11, not 13",
    ),
    "a bias of another size": (
        lambda: conv(bias=made.numbers(3)),
        "bias' size = (3,): must be (2,)",
    ),
    "an unknown attribute": (
        lambda: conv(colour=1),
        "attribute 'colour' is not known: allowed are",
    ),
    "an attribute of another type": (lambda: conv(strides=1.5), "strides is of another type: must"),
    "four strides": (
        lambda: conv(strides=[1] * 4),
        "strides = [1, 1, 1, 1]: must be 2 whole number",
    ),
    "weights that are computed": (
        lambda: made.model(
            [made.node("Einsum", "v", "w", "turn"), made.node("Conv", "x w", "y", "bad")],
            {"v": made.numbers(2, 1, 3, 3)},
        ),
        "input 2 'w' is computed: must be an initializer or a constant",
    ),
    "no weights": (lambda: made.model([made.node("Conv", "x", "y", "bad")]), "input 2 is missing"),
    "images too large": (lambda: of_size("N", 1, 5000, 8), "rows = 5000: must be a whole number"),
    # full connections
    "weights of another size": (
        lambda: gemm(made.numbers(5, 3)),
        f"{BAD}(Gemm): weights' size = (5, 3): must be (4, outputs)",
    ),
    "weights the other way": (
        lambda: gemm(made.numbers(4, 3), transB=1),
        "weights' size = (4, 3): must be (outputs, 4)",
    ),
    "transA": (lambda: gemm(made.numbers(4, 3), transA=1), f"{BAD}(Gemm): transA = 1: must be 0"),
    "alpha": (lambda: gemm(made.numbers(4, 3), alpha=0.5), f"{BAD}(Gemm): alpha = 0.5: must be 1"),
    "beta": (lambda: gemm(made.numbers(4, 3), made.numbers(3), beta=2.0), "beta = 2.0: must be 1"),
    "maps that are not flattened": (
        lambda: one("MatMul", "x w", consts={"w": made.numbers(8, 3)}),
        f"{BAD}(MatMul): takes maps with rows and columns: must follow a Flatten",
    ),
    "too many outputs": (
        lambda: made.model(
            [made.node("Gemm", "x w", "y", "bad")], size=("N", 4), sizes_only={"w": (4, 70_000)}
        ),
        "maps = 70000: must be a whole number from 1 to 65536",
    ),
    # behind layers
    "twice the same": (
        lambda: one("Add", "x x"),
        f"{BAD}(Add): adds 'a' and 'a', of the same layer conv-first: allowed are two layers",
    ),
    "two ways out of the same sums": (
        lambda: two_ways("Concat"),
        "node 'right' (MaxPool): uses the same value as node 'left' (Relu): allowed is the",
    ),
    "two ends": (lambda: two_ways(""), "node 'left' (Relu): 'b' is unused: must be used, or"),
    "a constant for each column": (
        lambda: one("Add", "x b", consts={"b": made.numbers(8)}),
        f"{BAD}(Add): constant's size = (8,): must be (2, 1, 1), a number for each map",
    ),
    "a bias behind ReLU": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("Relu", "a", "b"),
                made.node("Add", "b d", "y", "bad"),
            ],
            {"c": made.numbers(2, 1, 1, 1), "d": made.numbers(2, 1, 1)},
        ),
        f"{BAD}(Add): must follow its convolution or full connection directly",
    ),
    "normalisation in training": (
        lambda: normalised(training_mode=1),
        f"{BAD}(BatchNormalization): training_mode = 1: must be 0",
    ),
    "normalisation that gives statistics": (
        statistics,
        f"{BAD}(BatchNormalization): outputs statistics: normalisation in training is not",
    ),
    "a bias behind a flattening": (
        bias_behind_flatten,
        f"{BAD}(Add): must follow its convolution or full connection directly",
    ),
    "normalisation of other maps": (lambda: normalised(3), "size of 's' = (3,): must be (2,)"),
    "a variance below 0": (
        lambda: normalised(variance=-1.0),
        "weights, including the folded nodes",
    ),
    "padded maximum": (
        lambda: one("MaxPool", kernel_shape=[3, 3], pads=[1, 3, 1, 1]),
        f"{BAD}(MaxPool): pads = [1, 3, 1, 1]: must be from 0 to 2, below the window",
    ),
    "padding that reaches a window": (
        lambda: one("MaxPool", kernel_shape=[2, 2], strides=[3, 3], pads=[0, 2, 0, 0]),
        f"{BAD}(MaxPool): pads = [0, 2, 0, 0]: must be from 0 to 1, below the window",
    ),
    "padding that an average leaves out": (
        lambda: one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        f"{BAD}(AveragePool): count_include_pad = 0: must be 1 with padding",
    ),
    "ceil_mode of averages": (
        lambda: one("AveragePool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        f"{BAD}(AveragePool): ceil_mode = 1: windows of 3 every 2 on 8 x 8 are partial",
    ),
    "a window larger than the map": (
        lambda: one("MaxPool", kernel_shape=[9, 9]),
        "window = 9: must be no larger than the convolut",
    ),
    "oblong window": (
        lambda: one("AveragePool", kernel_shape=[1, 2]),
        "kernel_shape = [1, 2]: must",
    ),
    "pooling without a window": (
        lambda: one("MaxPool"),
        f"{BAD}(MaxPool): kernel_shape is missing",
    ),
    "overlap that no design has": (
        lambda: one("MaxPool", kernel_shape=[5, 5]),
        "no design: pool_overlap must be a whole number",
    ),
    "leaky ReLU behind an average": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("AveragePool", "a", "d", kernel_shape=[2, 2], strides=[2, 2]),
                made.node("LeakyRelu", "d", "y", "bad"),
            ],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(LeakyRelu): follows average pooling: ReLU must precede it",
    ),
    "ReLU behind an average of leaky ReLU": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("LeakyRelu", "a", "b"),
                made.node("AveragePool", "b", "d", kernel_shape=[2, 2], strides=[2, 2]),
                made.node("Relu", "d", "y", "bad"),
            ],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(Relu): follows average pooling: ReLU must precede it",
    ),
    "leaky ReLU twice": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("LeakyRelu", "a", "b"),
                made.node("LeakyRelu", "b", "y", "bad"),
            ],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(LeakyRelu): follows another LeakyRelu: allowed is one",
    ),
    "a slope that is none": (
        lambda: one("LeakyRelu", alpha=1.0),
        f"{BAD}(LeakyRelu): alpha = 1.0: must be above 0 and below 1",
    ),
    "a slope below 0": (
        lambda: one("LeakyRelu", alpha=-0.5),
        f"{BAD}(LeakyRelu): alpha = -0.5: must be above 0 and below 1",
    ),
    "a slope for each map": (
        lambda: one("PRelu"),
        f"{BAD}(PRelu): is not supported (the activations are ReLU, ReLU6 and LeakyRelu)",
    ),
    "ReLU6 behind an average of ReLU": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("Relu", "a", "b"),
                made.node("AveragePool", "b", "d", kernel_shape=[2, 2], strides=[2, 2]),
                made.node("Clip", "d low high", "y", "bad"),
            ],
            {"c": made.numbers(2, 1, 1, 1), "low": np.float32(0), "high": np.float32(6)},
        ),
        f"{BAD}(Clip): follows average pooling: ReLU must precede it",
    ),
    "ReLU behind an average": (
        lambda: after_pool("AveragePool", "Relu"),
        f"{BAD}(Relu): follows average pooling: ReLU must precede it",
    ),
    "global pooling of a large oblong": (
        lambda: made.model(
            [made.node("Conv", "x c", "a"), made.node("GlobalAveragePool", "a", "y", "bad")],
            {"c": made.numbers(2, 1, 1, 1)},
            size=("N", 1, 4, 12),
        ),
        f"{BAD}(GlobalAveragePool): maps of 4 x 12: must be square, or at most 11 x 11",
    ),
    "a mean over one axis": (
        lambda: one("ReduceMean", axes=[2]),
        f"{BAD}(ReduceMean): is the last node: must precede a mean over the other axis",
    ),
    "ReLU of a mean over one axis": (
        lambda: behind_half(made.node("Relu", "h", "y", "bad")),
        f"{BAD}(Relu): follows node 'half' (ReduceMean), a mean over one axis: must be a mean over",
    ),
    "a mean over the same axis twice": (
        lambda: behind_half(made.node("ReduceMean", "h", "y", "bad", axes=[2])),
        f"{BAD}(ReduceMean): axes = [2]: must be [3], rows and columns, with equal keepdims",
    ),
    "a mean that keeps the other axis": (
        lambda: behind_half(made.node("ReduceMean", "h", "y", "bad", axes=[3], keepdims=0)),
        f"{BAD}(ReduceMean): axes = [3]: must be [3], rows and columns, with equal keepdims",
    ),
    "global pooling beyond a design": (
        lambda: made.model(
            [made.node("Conv", "x c", "a"), made.node("GlobalAveragePool", "a", "y", "bad")],
            {"c": made.numbers(2, 1, 1, 1)},
            size=("N", 1, 20, 20),
        ),
        "no design: max_stride must be a whole number from 1 to 16, not 20",
    ),
    "ReLU without a layer": (
        lambda: made.model([made.node("Relu", "x", "y", "bad")]),
        "must follow a convolution or a full",
    ),
    "a convolution behind a flattening": (
        lambda: made.model(
            [made.node("Flatten", "x", "a"), made.node("Conv", "a c", "y", "bad")],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(Conv): takes features without rows and columns: must follow maps",
    ),
    "flattened from the images on": (lambda: one("Flatten", axis=0), "axis = 0: must be 1"),
    "a shape that is no flattening": (
        lambda: reshaped(-1, 64),
        f"{BAD}(Reshape): shape = [-1, 64]: must be [0, -1] or [-1, 128]",
    ),
    "a batch that is not the model's": (
        lambda: reshaped(3, 128),
        "shape = [3, 128]: must be [0, -1]",
    ),
    "no images at all": (
        lambda: reshaped(0, 128, allowzero=1),
        "shape = [0, 128]: must be [0, -1]",
    ),
    "a guess of both": (lambda: reshaped(-1, -1), "shape = [-1, -1]: must be [0, -1]"),
    "dropout in training": (
        lambda: one("Dropout", "x r t", consts={"r": np.float32(0.5), "t": np.array(True)}),
        f"{BAD}(Dropout): training_mode: must be false",
    ),
    "something behind the loss": (
        behind_softmax,
        f"{BAD}(Relu): follows node 'loss' (Softmax): allowed is no node after it",
    ),
    "Softmax over rows": (lambda: one("Softmax"), f"{BAD}(Softmax): axis = -1: must be 1"),
    "an activation": (
        lambda: one("Sigmoid"),
        f"{BAD}(Sigmoid): is not supported (the activations are ReLU, ReLU6 and LeakyRelu): allow",
    ),
    "a transformer": (
        lambda: one("LayerNormalization"),
        f"{BAD}(LayerNormalization): is not suppor",
    ),
    "an operator of somebody else": (
        lambda: one("Conv", "x c", domain="com.other"),
        f"{BAD}(com.other.Conv): is not supported",
    ),
    "ReLU to 5": (
        lambda: one("Clip", "x o s", consts={"o": np.float32(0), "s": np.float32(5)}),
        f"{BAD}(Clip): range = [0.0, 5.0]: must be [0, inf], which is ReLU, or [0, 6], which is",
    ),
    "a hard hyperbolic tangent": (
        lambda: one("Clip", "x o s", consts={"o": np.float32(-6), "s": np.float32(6)}),
        f"{BAD}(Clip): range = [-6.0, 6.0]: must be [0, inf], which is ReLU, or [0, 6], which is",
    ),
    "a limit that is no number": (
        lambda: one("Clip", "x o s", consts={"o": np.float32(0), "s": np.float32("nan")}),
        f"{BAD}(Clip): range = [0.0, nan]: must be [0, inf], which is ReLU, or [0, 6], which is",
    ),
    "a channel shuffle": (
        lambda: one("Reshape", "x s", consts={"s": np.array([0, 2, 1, 8, 8])}),
        f"{BAD}(Reshape): shape = [0, 2, 1, 8, 8]: splits the maps into groups: a channel shuffle",
    ),
    "averages of everything": (
        lambda: one("ReduceMean"),
        "(ReduceMean): axes = []: must be [2, 3]",
    ),
    "an average of transposed maps": (
        lambda: made.model(
            [
                made.node("Conv", "x c", "a"),
                made.node("Transpose", "a", "b", perm=[0, 2, 3, 1]),
                made.node("MaxPool", "b", "y", "bad", kernel_shape=[2, 2]),
            ],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(MaxPool): takes transposed maps: must follow a Transpose to channels first",
    ),
    "a transposition that is none": (
        lambda: one("Transpose", perm=[0, 1, 1, 2]),
        f"{BAD}(Transpose): perm = [0, 1, 1, 2]: must be a permutation of 4 axes",
    ),
    "Pad of the channels": (
        lambda: one("Pad", "x p", consts={"p": np.array([0, 1, 0, 0, 0, 0, 0, 0])}),
        "must be whole numbers from 0, of rows and columns alone",
    ),
    "Pad of copies": (
        lambda: one("Pad", "x p", consts={"p": np.zeros(8, np.int64)}, mode="edge"),
        f"{BAD}(Pad): mode = 'edge': must be constant",
    ),
    "Pad of nothing that follows": (
        lambda: one("Pad", "x p", consts={"p": np.array([0, 0, 1, 1, 0, 0, 1, 1])}),
        f"{BAD}(Pad): is the last node: must precede a convolution or pooling",
    ),
    "another type": (lambda: one("Cast", to=11), f"{BAD}(Cast): to = 'float64': must be float32"),
    "a constant in front": (
        lambda: one("Sub", "o x", consts={"o": np.float32(1)}),
        f"{BAD}(Sub): the second input: must be a constant, that of a normalisation",
    ),
    # graphs
    "a circle": (circle, f"{BAD}(Relu): input 'b' is not computed by an earlier node"),
    "a node that nothing needs": (
        lambda: made.model(
            [made.node("Conv", "x c", "y"), made.node("Einsum", "y", "z", "bad")],
            {"c": made.numbers(2, 1, 1, 1)},
        ),
        f"{BAD}(Einsum): is not supported: allowed are Conv",
    ),
    "an empty graph": (lambda: made.model([]), "no nodes: allowed is an ONNX model of a network"),
    "no layers": (
        lambda: made.model([made.node("Identity", "x", "y")]),
        "net.onnx: no layers: allowed are conv",
    ),
    "two inputs": (
        lambda: made.model(
            [made.node("Conv", "x c", "y"), made.node("Relu", "z", "q")],
            {"c": made.numbers(2, 1, 1, 1)},
            sizes_only={"z": (1, 2)},
        ),
        "inputs 'x', 'z': allowed is one, of images",
    ),
    "no output": (
        lambda: changed(lambda m: m.graph.ClearField("output")),
        "outputs none: allowed is",
    ),
    "an output in the middle": (
        lambda: changed(lambda m: setattr(m.graph.output[0], "name", "d")),
        "node '/fc/Gemm' (Gemm): 'y' is unused: must be used, or be output 'd'",
    ),
    "an output of nothing": (
        lambda: changed(lambda m: setattr(m.graph.output[0], "name", "z")),
        "'y' is unused",
    ),
    "a value made twice": (
        lambda: changed(lambda m: m.graph.node[2].output.__setitem__(0, "a")),
        "output 'a' is computed twice",
    ),
    "a dynamic size": (
        lambda: of_size("N", 1, "H", "W"),
        "input 'x': size ('N', 1, 'H', 'W'): all but the images mu",
    ),
    "a size of nothing": (
        lambda: of_size("N", 1, 0, 8),
        "all but the images must be numbers from 1",
    ),
    "no images": (lambda: of_size(0, 1, 8, 8), "0 images: must be 1 or more, or left open"),
    "volumes": (lambda: of_size("N", 1, 4, 8, 8), "must be (images, channels, rows, columns), or"),
    "an old operator set": (
        lambda: changed(lambda m: setattr(m.opset_import[0], "version", 6)),
        "operator set '6': must be one from 7 to ",
    ),
    "an operator set of the future": (
        lambda: changed(lambda m: setattr(m.opset_import[0], "version", 9999)),
        "operator set '9999': must be one from 7",
    ),
    "no operator set": (
        lambda: changed(lambda m: m.ClearField("opset_import")),
        "operator set 'none': must be one",
    ),
    # numbers
    "binary64": (lambda: of_type(np.float64, 11), "type of its elements: must be float32, float16"),
    "weights of another type": (
        lambda: of_type(np.float64, 1),
        f"{BAD}(Conv): 'w' is of type float64: must be float32",
    ),
    "an infinite weight": (
        lambda: not_finite(np.inf),
        f"{BAD}(Conv): weights have inf: must be fin",
    ),
    "a weight that is no number": (lambda: not_finite(np.nan), "weights have nan: must be finite"),
    "too little data": (
        lambda: tensor(raw_data=b"1234"),
        "tensor 'conv1.weight': 1 elements: size (3, 2, 3, 3) needs",
    ),
    "part of a number": (lambda: tensor(raw_data=b"123"), "tensor 'conv1.weight': 0.75 elements"),
    "no data": (
        lambda: tensor(raw_data=b""),
        "tensor 'conv1.weight': 0 elements: size (3, 2, 3, 3)",
    ),
    "a size beyond memory": (
        lambda: tensor(dims=[1 << 40, 1 << 20]),
        "needs 1,152,921,504,606,846,9",
    ),
    "a size below 0": (
        lambda: tensor(dims=[-1, 54]),
        "size (-1, 54): must be at most 8 numbers from 0",
    ),
    "data twice": (
        lambda: tensor(float_data=[0.0] * 54),
        "tensor 'conv1.weight': 54 elements: size",
    ),
    "external data that is missing": (
        lambda: external(location="gone.bin"),
        "external data 'gone.bin': is missing: allowed is a",
    ),
    "external data elsewhere": (
        lambda: external(location="../other.bin"),
        "'../other.bin': allowed is a file in the folder of",
    ),
    "external data anywhere": (
        lambda: external(location="/etc/hostname"),
        "'/etc/hostname': allowed is a file in the folder",
    ),
    "external data nowhere": (
        lambda: external(),
        "external data '': allowed is a file in the folder",
    ),
    "external data of a name that is none": (
        lambda: external(location="a\0b"),
        "external data 'a\\x00b': allowed is a file in the folder",
    ),
    "external data that is too short": (
        lambda: external(location="net.onnx", offset="1000000"),
        "external data 'net.onnx': 216 bytes from 1,000,000 of ",
    ),
    "external data at no place": (
        lambda: external(location="net.onnx", offset="-4"),
        "offset and length: must be whole numbers",
    ),
}


@pytest.mark.sample(33)
@pytest.mark.parametrize("case", CASES)
def test_a_model_that_cannot_be_taken_gets_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, message = CASES[case]
    path = made.saved(tmp_path, make())
    output = tmp_path / "net.toml"
    words = ["import", str(path), "-o", str(output), "--weights", str(tmp_path / "w.npz")]
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert message in told.err
    assert told.err.startswith("merp: net.onnx: ")
    assert sorted(os.listdir(tmp_path)) == ["net.onnx"]
