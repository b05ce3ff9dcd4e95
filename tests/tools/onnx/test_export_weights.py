"""Training that starts from a model, and ``merp export-weights``, which goes back into it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import onnx_models as made
import onnx_spellings
from marks import few
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.golden.inference import inference
from merp.models.golden.initial import parameters
from merp.models.onnx.import_model import import_model
from merp.models.onnx.write_back import write_back
from merp.tools.cli import main
from merp.tools.common.kernel_file import read_kernels
from merp.tools.common.shipped import open_network
from needed_tools import needs
from onnx_runtime import check_against_runtime
from terminal import Terminal

pytestmark = needs("onnx")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return made.saved(tmp_path, made.sized(made.three_layers()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    labels = np.arange(20) % 5
    np.savez(path, images=made.numbers(20, 10, 8, 2), labels=labels)
    return path


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as found:
        return {key: found[key] for key in found.files if key.endswith((".kernel", ".bias"))}


def trained(network: Path, data: Path, out: Path, *more: object) -> dict[str, np.ndarray]:
    words = ["train", network, "--data", data, "--batch", 4, "--steps", 2, "--save", out, *more]
    assert main([*map(str, words), "--json"]) == 0
    return arrays(out)


def test_training_starts_from_a_model_or_from_its_weights(
    model: Path, data: Path, tmp_path: Path, terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    file, weights = tmp_path / "net.toml", tmp_path / "w.npz"
    terminal.answer("import", model, "-o", file, "--weights", weights)
    direct = trained(model, data, tmp_path / "a.npz")
    given = trained(file, data, tmp_path / "b.npz", "--weights", weights)
    random = trained(file, data, tmp_path / "c.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert not np.array_equal(direct["fc.kernel"], random["fc.kernel"])
    near = np.abs(direct["fc.kernel"] - arrays(weights)["fc.kernel"]).max()
    assert 0 < near < 0.2
    assert direct.keys() == given.keys()
    # from Python, too
    import merp

    found = merp.load(file).train(data, batch=4, steps=2, weights=weights)
    kernels, _ = found.arrays["fc"]
    assert np.array_equal(kernels.astype(np.float32), direct["fc.kernel"])
    capsys.readouterr()
    words = ["train", str(file), "--data", str(data), "--weights", str(weights)]
    assert "allowed without --resume" in terminal.refusal(*words, "--resume", tmp_path / "a.npz")


def test_a_checkpoint_is_a_file_of_weights(model: Path, data: Path, tmp_path: Path) -> None:
    trained(model, data, tmp_path / "a.npz")
    network = open_network(str(model))
    read = read_kernels(tmp_path / "a.npz", network, parameters(network, 0))
    for key, numbers in arrays(tmp_path / "a.npz").items():
        layer, _, part = key.rpartition(".")
        words = read[layer][part == "bias"]
        assert np.array_equal(to_values(words, network.fmt), numbers)


@needs("onnxruntime")
@pytest.mark.parametrize("seed", few(range(40), *range(6)))
def test_parameters_go_back_into_a_model_in_another_spelling(seed: int, tmp_path: Path) -> None:
    model = made.random_plain(seed, "back")
    imported = import_model(made.saved(tmp_path, onnx_spellings.respelt(model, Random(seed))))
    words = parameters(replace(imported.network, weights={}), seed)
    new = tmp_path / "new.onnx"
    new.write_bytes(write_back(imported, words))
    again = import_model(new)
    assert [x.shape for x in again.network.layers] == [x.shape for x in imported.network.layers]
    for one, other in zip(imported.network.layers, again.network.layers, strict=True):
        if one.only_pools:
            continue
        found = again.network.weights[other.name]
        assert all(map(np.array_equal, found, words[one.name]))
    check_against_runtime(again, new, seed)


@needs("onnxruntime")
def test_trained_parameters_go_back_into_the_model(model: Path, data: Path, tmp_path: Path) -> None:
    import onnx
    import onnxruntime

    wanted = trained(model, data, tmp_path / "a.npz")
    new = tmp_path / "new.onnx"
    assert main(["export-weights", str(tmp_path / "a.npz"), str(model), "-o", str(new)]) == 0
    onnx.checker.check_model(str(new), full_check=True)
    network = open_network(str(new))
    for name, pair in network.weights.items():
        for part, words in zip(("kernel", "bias"), pair, strict=True):
            assert np.array_equal(to_values(words, network.fmt), wanted[f"{name}.{part}"])
    x = made.numbers(3, 2, 10, 8, seed=5)
    words = to_bits(x.transpose(0, 2, 3, 1), network.fmt)
    *_, last = inference(network, words, network.weights)
    session = onnxruntime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    theirs = session.run(None, {"x": x})[0]
    assert np.abs(to_values(last.y, network.fmt).reshape(3, -1) - theirs).max() < 2e-6
    # The normalisation is in the weights; names of PyTorch's tensors stay where they can.
    proto = onnx.load(str(new))
    assert "BatchNormalization" not in {node.op_type for node in proto.graph.node}
    names = {each.name for each in proto.graph.initializer}
    assert names == {
        "conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc.weight", "fc.bias"
    }  # fmt: skip


@needs("onnxruntime")
@pytest.mark.parametrize("make", [made.random_model, made.random_branches, made.random_fires])
@pytest.mark.parametrize("seed", range(6))
def test_random_models_get_other_weights_back(
    seed: int, make: Callable[[Random], Any], tmp_path: Path
) -> None:
    """Of whatever order, orientation and folding: the new model has them, and runs."""
    import onnx
    import onnxruntime

    path = made.saved(tmp_path, made.sized(make(Random(f"back {seed}"))))
    network = open_network(str(path))
    other = parameters(replace(network, weights={}), 7)
    given = tmp_path / "w.npz"
    np.savez(given, **{
        f"{name}.{part}": to_values(words, network.fmt).astype(np.float32)
        for name, pair in other.items()
        for part, words in zip(("kernel", "bias"), pair, strict=True)
    })  # fmt: skip
    new = tmp_path / "new.onnx"
    assert main(["export-weights", str(given), str(path), "-o", str(new)]) == 0
    onnx.checker.check_model(str(new), full_check=True)
    again = open_network(str(new))
    assert again.layers == network.layers
    assert set(again.weights) == {each.name for each in network.layers if not each.only_pools}
    for name, pair in again.weights.items():
        assert all(map(np.array_equal, other[name], pair))
    session = onnxruntime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    rows, columns, channels = network.input
    assert session.run(None, {"x": made.numbers(1, channels, rows, columns)})


@needs("onnxruntime")
def test_trained_parameters_go_back_into_a_resnet(tmp_path: Path) -> None:
    """Normalisations go, additions stay, and the model computes what the golden model does."""
    import onnx
    import onnxruntime

    path = made.saved(tmp_path, made.sized(made.resnet((3, 8, 8), [(4, 1), (6, 1)], classes=5)))
    data, new = tmp_path / "data.npz", tmp_path / "new.onnx"
    np.savez(data, images=made.numbers(20, 8, 8, 3), labels=np.arange(20) % 5)
    wanted = trained(path, data, tmp_path / "a.npz")
    assert main(["export-weights", str(tmp_path / "a.npz"), str(path), "-o", str(new)]) == 0
    onnx.checker.check_model(str(new), full_check=True)
    network = open_network(str(new))
    assert network.layers == open_network(str(path)).layers
    for name, pair in network.weights.items():
        for part, words in zip(("kernel", "bias"), pair, strict=True):
            assert np.array_equal(to_values(words, network.fmt), wanted[f"{name}.{part}"])
    operators = [node.op_type for node in onnx.load(str(new)).graph.node]
    assert (operators.count("Add"), operators.count("BatchNormalization")) == (2, 0)
    x = made.numbers(3, 3, 8, 8, seed=5)
    *_, last = inference(network, to_bits(x.transpose(0, 2, 3, 1), network.fmt), network.weights)
    session = onnxruntime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    theirs = session.run(None, {"x": x})[0]
    ours = to_values(last.y, network.fmt).reshape(3, -1)
    assert np.abs(ours - theirs).max() < 2e-6 * max(1, np.abs(ours).max())


def test_nothing_is_left_of_what_was_folded(tmp_path: Path, terminal: Terminal) -> None:
    """Its constants, where a model lists them as inputs too, and the sizes of values between."""
    import onnx

    model = made.sized(made.three_layers())
    for each in model.graph.initializer:
        model.graph.input.append(
            onnx.helper.make_tensor_value_info(each.name, each.data_type, each.dims)
        )
    path, given, new = made.saved(tmp_path, model), tmp_path / "w.npz", tmp_path / "new.onnx"
    np.savez(given, **{"conv1.bias": np.zeros(3, np.float32)})
    terminal.answer("export-weights", given, path, "-o", new)
    graph = onnx.load(str(new)).graph
    constants = {each.name for each in graph.initializer}
    assert {each.name for each in graph.input} == {"x", *constants} - {"conv1.bias"}
    assert not constants & {"scale", "shift", "mean", "variance"}
    values = {name for node in graph.node for name in node.output}
    assert {each.name for each in graph.value_info} <= values | constants | {"x"}
    assert "a" not in values  # between convolution and normalisation


@pytest.mark.parametrize("between", ["Dropout", "Identity"])
def test_nothing_is_left_of_what_stood_in_front_of_the_folded(
    between: str, tmp_path: Path, terminal: Terminal
) -> None:
    """The convolution gives what the normalisation gave: nobody makes what stood between."""
    import onnx

    statistics = {key: np.ones(2, np.float32) for key in ("s", "o", "m", "v")}
    nodes = [
        made.node("Conv", "x w", "a"),
        made.node(between, "a", "b"),
        made.node("BatchNormalization", "b s o m v", "y"),
    ]
    model = made.model(nodes, {"w": made.numbers(2, 1, 3, 3), **statistics})
    path = made.saved(tmp_path, made.sized(model))
    given, new = tmp_path / "w.npz", tmp_path / "new.onnx"
    np.savez(given, **{"conv1.bias": np.zeros(2, np.float32)})
    terminal.answer("export-weights", given, path, "-o", new)
    onnx.checker.check_model(str(new), full_check=True)
    assert [each.op_type for each in onnx.load(str(new)).graph.node] == ["Conv"]


@needs("onnxruntime")
def test_what_had_no_place_for_a_bias_gets_one(tmp_path: Path, terminal: Terminal) -> None:
    """Weights that two layers share, a Gemm with a beta but no bias, a MatMul, a Constant."""
    import onnx
    import onnxruntime
    from onnx import numpy_helper

    nodes = [
        made.node("Gemm", "x shared", "a", "one", beta=3.0),
        made.node("MatMul", "a shared", "b", "two"),
        made.node("Constant", "", "w", value=numpy_helper.from_array(made.numbers(4, 4), "w")),
        made.node("Gemm", "b w spread", "y", "three", transB=1),
    ]
    constants = {"shared": made.numbers(4, 4), "spread": np.ones(1, np.float32)}
    model = made.model(nodes, constants, size=("N", 4))
    path = made.saved(tmp_path, made.sized(model))
    given, new = tmp_path / "w.npz", tmp_path / "new.onnx"
    wanted = {
        f"fc-{name}.{part}": made.numbers(*size, seed=seed)
        for seed, name in enumerate(("one", "two", "three"))
        for part, size in (("kernel", (4, 4, 1, 1)), ("bias", (4,)))
    }
    np.savez(given, **wanted)
    terminal.answer("export-weights", given, path, "-o", new)
    onnx.checker.check_model(str(new), full_check=True)
    x = made.numbers(2, 4, seed=9).astype(np.float64)
    y = x
    for name in ("one", "two", "three"):
        y = y @ wanted[f"fc-{name}.kernel"][:, :, 0, 0].T.astype(np.float64) + wanted[
            f"fc-{name}.bias"
        ].astype(np.float64)
    session = onnxruntime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    theirs = session.run(None, {"x": x.astype(np.float32)})[0]
    assert np.abs(theirs - y).max() < 1e-5
    graph = onnx.load(str(new)).graph
    assert "Constant" not in {node.op_type for node in graph.node}
    assert "spread" not in {each.name for each in graph.initializer}  # of another size now


def test_some_layers_alone_are_written(model: Path, tmp_path: Path, terminal: Terminal) -> None:
    import onnx

    given, new = tmp_path / "w.npz", tmp_path / "new.onnx"
    np.savez(given, **{"conv2.bias": np.arange(4, dtype=np.float32)})
    assert terminal.answer("export-weights", given, model, "-o", new)["layers"] == ["conv2"]
    old, network = open_network(str(model)), open_network(str(new))
    assert to_values(network.weights["conv2"][1], network.fmt).tolist() == [0, 1, 2, 3]
    assert np.array_equal(network.weights["conv2"][0], old.weights["conv2"][0])
    assert all(map(np.array_equal, network.weights["conv1"], old.weights["conv1"]))
    # what is not written stays as it was, its normalisation too
    kinds = [node.op_type for node in onnx.load(str(new)).graph.node]
    assert kinds == [node.op_type for node in made.three_layers().graph.node]


def test_external_data_comes_inside(model: Path, tmp_path: Path, terminal: Terminal) -> None:
    import onnx

    folder = tmp_path / "apart"
    folder.mkdir()
    loaded = onnx.load(str(model))
    onnx.save_model(
        loaded, str(folder / "net.onnx"), save_as_external_data=True, location="data",
        size_threshold=0,
    )  # fmt: skip
    outside, inside = open_network(str(folder / "net.onnx")), open_network(str(model))
    assert outside == inside
    for name, pair in inside.weights.items():
        assert all(map(np.array_equal, outside.weights[name], pair))
    given, new = tmp_path / "w.npz", tmp_path / "new.onnx"
    np.savez(given, **{"fc.bias": np.arange(5, dtype=np.float32)})
    terminal.answer("export-weights", given, folder / "net.onnx", "-o", new)
    found = open_network(str(new))
    assert all(map(np.array_equal, found.weights["conv1"], inside.weights["conv1"]))


@pytest.mark.parametrize(
    ("key", "array", "message"),
    [
        ("fc9.kernel", np.zeros(3, np.float32), "unknown key 'fc9.kernel': allowed are conv1.kern"),
        ("fc.kernel", np.zeros((5, 9, 1, 1), np.float32), "allowed is (5, 8, 1, 1)"),
        ("fc.bias", np.zeros(5, np.complex64), "type '<c8': allowed are numbers of up to 8 bytes"),
        ("fc.bias", np.full(5, np.nan, np.float32), "fc.bias[0] = nan: allowed are numbers"),
        ("sha256", np.array("0"), "not as merp saved it, sha256 differs"),
    ],
)
def test_a_wrong_file_of_weights_gets_one_line(
    key: str, array: np.ndarray, message: str, model: Path, tmp_path: Path, terminal: Terminal,
) -> None:  # fmt: skip
    given, new = tmp_path / "w.npz", tmp_path / "new.onnx"
    np.savez(given, **{key: array})
    told = terminal.refusal("export-weights", given, model, "-o", new)
    assert message in told
    assert not new.exists()


def test_an_empty_file_of_weights_is_refused(
    model: Path, tmp_path: Path, terminal: Terminal
) -> None:
    given = tmp_path / "w.npz"
    np.savez(given)
    line = terminal.refusal("export-weights", given, model, "-o", tmp_path / "n.onnx")
    assert "no kernels and biases: allowed are those of net" in line
