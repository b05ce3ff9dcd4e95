"""Arrays that users give: every type and layout of the same numbers gives the same words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.tools.common.given_numbers import given_numbers, whole_numbers
from merp.tools.common.given_words import given_words
from merp.tools.common.kernel_file import kernel_words
from merp.tools.machines.mac_array.simulated import MacArray
from merp.tools.train.datasets.data import checked

WHOLE = np.arange(24).reshape(2, 3, 4)
SIGNED = WHOLE - 12
EQUAL: dict[str, Any] = {
    **{kind: WHOLE.astype(kind) for kind in ("u1", "i1", "i2", "u2", "i4", "i8", "u8")},
    **{kind: WHOLE.astype(kind) for kind in ("f2", "f4", "f8", "longdouble")},
    "big-endian int64": WHOLE.astype(">i8"),
    "big-endian float32": WHOLE.astype(">f4"),
    "Fortran order": np.asfortranarray(WHOLE),
    "not contiguous": np.repeat(WHOLE, 2, axis=1)[:, ::2],
    "backwards": WHOLE[::-1].copy()[::-1],
    "lists": WHOLE.tolist(),
}


@pytest.mark.parametrize("given", EQUAL)
def test_equal_numbers_are_equal_words(given: str) -> None:
    array = np.asarray(EQUAL[given])
    array.flags.writeable = False
    np.testing.assert_array_equal(given_words("x", array, BINARY32), to_bits(WHOLE, BINARY32))


def test_truths_and_negative_numbers_are_numbers() -> None:
    np.testing.assert_array_equal(
        given_words("x", SIGNED > 0, BINARY32), to_bits(SIGNED > 0, BINARY32)
    )
    np.testing.assert_array_equal(
        given_words("x", SIGNED, BFLOAT16), to_bits(SIGNED.astype(float), BFLOAT16)
    )
    assert given_words("x", np.array(3), BINARY32) == to_bits(3.0, BINARY32)


@pytest.mark.parametrize("order", ["<u4", ">u4"])
def test_words_stay_words_in_either_byte_order(order: str) -> None:
    words = np.array([0x3F800000, 5], order)
    np.testing.assert_array_equal(given_words("x", words, BINARY32), [0x3F800000, 5])


@pytest.mark.parametrize(
    ("array", "fmt", "said"),
    [
        (np.array([[1, 257]]), BFLOAT16, "x[0, 1] = 257: allowed are whole numbers that"),
        (np.array([-(1 << 24) - 1]), BINARY32, "x[0] = -16777217: allowed are whole numbers that"),
        (np.array([(1 << 53) + 1]), BINARY32, "x[0] = 9007199254740993: allowed are whole"),
        (np.array([(1 << 64) - 1], np.uint64), BINARY32, "x[0] = 18446744073709551615: allowed"),
        (np.array([1 + np.longdouble(2) ** -60]), BINARY32, "allowed are numbers of binary64"),
        (np.array([1j]), BINARY32, "x: type complex128: allowed are numbers"),
        (np.array(["1"]), BINARY32, "x: type <U1: allowed are numbers"),
        (np.array([1 << 64]), BINARY32, "x: type object: allowed are numbers"),
    ],
)
def test_the_first_number_that_does_not_fit_is_named(array: Any, fmt: Any, said: str) -> None:
    with pytest.raises(BadInput) as told:
        given_words("x", array, fmt)
    assert said in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def test_large_numbers_that_fit_are_taken() -> None:
    large = np.array([1 << 62, -(1 << 63), (1 << 53) * 3])
    np.testing.assert_array_equal(given_numbers("x", large), [2.0**62, -(2.0**63), 3 * 2.0**53])


def test_labels_are_whole_numbers_of_any_type() -> None:
    images = np.zeros((3, 2, 2), np.int16)
    for labels in ([0, 1, 2], [0.0, 1.0, 2.0], np.arange(3, dtype=">u2"), [False, True, False]):
        assert checked("data", images, np.asarray(labels)).labels.dtype == np.int64
    with pytest.raises(BadInput, match=r"^data: labels\[2\] = 1.5: allowed are whole numbers$"):
        checked("data", images, np.array([0, 1, 1.5]))
    with pytest.raises(BadInput, match=r"^x\[0\] = 18446744073709549568: allowed are whole"):
        whole_numbers("x", np.array([(1 << 64) - 2048], np.uint64))


def test_fixed_point_takes_whole_numbers_that_its_words_hold() -> None:
    network = merp.load("digits-fixed").description
    size = (1, *network.input)
    fraction = network.fixed.input
    words = MacArray().words_of("x", np.ones(size, np.int64), network)
    np.testing.assert_array_equal(words, np.full(size, 1 << fraction))
    most = (1 << (15 - fraction)) - 1
    with pytest.raises(BadInput) as told:
        MacArray().words_of("x", np.full(size, most + 1), network)
    assert str(told.value).startswith(f"x[0, 0, 0, 0] = {most + 1}: allowed are numbers from ")


def test_kernels_in_a_file_are_of_any_type(tmp_path: Path) -> None:
    network = merp.load("tiny3").description
    layer = network.layers[0]
    biases = np.arange(layer.biases)
    np.savez(tmp_path / "w.npz", **{f"{layer.name}.bias": biases})
    words = kernel_words(tmp_path / "w.npz", network)[f"{layer.name}.bias"]
    np.testing.assert_array_equal(words, to_bits(biases, network.fmt))


def test_numbers_of_any_type_run_alike() -> None:
    """Maps, kernels and biases of integers, against the same as floats."""
    layer = merp.load("tiny3")["conv1"]
    shape = layer.shape
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 4, (1, shape.rows, shape.columns, layer.groups * shape.n))
    kernels = rng.integers(-2, 3, (layer.groups * shape.m, shape.n, shape.k, shape.k))
    biases = rng.integers(-2, 3, layer.groups * shape.m)
    whole = layer.run(x, kernels=kernels.astype("i2"), biases=biases.tolist())
    floats = layer.run(x * 1.0, kernels=kernels * 1.0, biases=biases * 1.0)
    assert whole.passed
    np.testing.assert_array_equal(whole.words["y"], floats.words["y"])


def test_settings_may_be_numpy_numbers() -> None:
    """Scalars, and arrays without dimensions."""
    net = merp.load("tiny3")
    plain = net.traffic(batch=4, count="all").json()
    assert net.traffic(batch=np.int16(4), count="all").json() == plain  # type: ignore[arg-type]
    assert net.traffic(batch=np.array(4), count="all").json() == plain  # type: ignore[arg-type]
    run = net["conv1"].run(learning_rate=np.array(0.5), state=np.True_)  # type: ignore[arg-type]
    assert run.passed
