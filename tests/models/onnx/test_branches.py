"""Layers of a model that branch and are added: their order, their keys, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

import onnx_models as made
from merp.models.network.network_file import read_network
from merp.models.onnx.assembly import Allowed
from merp.models.onnx.import_model import import_model
from merp.tools.cli import main
from needed_tools import needs

pytestmark = needs("onnx")

MAPS = 4
"""Of the images and of every layer but a narrow one."""

KINDS: dict[str, tuple[str, dict[str, tuple[int, ...]], dict[str, Any]]] = {
    "conv": ("Conv", {"w": (MAPS, MAPS, 3, 3)}, {"pads": [1] * 4}),
    "half": ("Conv", {"w": (MAPS, MAPS, 1, 1)}, {"strides": [2, 2]}),
    "whole": ("Conv", {"w": (MAPS, MAPS, 6, 6)}, {}),
    "narrow": ("Conv", {"w": (1, MAPS, 1, 1)}, {}),
    "pool": ("MaxPool", {}, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "mean": ("AveragePool", {}, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "join": ("Concat", {}, {"axis": 1}),
    "rows": ("Concat", {}, {"axis": 2}),
    "norm": ("BatchNormalization", dict.fromkeys("stuv", (MAPS,)), {}),
    "bias": ("Add", {"b": (MAPS, 1, 1)}, {}),
    "wide": ("Conv", {"w": (MAPS, 2 * MAPS, 1, 1)}, {}),
    "widest": ("Conv", {"w": (MAPS, 3 * MAPS, 1, 1)}, {}),
    "widest4": ("Conv", {"w": (MAPS, 4 * MAPS, 1, 1)}, {}),
    "fc": ("Gemm", {"w": (MAPS * 36, MAPS * 36)}, {}),
    "few": ("Gemm", {"w": (MAPS, MAPS)}, {}),
    "relu": ("Relu", {}, {}),
    "add": ("Add", {}, {}),
}
"""Operator, sizes of constants and attributes; other kinds are operators without either."""


def wired(*lines: str, output: str = "y") -> Any:
    """A model of images x, 6 x 6, of lines like ``y = add a b``: each node is called as its value.

    A last value may be another one than y.
    """
    nodes, constants = [], {}
    for line in lines:
        name, _, kind, *inputs = line.split()
        operator, sizes, attributes = KINDS.get(kind, (kind, {}, {}))
        given = {f"{name}.{part}": abs(made.numbers(*size)) for part, size in sizes.items()}
        constants |= given
        nodes.append(made.node(operator, " ".join((*inputs, *given)), name, name, **attributes))
    return made.model(nodes, constants, size=("N", MAPS, 6, 6), output=output)


def own(name: str) -> str:
    """What the node of a layer is called."""
    return name.partition("-")[2]


def names(layers: str | list[str]) -> str:
    """The nodes of a layer, or of several."""
    return own(layers) if isinstance(layers, str) else ",".join(map(own, layers))


def keys(folder: Path, *lines: str) -> list[str]:
    """The layers of a model in order, each with what it takes and adds where it says so."""
    layers = import_model(made.saved(folder, wired(*lines))).tables["layer"]
    found = []
    for table in layers:
        said = [f"{key} {names(table[key])}" for key in ("input", "add") if key in table]
        said += [f"{key}s" for key in ("pool",) if key in table]
        found.append(" ".join([own(table["name"]), *said]))
    return found


def test_a_block_adds_what_it_takes(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = relu a", "c = conv b", "d = relu c", "e = conv d"]
    lines += ["f = norm e", "g = add b f", "h = relu g", "y = pool h"]
    assert keys(tmp_path, *lines) == ["a", "c", "e add a pools"]
    network = import_model(tmp_path / "net.onnx").network
    first, second, last = (layer.shape for layer in network.layers)
    assert (first.relu, second.relu, last.relu) == (True, True, True)
    assert (second.pool, last.pool is not None) == (None, True)


def test_maps_that_are_joined_are_a_list(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = conv a", "c = conv a", "d = join c b", "e = relu d", "f = wide e"]
    lines += ["g = wide e", "h = join f g", "i = join h", "j = relu i", "y = wide j"]
    assert keys(tmp_path, *lines) == [
        "a", "b", "c input a", "f input c,b", "g input c,b", "y input f,g",
    ]  # fmt: skip
    layers = {own(each.name): each for each in import_model(tmp_path / "net.onnx").network.layers}
    assert all(layers[name].shape.relu for name in "bcfg"), "ReLU is a part of each layer"


def test_joined_maps_are_joined_again(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = conv a", "c = conv a", "d = conv a", "e = join b c", "f = join d e"]
    assert keys(tmp_path, *lines, "y = widest f")[-1] == "y input d,b,c"


def test_a_pooling_of_joined_maps_is_a_part_of_each_layer(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = conv a", "c = conv a", "d = join b c", "e = pool d", "y = wide e"]
    assert keys(tmp_path, *lines) == ["a", "b pools", "c input a pools", "y input b,c"]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["a = conv x", "b = pool a", "y = mean b"], ["a pools", "y pools"]),
        (
            ["a = conv x", "b = pool a", "c = half a", "d = join b c", "y = wide d"],
            ["a", "b pools", "c input a", "y input b,c"],
        ),
        (
            ["a = conv x", "b = conv a", "c = conv a", "d = join b c", "e = pool d", "f = mean d",
             "g = join e f", "y = widest4 g"],
            ["a", "b", "c input a", "e input b,c pools", "f input b,c pools", "y input e,f"],
        ),
        (
            ["a = conv x", "b = relu a", "c = Identity b", "d = pool c", "e = half b",
             "f = join d e", "y = wide f"],
            ["a", "d pools", "e input a", "y input d,e"],
        ),
        (["a = pool x", "y = conv a"], ["a pools", "y"]),
    ],
    ids=["second", "beside", "joined", "renamed", "images"],
)  # fmt: skip
def test_a_pooling_is_a_layer_of_its_own(
    lines: list[str], found: list[str], tmp_path: Path
) -> None:
    """Behind another pooling, beside another user of its input, and in front of all layers."""
    assert keys(tmp_path, *lines) == found


@pytest.mark.parametrize("operands", ["c d", "d c"])
def test_of_two_sums_the_later_one_adds(operands: str, tmp_path: Path) -> None:
    lines = ["a = conv x", "b = relu a", "c = half b", "d = half b", f"y = add {operands}"]
    assert keys(tmp_path, *lines) == ["a", "c", "d input a add c"]


def test_sums_that_are_taken_under_another_name_do_not_add(tmp_path: Path) -> None:
    lines = ["a = conv x", "h = conv a", "c = conv a", "i = Identity c", "d = conv c"]
    found = keys(tmp_path, *lines, "e = add h i", "f = conv e", "y = add d f")
    assert found == ["a", "c", "d", "h input a add c", "f add d"]


@pytest.mark.parametrize("order", [("f = conv d", "g = conv e"), ("g = conv e", "f = conv d")])
def test_of_two_sums_the_one_that_has_to_adds(order: tuple[str, str], tmp_path: Path) -> None:
    """What f takes c adds, and g what c makes: g stands behind f, and so adds, in either order."""
    lines = ["a = conv x", "c = conv a", "d = conv a", "e = add c d", *order, "y = add f g"]
    assert keys(tmp_path, *lines) == ["a", "d", "f", "c input a add d", "g add f"]


def test_who_adds_stands_behind_all_that_take(tmp_path: Path) -> None:
    """Layer d adds what e takes, which the model has behind it."""
    lines = ["a = conv x", "b = relu a", "c = conv b", "d = conv c", "g = add d b"]
    lines += ["h = relu g", "e = conv b", "i = conv h", "y = add e i"]
    assert keys(tmp_path, *lines) == ["a", "c", "e input a", "d input c add a", "i add e"]


def test_a_shortcut_that_comes_first_adds_last(tmp_path: Path) -> None:
    """Of s and the output behind it, ReLU is behind the latter: only s can add."""
    lines = ["a = conv x", "s = conv a", "b = conv a", "c = relu b", "d = add s c"]
    found = keys(tmp_path, *lines, "e = conv d", "f = conv c", "y = add e f")
    assert found == ["a", "b", "f", "s input a add b", "e add f"]


def test_a_layer_may_add_what_it_takes(tmp_path: Path) -> None:
    assert keys(tmp_path, "a = conv x", "b = conv a", "y = add a b") == ["a", "b add a"]


def test_full_connections_are_added(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = Flatten a", "c = fc b", "d = relu c", "e = fc d", "f = add e d"]
    layers = import_model(made.saved(tmp_path, wired(*lines, "y = relu f"))).tables["layer"]
    assert [table.get("add") for table in layers] == [None, None, "fc-c"]


def test_maps_are_added_in_a_row(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = relu a", "c = conv b", "d = Flatten c", "e = Flatten b"]
    assert keys(tmp_path, *lines, "f = add d e", "y = fc f") == ["a", "c add a", "y"]
    *_, last = import_model(tmp_path / "net.onnx").layers
    assert last.flattened == (6, 6, MAPS)  # its weights are permuted


def test_names_of_the_same_value_are_one(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = relu a", "c = Identity b", "d = Dropout b", "e = conv d"]
    assert keys(tmp_path, *lines, "y = add e c") == ["a", "e add a"]


def test_the_file_says_what_the_model_does(tmp_path: Path) -> None:
    lines = ["a = conv x", "b = relu a", "c = half b", "d = half b", "y = add c d"]
    path, file = made.saved(tmp_path, wired(*lines)), tmp_path / "net.toml"
    assert main(["import", str(path), "-o", str(file)]) == 0
    text = file.read_text()
    assert text.count("input = ") == 1 + 1  # the images' size, and the shortcut's
    assert '\nname = "conv-d"\ninput = "conv-a"\n' in text
    assert text.count('add = "conv-c"\n') == 1
    assert read_network(file) == import_model(path).network


# -- what is not taken ----------------------------------------------------------------------------

BLOCK = ("a = conv x", "b = relu a", "c = conv b")
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "a map and itself": (
        (*BLOCK, "y = add c c"),
        "'y' (Add): adds 'c' and 'c', of the same layer conv-c: allowed are two layers",
    ),
    "a map before ReLU and behind it": (
        (*BLOCK, "d = relu c", "y = add c d"),
        "'y' (Add): adds 'c' and 'd', of the same layer conv-c: allowed are two layers",
    ),
    "the images": (
        ("a = conv x", "y = add a x"),
        "'y' (Add): adds the images: allowed are outputs of layers; images have no delta",
    ),
    "the images twice": (
        ("b = add x x", "y = conv b"),
        "'b' (Add): adds the images: allowed are outputs of layers",
    ),
    "two layers that take the images": (
        ("a = conv x", "b = conv x", "y = add a b"),
        "'b' (Conv): uses the images, as node 'a' (Conv) does: allowed is one such layer",
    ),
    "two outputs behind ReLU": (
        (*BLOCK, "d = relu c", "y = add b d"),
        "'y' (Add): neither 'b' nor 'd' are plain sums: must be unused elsewhere, directly after",
    ),
    "an output behind pooling": (
        (*BLOCK, "d = pool c", "e = half b", "f = relu e", "y = add f d"),
        "'y' (Add): neither 'f' nor 'd' are plain sums",
    ),
    "a second addition to the same sums": (
        ("a = conv x", "b = conv a", "c = relu b", "d = conv c", "e = add d c", "y = add e a"),
        "'y' (Add): neither 'e' nor 'a' are plain sums: must be unused elsewhere, directly after a "
        "convolution or full connection, before addition, ReLU or pooling",
    ),
    "sums that something else takes": (
        (*BLOCK, "d = conv c", "e = relu d", "f = add c b", "y = add f e"),
        "'f' (Add): neither 'c' nor 'b' are plain sums",
    ),
    "an output that is added twice": (
        (*BLOCK, "d = add c b", "e = conv d", "y = add e b"),
        "'y' (Add): adds the output of conv-a, as node 'd' (Add) does: allowed is one addition",
    ),
    "maps that are broadcast": (
        (*BLOCK, "d = narrow b", "y = add c d"),
        "'y' (Add): adds 'c' of 6 x 6 x 4 and 'd' of 6 x 6 x 1: must be of the same size",
    ),
    "maps of another size": (
        (*BLOCK, "d = half b", "y = add d c"),
        "'y' (Add): adds 'd' of 3 x 3 x 4 and 'c' of 6 x 6 x 4: must be of the same size",
    ),
    "features and maps": (
        ("a = conv x", "b = Flatten a", "c = fc b", "y = add c a"),
        "'y' (Add): adds 'c' of 144 features and 'a' of 6 x 6 x 4: must be of the same size",
    ),
    "features of another order": (
        ("a = conv x", "b = Flatten a", "c = fc b", "y = add c b"),
        "'y' (Add): adds 'c' of 144 features and 'b' of 6 x 6 x 4 in a row: must be of",
    ),
    "features and maps of one element": (
        ("a = whole x", "b = Flatten a", "c = few b", "y = add c a"),
        "'y' (Add): adds 'c' of 4 features and 'a' of 1 x 1 x 4: must be of the same size",
    ),
    "three operands": (
        (*BLOCK, "y = add c b a"),
        "'y' (Add): 3 inputs: allowed are at most 2",
    ),
    "one operand": ((*BLOCK, "y = add c"), "'y' (Add): an input is missing: allowed are two"),
    "a bias behind the addition": (
        (*BLOCK, "d = add c b", "y = bias d"),
        "'y' (Add): must follow its convolution or full connection directly",
    ),
    "a normalisation behind the addition": (
        (*BLOCK, "d = add c b", "y = norm d"),
        "'y' (BatchNormalization): must follow its convolution or full connection directly",
    ),
    "sums with ReLU and without": (
        ("a = conv x", "b = relu a", "c = conv b", "y = add c a"),
        "'y' (Add): uses the same value as node 'b' (Relu): allowed is the output of conv-a",
    ),
    "ReLU of what a layer takes without": (
        ("a = conv x", "c = conv a", "b = relu a", "y = add c b"),
        "'b' (Relu): uses the same value as node 'c' (Conv): allowed is the output of conv-",
    ),
    "a branch that never joins": (
        (*BLOCK, "d = conv b", "y = relu d"),
        "'c' (Conv): 'c' is unused: must be used, or be output 'y'",
    ),
    "maps that are joined and used": (
        (*BLOCK, "d = conv b", "e = join c d", "f = conv c", "y = add f e"),
        "'e' (Concat): joins 'c', which node 'f' (Conv) uses, too: must be its only use: "
        "elsewhere it needs a block that copies maps",
    ),
    "maps that were used and are joined": (
        (*BLOCK, "d = conv c", "e = relu d", "y = join c e"),
        "'y' (Concat): joins 'c', which node 'd' (Conv) uses, too: must be its only use",
    ),
    "maps that are joined to themselves": (
        (*BLOCK, "y = join c c"),
        "'y' (Concat): joins the output of conv-c to itself: must be different maps",
    ),
    "maps that are joined to the images": (
        ("a = conv x", "y = join a x"),
        "'y' (Concat): joins the images: allowed are outputs of layers",
    ),
    "maps that are joined and used under another name": (
        (*BLOCK, "d = conv b", "e = Identity c", "f = join d c", "y = conv e"),
        "'f' (Concat): joins 'c', which node 'y' (Conv) uses, too: must be its only use",
    ),
    "rows that are joined": (
        (*BLOCK, "d = conv b", "y = rows c d"),
        "'y' (Concat): axis = 2: must be 1, that of the maps",
    ),
    "maps of different sizes": (
        (*BLOCK, "d = half b", "y = join c d"),
        "'y' (Concat): joins 'c' and 'd' of different sizes: must have equal rows and columns",
    ),
    "flattened maps": (
        (*BLOCK, "d = conv b", "e = Flatten c", "f = Flatten d", "y = join e f"),
        "'y' (Concat): joins flattened maps: must join them before Flatten",
    ),
    "a normalisation of joined maps": (
        (*BLOCK, "d = conv b", "e = join c d", "y = Mul e e"),
        "'y' (Mul): one input: must be a constant",
    ),
    "joined maps that are added": (
        (*BLOCK, "d = conv b", "e = join c d", "f = wide e", "y = add f e"),
        "'y' (Add): adds conv-c+conv-d, maps of several layers: must be the output of one layer",
    ),
    "a sum": (
        (*BLOCK, "d = conv b", "y = Sum c b d"),
        "'y' (Sum): 3 inputs: allowed are two, several sums in a row",
    ),
    "a product of two maps": (
        (*BLOCK, "y = Mul c b"),
        "'y' (Mul): one input: must be a constant, that of a normalisation",
    ),
    "ReLU of what is only added": (
        (*BLOCK, "d = conv b", "e = relu d", "y = add c e"),
        "'y' (Add): adds the output of conv-d, which nothing else uses: its ReLU and pooling must",
    ),
    "an addition in front of one that takes": (
        ("a = conv x", "b = conv a", "c = add b a", "d = relu c", "e = conv a", "f = add e d",
         "g = conv d", "h = conv f", "y = add g h"),
        "'c' (Add): adds the output of conv-a, which node 'e' (Conv) uses, too: must not follow "
        "conv-b, the layer that adds it",
    ),
    "something behind the loss": (
        ("a = conv x", "b = Flatten a", "c = fc b", "d = Softmax c", "e = fc c", "y = add e d"),
        "'y' (Add): follows node 'd' (Softmax): allowed is no node after it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_taken_gets_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, message = REFUSED[case]
    path = made.saved(tmp_path, wired(*lines))
    assert main(["import", str(path), "-o", str(tmp_path / "net.toml")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("merp: net.onnx: node ")
    assert message in told.err
    assert [each.name for each in tmp_path.iterdir()] == ["net.onnx"]


@pytest.mark.parametrize(
    ("lines", "kept", "left"),
    [
        ((*BLOCK, "d = add c b", "y = Mul d d"), ["a", "c add a"], "y"),
        # the block's addition is not in it, so that both its branches cannot be
        ((*BLOCK, "d = conv b", "e = Mul d d", "y = add c e"), ["a", "c"], "d e y"),
        ((*BLOCK, "d = conv b", "e = join c d", "y = Mul e e"), ["a", "c"], "d e y"),
        # s stands in front of b, which it adds, and of which nothing is left
        (
            (
                "a = conv x",
                "s = conv a",
                "b = conv a",
                "c = relu b",
                "d = add s c",
                "f = conv c",
                "y = Mul d f",
            ),
            ["a"],
            "s b c d f y",
        ),
        ((*BLOCK, "d = conv b", "e = conv b", "f = add e d", "y = conv x"), ["a", "c"], "d e f y"),
    ],
)
def test_a_partial_import_keeps_a_network(
    lines: tuple[str, ...], kept: list[str], left: str, tmp_path: Path
) -> None:
    found = import_model(made.saved(tmp_path, wired(*lines)), Allowed(partial=True))
    layers = [
        own(table["name"]) + (f" add {own(table['add'])}" if "add" in table else "")
        for table in found.tables["layer"]
    ]
    assert layers == kept
    assert [node.name for node in found.left] == left.split()
    assert found.reason
