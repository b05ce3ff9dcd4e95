"""``Layer.run`` of the library on F-CNN's modules: each phase has arrays as its results."""

from pathlib import Path

import numpy as np
import pytest

import merp
from merp.models.base.formats import BINARY32
from merp.models.golden.kernel_update import bias_gradient
from network_text import layer, max_pool, network_text

FCNN = {"architecture": "fcnn", "lanes": 2, "mul_latency": 1, "add_latency": 1}
TEXT = network_text(
    "arrays",
    (5, 4, 4),
    layer("conv1", 6, kernel=2, groups=2, pool=max_pool(2, 2), design="a"),
    layer("fc2", 3, activation="none", design="b"),
    designs={"a": {**FCNN, "maps_at_once": 2}, "b": {**FCNN, "block": 3}},
)
X = np.random.default_rng(0).standard_normal((2, 5, 4, 4)).astype(np.float32)


@pytest.fixture
def net(tmp_path: Path) -> merp.Network:
    path = tmp_path / "arrays.toml"
    path.write_text(TEXT)
    return merp.load(path)


def test_forward_phases_of_a_convolution(net: merp.Network) -> None:
    sums = net["conv1"].run(X).arrays["sums"]
    pooled = net["conv1"].run(X, phase="pool")
    assert sums.shape == (2, 4, 3, 6)
    windows = sums[:, :, :2].reshape(2, 2, 2, 1, 2, 6)
    assert np.array_equal(pooled.arrays["y"], np.maximum(windows.max(axis=(2, 4)), 0))
    assert pooled.arrays["state"].shape == (2, 2, 1, 6)
    assert pooled.arrays["state"].dtype == np.uint8


def test_backward_phases_of_a_convolution(net: merp.Network) -> None:
    delta = np.random.default_rng(1).standard_normal((2, 2, 1, 6)).astype(np.float32)
    sums = net["conv1"].run(X, phase="unpool", delta=delta).words["delta"]
    found = net["conv1"].run(X, phase="ku", delta=delta).words
    assert sums.shape == (2, 4, 3, 6)
    assert found["kernel_gradients"].shape == (6, 2, 2, 2)
    assert found["bias_gradients"].shape == (6,)


def test_a_full_connection(net: merp.Network) -> None:
    x = np.ones((2, 1, 1, 12), np.float32)
    delta = np.array([[1, 2, 3], [4, 5, 6]], np.float32).reshape(2, 1, 1, 3)
    fc2 = net["fc2"]
    assert fc2.run(x).words["sums"].shape == (2, 1, 1, 3)
    assert fc2.run(x, phase="dp", delta=delta).words["delta"].shape[0] == 2
    found = fc2.run(x, phase="ku", delta=delta).words
    assert np.array_equal(found["bias_gradients"], bias_gradient(delta.view(np.uint32), BINARY32))
    assert np.array_equal(found["kernel_gradients"][:, 0, 0, 0], found["bias_gradients"])
