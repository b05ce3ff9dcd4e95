"""``merp import``, and models where other verbs take a network."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
import onnx_models as made
from marks import in_full
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.shape import Pool
from merp.models.golden.inference import inference
from merp.models.golden.initial import parameters
from merp.models.network.network import Network
from merp.tools.cli import main
from merp.tools.common.kernel_file import read_kernels
from merp.tools.common.shipped import open_network
from needed_tools import needs
from spoilt_models import external
from terminal import Terminal

pytestmark = needs("onnx")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return made.saved(tmp_path, made.three_layers())


def same_words(found: Any, wanted: Any, network: Network) -> bool:
    return all(
        np.array_equal(a, b)
        for layer in network.layers
        for a, b in zip(found[layer.name], wanted[layer.name], strict=True)
    )


def test_a_network_file_and_its_weights_are_what_the_model_is(
    model: Path, tmp_path: Path, terminal: Terminal
) -> None:
    file, weights = tmp_path / "net.toml", tmp_path / "w.npz"
    answer = terminal.answer("import", model, "-o", file, "--weights", weights)
    assert [each["name"] for each in answer["layers"]] == ["conv1", "conv2", "fc"]
    assert all(each["weights"] and each["traffic_only"] is None for each in answer["layers"])
    assert (answer["left"], answer["reason"]) == ([], None)
    whole, read = open_network(str(model)), open_network(str(file))
    assert read == whole
    assert same_words(read_kernels(weights, read, parameters(read, 0)), whole.weights, whole)
    plans = [
        terminal.answer("plan", each, "--board", "kc705", "--batch", 4) for each in (model, file)
    ]
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    "words",
    [
        ["networks"],
        ["traffic", "--count", "board"],
        ["traffic", "--compare", "digits"],
        ["plan", "--board", "zc706"],
        ["sweep", "--over", "batch=1,2"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_verb_takes_a_model(words: list[str], model: Path, terminal: Terminal) -> None:
    assert terminal.answer(words[0], model, *words[1:])


def test_verbs_that_write_take_a_model(model: Path, tmp_path: Path, terminal: Terminal) -> None:
    page = terminal.answer("report", model, "-o", tmp_path / "net.html")
    assert page["network"]
    files = terminal.answer("workload", model, "--format", "scalesim", "-o", tmp_path / "out")[
        "files"
    ]
    assert files


@pytest.mark.parametrize(
    "words", [["simulate"], ["export", "--all"], ["registers", "--layer", "fc"]]
)
def test_without_a_design_a_line_says_what_makes_one(
    words: list[str], model: Path, terminal: Terminal
) -> None:
    told = terminal.refusal(words[0], model, *words[1:])
    assert "has no design (traffic only): allowed are none: merp plan NETWORK --board" in told


def test_the_library_loads_a_model(model: Path) -> None:
    net = merp.load(model)
    assert list(net) == ["conv1", "conv2", "fc"]
    assert net.traffic(batch=2, count="all").layers
    assert set(net.description.weights) == set(net)


@needs("onnxruntime")
@pytest.mark.parametrize("cu_array", ["behavioural", *in_full("rtl")])
def test_three_layers_in_the_hardware(
    cu_array: str, model: Path, tmp_path: Path, terminal: Terminal
) -> None:
    """Bit-exact in MyHDL on a board's designs with the model's weights, and ONNX Runtime's result.

    The bound is that of tests/models/onnx/test_import_model.py.
    """
    file = tmp_path / "net.toml"
    terminal.answer("import", model, "-o", file, "--board", "kc705")
    net, weights = merp.load(file), dict(open_network(str(model)).weights)
    x = made.numbers(1, 10, 8, 2)
    ran = net.simulate(x, parameters=weights, cu_array=cu_array)
    assert ran.passed
    network = net.description
    *_, last = inference(network, to_bits(x, network.fmt), weights)
    assert np.array_equal(ran.words["fc"], last.y)
    for_runtime = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    theirs = runtime(model, for_runtime)
    assert np.abs(ran.arrays["fc"].reshape(-1) - theirs).max() < 2e-6


def runtime(path: Path, x: np.ndarray) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0], np.float64).reshape(-1)


def test_a_model_on_a_board_runs_in_passes(model: Path, terminal: Terminal) -> None:
    answer = terminal.answer("simulate", model, "--board", "kc705", "--layer", "all")
    assert len(answer["runs"]) == 3
    assert all(each["passed"] for each in answer["runs"])


def test_kept_results_are_of_these_weights(tmp_path: Path) -> None:
    """What names the work that a kept result is of has the weights in it."""
    networks = [
        open_network(str(made.saved(tmp_path, made.three_layers(seed)))) for seed in (1, 2, 1)
    ]
    first, other, again = map(repr, networks)
    assert first == again != other
    assert networks[0] == networks[1]  # their layers are the same


# -- what is not taken ----------------------------------------------------------------------------


def test_sizes_need_no_external_data(
    tmp_path: Path, terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made.saved(tmp_path, external(location="gone.data"))
    workload = ["workload", "--format", "scalesim", "-o", str(tmp_path / "workload")]
    for verb in (["traffic"], ["plan", "--board", "kc705"], ["compare"], workload):
        assert main([verb[0], str(path), *verb[1:]]) == 0
    out = tmp_path / "net.toml"
    assert main(["import", str(path), "-o", str(out)]) == 0
    capsys.readouterr()
    weights = ["import", path, "-o", out, "--weights", tmp_path / "w.npz"]
    for words in (["simulate", path, "--board", "kc705"], weights):
        told = terminal.refusal(*words)
        assert "external data 'gone.data': is missing: allowed is a file in the folder" in told


def with_two_lrns() -> Any:
    nodes = [
        made.node("Conv", "x a.w", "a", "one"),
        made.node("Relu", "a", "b"),
        made.node("LRN", "b", "c", "/lrn", size=5, alpha=1e-4, beta=0.75, bias=1.0),
        made.node("MaxPool", "c", "d", kernel_shape=[2, 2], strides=[2, 2]),
        made.node("LRN", "d", "y", size=3),
    ]
    return made.model(nodes, {"a.w": made.numbers(4, 1, 3, 3)})


def test_lrn_is_omitted_with_one_line_of_notice(
    tmp_path: Path, terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = made.saved(tmp_path, with_two_lrns()), tmp_path / "net.toml"
    told = terminal.refusal("import", path, "-o", out)
    assert "node '/lrn' (LRN): local response normalisation is not supported: merp import" in told
    answer = terminal.answer("import", path, "-o", out, "--without-lrn")
    assert answer["said"] == ["2 LRNs are omitted: the results differ from those of the model"]
    capsys.readouterr()
    assert main(["import", str(path), "-o", str(out), "--without-lrn"]) == 0
    assert capsys.readouterr().out.count("LRNs are omitted") == 1
    assert open_network(str(out)).layers[0].shape.pool is not None


def with_averages(*pads: int) -> Any:
    """Two averages that leave their padding out."""
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": pads}
    nodes = [
        made.node("Conv", "x a.w", "a", "/one"),
        made.node("AveragePool", "a", "b", "/mean", **window),
        made.node("Conv", "b b.w", "c", "/two"),
        made.node("AveragePool", "c", "y", "/again", **window),
    ]
    constants = {"a.w": made.numbers(4, 1, 1, 1), "b.w": made.numbers(4, 4, 1, 1)}
    return made.model(nodes, constants, size=("N", 1, 9, 9))


def test_averages_count_their_padding_with_one_line_of_notice(
    tmp_path: Path, terminal: Terminal
) -> None:
    path, out = made.saved(tmp_path, with_averages(1, 1, 1, 1)), tmp_path / "net.toml"
    told = terminal.refusal("import", path, "-o", out)
    assert told.endswith(
        "node '/mean' (AveragePool): count_include_pad = 0: must be 1 with padding, averages "
        "divide by the whole window: merp import --count-padding counts the zeros"
    )
    answer = terminal.answer("import", path, "-o", out, "--count-padding")
    assert answer["said"] == [
        "Padding of averages counts as zeros: the results differ from those of the model"
    ]
    pools = [layer.shape.pool for layer in open_network(str(out)).layers]
    assert [(pool.kind, pool.window, pool.pad) for pool in pools if pool] == [("average", 3, 1)] * 2
    without = made.saved(tmp_path, with_averages(0, 0, 0, 0))
    assert terminal.answer("import", without, "-o", out, "--count-padding")["said"] == []


def test_an_average_of_a_whole_map_may_leave_its_padding_out(
    tmp_path: Path, terminal: Terminal
) -> None:
    """As in the light model of Inception v1: one window of 7 x 7 on a padded map of 6 x 6."""
    nodes = [
        made.node("Conv", "x a.w", "a", "/one"),
        made.node("AveragePool", "a", "y", kernel_shape=[7, 7], pads=[0, 0, 1, 1]),
    ]
    model = made.model(nodes, {"a.w": made.numbers(4, 1, 1, 1)}, size=("N", 1, 6, 6))
    path, out = made.saved(tmp_path, model), tmp_path / "net.toml"
    assert terminal.answer("import", path, "-o", out)["said"] == []
    (layer,) = open_network(str(out)).layers
    assert layer.shape.pool == Pool(kind="average", window=6, stride=6)


def with_a_product() -> Any:
    nodes = [
        made.node("Conv", "x a.w", "a", "/a/Conv", pads=[1, 1, 1, 1]),
        made.node("Relu", "a", "b"),
        made.node("Mul", "b half", "d", "/Mul"),
        made.node("Relu", "d", "y", "/last/Relu"),
    ]
    return made.model(nodes, {"a.w": made.numbers(4, 1, 3, 3), "half": np.float32([0.5])})


def test_a_partial_import_keeps_what_is_in_front(
    tmp_path: Path, terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "part.toml"
    model = made.saved(tmp_path, with_a_product())
    assert main(["import", str(model), "-o", str(file)]) == 2
    assert not file.exists()
    capsys.readouterr()
    answer = terminal.answer("import", model, "-o", file, "--partial")
    assert [each["name"] for each in answer["layers"]] == ["conv-a"]
    assert answer["left"] == ["node '/Mul' (Mul)", "node '/last/Relu' (Relu)"]
    assert "node '/Mul' (Mul): must follow its convolution or full" in answer["reason"]
    text = file.read_text()
    assert f"# Not in this network: {answer['reason']}\n" in text
    assert "# skipped: node '/Mul' (Mul)\n" in text
    assert open_network(str(file)).layers[0].shape.relu


def test_a_partial_import_keeps_the_traffic_of_what_no_design_runs(
    tmp_path: Path, terminal: Terminal
) -> None:
    nodes = [
        made.node("Conv", "x a.w", "a", "large"),
        made.node("Flatten", "a", "b"),
        made.node("Gemm", "b b.w", "y", "fc"),
    ]
    constants = {"a.w": made.numbers(2, 1, 13, 13), "b.w": made.numbers(128, 3)}
    model = made.saved(tmp_path, made.model(nodes, constants, size=("N", 1, 20, 20)))
    file = tmp_path / "net.toml"
    answer = terminal.answer("import", model, "-o", file, "--partial")
    reason = "k must be a whole number from 1 to 11, not 13"
    assert [each["traffic_only"] for each in answer["layers"]] == [reason, None]
    assert f"# traffic only: {reason}\n[[layer]]\n" in file.read_text()
    assert terminal.answer("traffic", file)
    told = terminal.refusal("plan", file, "--board", "kc705")
    assert f"no design for conv-large, fc: {reason}" in told


def test_names_of_every_kind_become_names(tmp_path: Path, terminal: Terminal) -> None:
    """Names that a network file does not take: empty, equal, long, other letters, quotes."""
    names = ["", "a/b/Conv", "c/b/Conv", "Conv_3", "é\n\x1b[2J", '"' * 3, "x" * 300, "fc", "-", "B"]
    nodes, value = [], "x"
    for index, name in enumerate(names):
        nodes.append(made.node("Conv", f"{value} w{index}", f"v{index}", name))
        value = f"v{index}"
    constants = {f"w{index}": made.numbers(1, 1, 1, 1) for index in range(len(names))}
    model = made.saved(tmp_path, made.model(nodes, constants, output=value), "é 1.onnx")
    file = tmp_path / "net.toml"
    answer = terminal.answer("import", model, "-o", file)
    found = [each["name"] for each in answer["layers"]]
    assert found[:4] == ["conv1", "conv-b", "conv-b-2", "conv_3"]
    assert found[4:6] == ["conv-2J", "conv6"]
    assert found[6] == "conv-" + "x" * 51
    assert found[7:] == ["conv-fc", "conv9", "conv-B-3"]
    assert open_network(str(file)).name == "1"


def test_a_place_that_cannot_be_written_leaves_nothing(model: Path, tmp_path: Path) -> None:
    words = ["import", str(model), "-o", str(tmp_path / "net.toml"), "--weights"]
    assert main([*words, str(model / "gone" / "w.npz")]) == 2
    assert main([*words, str(tmp_path)]) == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["net.onnx"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "net.onnx", "-o", "net.onnx"], "-o net.onnx: must end in .toml"),
        (
            ["import", "net.onnx", "-o", "n.toml", "--weights", "net.onnx"],
            "--weights net.onnx: must end in .npz",
        ),
        (["export-weights", "w.npz", "net.onnx", "-o", "w.npz"], "-o w.npz: must end in .onnx"),
    ],
)
def test_a_name_that_is_mistaken_for_another_changes_nothing(
    words: list[str], message: str, model: Path, monkeypatch: pytest.MonkeyPatch,
    terminal: Terminal,
) -> None:  # fmt: skip
    monkeypatch.chdir(model.parent)
    before = model.read_bytes()
    assert terminal.refusal(*words) == f"merp: {message}"
    assert model.read_bytes() == before
    assert [each.name for each in model.parent.iterdir()] == ["net.onnx"]


@pytest.mark.parametrize(("kind", "fmt"), [(10, "binary16"), (16, "bfloat16")])
def test_the_format_is_that_of_the_model(kind: int, fmt: str, tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    values = [0.5, -1.25, 3.0, 0.0, 1.0, 2.0, -0.75, 1.5, 0.25]
    weights = helper.make_tensor("w", kind, (1, 1, 3, 3), values)
    model = made.model([made.node("Conv", "x w", "y", "c")], [weights], kind=kind)
    assert TensorProto.DataType.Name(kind) in ("FLOAT16", "BFLOAT16")
    network = open_network(str(made.saved(tmp_path, model)))
    kernels, biases = network.weights["conv-c"]
    assert to_values(kernels.reshape(-1), network.fmt).tolist() == values
    assert not biases.any()
    assert merp.load(tmp_path / "net.onnx").description.fmt == network.fmt
    tables = json.loads(json.dumps(network.fmt.frac_bits))
    assert tables == {"binary16": 10, "bfloat16": 7}[fmt]


def test_an_export_has_the_weights_in_its_vectors(
    model: Path, tmp_path: Path, terminal: Terminal
) -> None:
    """A word a line, as hexadecimal: kernels in stream order, and those of the small layer not."""
    file, weights, out = tmp_path / "net.toml", tmp_path / "w.npz", tmp_path / "out"
    terminal.answer("import", model, "-o", file, "--weights", weights, "--board", "kc705")
    terminal.answer("export", file, "--layer", "conv2", "--weights", weights, "-o", out)
    (folder,) = out.glob("net-*")
    kernels, _ = open_network(str(model)).weights["conv2"]
    written = (folder / "vectors" / "conv2" / "s_axis_kernel.txt").read_text().split()
    assert [int(word, 16) for word in written] == kernels.reshape(-1).tolist()
    assert (folder / "vectors" / "small" / "s_axis_kernel.txt").exists()
