"""A layer from Python: run alone or in its network, its arguments checked at the border."""

from functools import cache

import numpy as np
import pytest

import merp
from marks import in_full
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY32
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_layer
from merp.models.golden.initial import layer_parameters
from merp.models.golden.kernel_update import gradients
from merp.models.traffic.pass_words import port_words

NET = merp.load("digits")
CONV2 = NET["conv2"]
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((2, 4, 4, 16)).astype(np.float32)
DELTA = RANDOM.standard_normal((2, 2, 2, 32)).astype(np.float32)


@cache
def run(phase: str, **more: object) -> merp.LayerRun:
    delta = None if phase == "fp" else DELTA
    return CONV2.run(X, phase=phase, delta=delta, **more)  # type: ignore[arg-type]


def test_a_layer_convolves_what_it_is_given() -> None:
    """Against numpy in binary64: the shape of the answer, and every number but its rounding."""
    kernels = RANDOM.standard_normal((32, 16, 3, 3))
    biases = RANDOM.standard_normal(32)
    found = CONV2.run(X, kernels=kernels, biases=biases)
    padded = np.pad(X.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    sums = np.einsum("brcnij,mnij->brcm", windows, kernels.astype(np.float32)) + biases
    wanted = np.maximum(sums, 0).reshape(2, 2, 2, 2, 2, 32).max(axis=(2, 4))
    assert found.passed
    np.testing.assert_allclose(found.arrays["y"], wanted, rtol=1e-4, atol=1e-5)


def test_a_run_says_what_crossed_the_ports() -> None:
    found = run("fp", state=True)
    words = port_words(CONV2.shape, images=2)
    assert {row["port"]: row["monitor"] for row in found.ports} == words | {"state_out": 96}
    assert [row["port"] for row in found.ports][:2] == ["map_in", "map_out"]
    assert found.records[0].outcome.transfers["s_axis_map"] == words["map_in"] == X.size
    assert found.words["state"].dtype == np.uint8
    assert found.words["state"].shape == (96,)
    np.testing.assert_array_equal(found.x, to_bits(X, BINARY32))


def test_the_first_rows_are_those_of_the_whole_layer() -> None:
    """But for what the padding behind them reaches: of 3 rows of 4, the upper row of windows."""
    part = CONV2.run(X, rows=3)
    assert part.passed
    assert part.words["y"].shape == (2, 1, 2, 32)
    np.testing.assert_array_equal(part.words["y"], run("fp").words["y"][:, :1])
    assert part.records[0].outcome.transfers["s_axis_map"] == 2 * 3 * 4 * 16
    np.testing.assert_array_equal(part.x, to_bits(X[:, :3], BINARY32))
    for wrong in (0, 5, True):
        with pytest.raises(merp.BadInput, match="rows"):
            CONV2.run(X, rows=wrong)
    with pytest.raises(merp.BadInput, match="rows = 3: allowed with phase fp"):
        CONV2.run(X, phase="ku", delta=DELTA, rows=3)


def test_delta_propagation_of_an_x_gives_the_delta_of_that_x() -> None:
    """Un-pooled by hand: the delta goes to the maximum of each window, where it is above zero."""
    found = run("dp")
    kernels, biases = layer_parameters(CONV2._layer, 0, BINARY32)
    sums = delta_sums(kernels, biases)
    wanted = delta_layer(CONV2._layer, sums, kernels, BINARY32, NET.description.summation(LAYER))
    assert found.passed
    np.testing.assert_array_equal(found.words["delta"], wanted)
    assert found.words["delta"].shape == X.shape


LAYER = NET.description.layer("conv2")


def delta_sums(kernels: np.ndarray, biases: np.ndarray) -> np.ndarray:
    summation = NET.description.summation(LAYER)
    x = to_bits(X, BINARY32)
    shape = LAYER.shape
    sums = convolution(x, kernels, biases, shape.stride, shape.pad, BINARY32, summation)
    y = to_values(sums, BINARY32)
    blocks = y.reshape(2, 2, 2, 2, 2, 32).swapaxes(2, 3).reshape(2, 2, 2, 4, 32)
    first = blocks.argmax(axis=3)[:, :, :, None]
    largest = np.take_along_axis(blocks, first, axis=3)
    spread = np.zeros_like(blocks)
    passing = np.where(largest > 0, DELTA.astype(np.float64)[:, :, :, None], 0)
    np.put_along_axis(spread, first, passing, axis=3)
    return to_bits(spread.reshape(2, 2, 2, 2, 2, 32).swapaxes(2, 3).reshape(2, 4, 4, 32), BINARY32)


@pytest.mark.full
@pytest.mark.parametrize("at", ["pooled", *in_full("sums")])
def test_a_kernel_update_gives_new_kernels_and_biases(at: str) -> None:
    found = run("ku", delta_at=at, learning_rate=0.5)
    kernels, biases = layer_parameters(LAYER, 0, BINARY32)
    sums = delta_sums(kernels, biases)
    summation = NET.description.summation(LAYER)
    steps = gradients(LAYER, to_bits(X, BINARY32), sums, BINARY32, summation)
    assert found.passed
    for name, old, step in zip(("kernels", "biases"), (kernels, biases), steps, strict=True):
        wanted = to_values(old, BINARY32) - 0.25 * to_values(step, BINARY32)
        np.testing.assert_allclose(found.arrays[name], wanted, rtol=1e-5, atol=1e-6)


def test_without_an_x_a_layer_runs_in_its_network() -> None:
    first = NET["conv1"].run(images=2)
    second = CONV2.run(images=2)
    np.testing.assert_array_equal(second.x, first.words["y"])
    assert CONV2.run(phase="dp", images=1).passed


def test_groups_run_one_by_one_or_all() -> None:
    grouped = merp.load("alexnet")["conv5"]
    assert grouped.groups == 2
    with pytest.raises(merp.BadInput, match=r"^group = 2: must be a whole number from 0 to 1$"):
        grouped.run(group=2)


def test_words_are_taken_as_they_are() -> None:
    words = to_bits(X, BINARY32)
    np.testing.assert_array_equal(CONV2.run(words).words["y"], run("fp").words["y"])


def test_a_waveform_is_left_where_it_is_asked_for(tmp_path) -> None:
    found = NET["conv1"].run(wave=tmp_path / "ports.vcd", wave_of="words_0")
    assert found.audit.ports["map_in"]["waveform"] == 64
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"ports.vcd", "ports.gtkw", "ports.sucl"}
    assert "variable_add forward.words_0.words\n" in (tmp_path / "ports.sucl").read_text()


def test_what_is_added_is_added_to_the_sums_before_relu() -> None:
    """A layer of +0 kernels and biases has the ReLU of what is added."""
    conv3 = merp.load("resnet-digits")["conv3"]
    x, add = RANDOM.standard_normal((2, 1, 8, 8, 8)).astype(np.float32)
    kernels, biases = np.zeros((8, 8, 3, 3)), np.zeros(8)
    found = conv3.run(x, add=add, kernels=kernels, biases=biases)
    assert found.passed
    np.testing.assert_array_equal(found.arrays["y"], np.maximum(add, 0))
    assert {row["port"]: row["monitor"] for row in found.ports}["add_in"] == add.size


ADDED = np.zeros((1, 8, 8, 8), np.float32)
BAD_ADD = {
    "add: conv3 adds conv1 to its sums, phase fp of an x: allowed with fp of a layer that adds, "
    "and required there": ("conv3", {"x": ADDED}),
    "add: conv2 adds nothing to its sums, phase fp of an x: allowed with fp of a layer that adds, "
    "and required there": ("conv2", {"x": ADDED, "add": ADDED}),
    "add: conv3 adds conv1 to its sums, phase ku of an x: allowed with fp of a layer that adds, "
    "and required there": (
        "conv3", {"x": ADDED, "add": ADDED, "phase": "ku", "delta": ADDED},
    ),
    "add: without x, the network gives it: allowed with x": ("conv3", {"add": ADDED}),
    "add: size (1, 8, 8, 7): allowed is (1, 8, 8, 8)": (
        "conv3", {"x": ADDED, "add": ADDED[..., 1:]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("complaint", BAD_ADD)
def test_a_wrong_addition_is_one_line(complaint: str) -> None:
    layer, given = BAD_ADD[complaint]
    with pytest.raises(merp.BadInput) as told:
        merp.load("resnet-digits")[layer].run(**given)
    assert str(told.value) == complaint


BAD = {
    "phase = 'bq': allowed are fp, dp, bp, ku, pool, unpool": {"phase": "bq"},
    "phase = ['fp']: allowed are fp, dp, bp, ku, pool, unpool": {"phase": ["fp"]},
    "engine = 'vhdl': allowed are myhdl, verilator, ghdl, system": {"engine": "vhdl"},
    "cu_array = 'fast': allowed are behavioural, rtl": {"cu_array": "fast"},
    "cu_array = 'behavioural': engine ghdl runs RTL only: allowed: rtl": {
        "engine": "ghdl", "cu_array": "behavioural",
    },
    "wave = 7: allowed is a path": {"wave": 7},
    "wave_of = 'layer': allowed with wave": {"wave_of": "layer"},
    "wave_of = 7: allowed is text": {"wave": "w.vcd", "wave_of": 7},
    "wave = 'w.fst': engine myhdl writes no .fst: allowed with verilator, ghdl": {"wave": "w.fst"},
    "group = -1: must be a whole number from 0 to 0": {"group": -1},
    "group = True: must be a whole number from 0 to 0": {"group": True},
    "images = 0: must be a whole number from 1 to 256": {"images": 0},
    "images = 1.0: must be a whole number from 1 to 256": {"images": 1.0},
    "images: x has its own number of images: allowed without x": {"x": X, "images": 2},
    "x: size (2, 4, 4): allowed is (images, 4, 4, 16)": {"x": X[..., 0]},
    "x: size (0, 4, 4, 16): allowed is (images, 4, 4, 16)": {"x": X[:0]},
    "x: no array of numbers: allowed is size (images, 4, 4, 16)": {"x": [[1], [2, 3]]},
    "x[0, 0, 0, 0] = 16777217: allowed are whole numbers that the network's format holds": {
        "x": np.full((1, 4, 4, 16), (1 << 24) + 1),
    },
    "x[0, 0, 0, 0] = nan: allowed are finite numbers that the network's format holds": {
        "x": np.full((1, 4, 4, 16), np.nan),
    },
    "kernels: size (1,): allowed is (32, 16, 3, 3)": {"kernels": [1.0]},
    "biases: size (32, 1): allowed is (32)": {"biases": np.zeros((32, 1))},
    "delta: phase dp of an x needs the delta of the layer's output": {"x": X, "phase": "dp"},
    "delta: phase fp takes none: allowed with dp, bp, ku": {"x": X, "delta": DELTA},
    "delta: without x, the network gives it: allowed with x": {"phase": "ku", "delta": DELTA},
    "delta: size (1, 2, 2, 32): allowed is (2, 2, 2, 32)": {
        "x": X, "phase": "ku", "delta": DELTA[:1],
    },
    "delta_at = 'sums': this needs the pooling of the layer in front, which x does not contain: "
    "allowed: pooled, or no x": {
        "x": X, "phase": "dp", "delta": DELTA, "delta_at": "sums",
    },
    "delta_at = 'pooled': phase fp takes no deltas: allowed with dp, bp, ku": {
        "delta_at": "pooled"
    },
    "state = 1: allowed are True, False": {"state": 1},
    "state: phase ku writes none: allowed with fp": {"phase": "ku", "state": True},
    "learning_rate = 'fast': must be a number above 0": {"learning_rate": "fast"},
    "learning_rate = 0: must be a number above 0": {"learning_rate": 0},
    "learning_rate = 1e-50: over a batch of 1 the format has no such rate": {
        "learning_rate": 1e-50,
    },
    "seed = 4294967296: must be a whole number from 0 to 4294967295": {"seed": 1 << 32},
}  # fmt: skip


@pytest.mark.parametrize("complaint", BAD)
def test_a_wrong_argument_is_one_line(complaint: str) -> None:
    with pytest.raises(merp.BadInput) as told:
        CONV2.run(**BAD[complaint])
    assert str(told.value) == complaint


def test_the_first_layer_has_no_delta_propagation() -> None:
    with pytest.raises(merp.BadInput, match="conv1 is the first layer, its input has no delta"):
        NET["conv1"].run(phase="dp")


def test_a_layer_without_a_design_is_told() -> None:
    with pytest.raises(merp.BadInput, match="layer fc6 has no design"):
        merp.load("alexnet")["fc6"].run(np.zeros((1, 1, 1, 9216)))


def test_a_notebook_shows_verdict_ports_and_maps() -> None:
    shown = run("fp", state=True)._repr_html_()
    assert "conv2 fp on myhdl: passed" in shown
    assert "<td>state_out</td>" in shown
    assert 'src="data:image/png;base64,iVBORw0KGgo' in shown
    assert "<img" not in run("dp")._repr_html_()
    assert repr(run("dp")).startswith("<conv2 dp on myhdl: passed; 512 words compared, 0 differ")
