"""What a bench reads of a package's folder, and how it compares; no simulator is needed."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import cocotb
import numpy as np
import pytest

from merp.cocotb import Package, Result, run_tests
from merp.models.base.errors import BadInput
from merp.tools.fpga.bench.arrays import stream_words
from merp.tools.fpga.bench.simulate import tests_of as count_tests

MANIFEST: dict[str, Any] = {
    "top": "merp_own_fp",
    "language": "vhdl",
    "format": {"exp_bits": 8, "frac_bits": 23},
    "compile_order": ["hdl/inner.vhd", "hdl/merp_own_fp.vhd", "sim/bench.vhd"],
    "registers": {
        "status": 12, "rows": 32, "status_map_in": 36, "status_map_in_high": 40,
        "status_useful": 44, "status_useful_high": 48,
    },
    "settings": ["rows"],
    "streams": {
        "s_axis_map": {"port": "map_in", "width": 32},
        "m_axis_map": {"port": "map_out", "width": 32},
        "m_axis_state": {"port": "state_out", "width": 8},
    },
    "vectors": {"small": {"words_compared": 2}},
    "layers": [{"layer": "conv1", "registers": {"rows": 4}, "words": {"map_in": 2}, "runs": 1}],
}  # fmt: skip


@pytest.fixture
def package(tmp_path: Path) -> Package:
    folder = tmp_path / "vectors" / "small"
    folder.mkdir(parents=True)
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    for name, text in {
        "registers": "20 4 rows\n",
        "status": "24 10 status_map_in\n28 1 status_map_in_high\n",
        "s_axis_map": "3f800000\n40000000\n",
        "m_axis_map": "bf800000\n",
        "m_axis_state": "",
    }.items():
        (folder / f"{name}.txt").write_text(text)
    return Package(tmp_path)


def test_a_package_is_what_its_manifest_says(package: Package) -> None:
    assert (package.engine, package.inputs) == ("ghdl", ["s_axis_map"])
    assert [path.name for path in package.files] == ["inner.vhd", "merp_own_fp.vhd"]
    assert package.counters == ["map_in", "useful"]
    assert package.layer("conv1")["registers"] == {"rows": 4}
    with pytest.raises(BadInput, match=r"^no layer 'conv9': allowed are conv1$"):
        package.layer("conv9")


def test_vectors_are_read_as_they_stand(package: Package) -> None:
    vectors = package.vectors()
    assert vectors.registers == {"rows": 4}
    assert vectors.inputs["s_axis_map"].tolist() == [0x3F800000, 0x40000000]
    assert vectors.outputs["m_axis_state"].size == 0
    assert vectors.counters == {"map_in": 0x1_0000_0010}
    with pytest.raises(BadInput, match=r"^no vectors 'large': allowed are small$"):
        package.vectors("large")


@pytest.mark.parametrize("text", ["", "[]", '{"top": "x"}', '{"streams": {}, "format": {}}'])
def test_a_folder_without_a_package_is_told_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadInput, match=r"^package .*: no package that merp export has written$"):
        Package(tmp_path)


def test_numbers_are_rounded_and_words_are_kept(package: Package) -> None:
    given = {"m_axis_map": np.array([[1.0], [0.1]]), "m_axis_state": np.array([7], np.uint8)}
    words = stream_words(package, package.outputs, given)
    assert words["m_axis_map"].tolist() == [0x3F800000, 0x3DCCCCCD]
    assert words["m_axis_state"].tolist() == [7]
    given["m_axis_map"] = np.array([5], np.uint32)
    assert stream_words(package, package.outputs, given)["m_axis_map"].tolist() == [5]


BAD = {
    r"^m_axis_state: missing: allowed are m_axis_map, m_axis_state$": {"m_axis_map": [1.0]},
    r"^m_axis_maps: no such stream: allowed are ": {"m_axis_maps": [1.0]},
    r"^m_axis_map\[0\] = 16777217: allowed are whole numbers that the network's format holds$": {
        "m_axis_map": [(1 << 24) + 1], "m_axis_state": np.zeros(1),
    },
    r"^m_axis_state: type float64: allowed are bytes of state, 0 to 255$": {
        "m_axis_map": [1.0], "m_axis_state": [1.0],
    },
    r"^m_axis_state\[1\] = 256: allowed are bytes of state, 0 to 255$": {
        "m_axis_map": [1], "m_axis_state": [7, 256],
    },
    r"^m_axis_map\[0\] = inf: allowed are finite": {
        "m_axis_map": [np.inf], "m_axis_state": [1.0],
    },
}  # fmt: skip


@pytest.mark.parametrize("said", BAD)
def test_a_wrong_array_is_told_in_one_line(said: str, package: Package) -> None:
    with pytest.raises(BadInput, match=said):
        stream_words(package, package.outputs, BAD[said])


def result(package: Package, **changed: Any) -> Result:
    """Of a run that gave 1.0 and 2.0, and a byte of state."""
    facts: dict[str, Any] = {
        "words": {
            "m_axis_map": np.array([0x3F800000, 0x40000000], np.uint32),
            "m_axis_state": np.array([3], np.uint32),
        },
        "moved": {"s_axis_map": 4, "m_axis_map": 2, "m_axis_state": 1},
        "counters": {"map_in": 4, "map_out": 2, "state_out": 1, "useful": 9},
        "cycles": 20,
    }
    return Result(package=package, **(facts | changed))


RIGHT = {"m_axis_map": [1.0, 2.0], "m_axis_state": np.array([3], np.uint8)}


def test_a_right_result_passes_and_gives_its_numbers(package: Package) -> None:
    found = result(package)
    found.check(RIGHT, {"useful": 9})
    assert found.numbers("m_axis_map", (2, 1)).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("expected", "counters", "changed", "said"),
    [
        ({"m_axis_map": [1.0, 2.5]}, {}, {},
         r"^m_axis_map, word 1 of 2: 0x40000000 \(2\), not 0x40200000 \(2.5\); 1 words differ$"),
        ({"m_axis_map": [1.0]}, {}, {}, r"^m_axis_map: 2 words, not 1$"),
        ({"m_axis_map": [1.0, 2.0, 3.0]}, {}, {}, r"^m_axis_map: 2 words, not 3$"),
        ({"m_axis_state": np.array([2], np.uint8)}, {}, {},
         r"^m_axis_state, word 0 of 1: 0x3, not 0x2; 1 words differ$"),
        ({}, {"useful": 8}, {}, r"^counter useful: 9, not 8$"),
        ({}, {}, {"counters": {"map_in": 5}}, r"^counter map_in: 5, not 4$"),
        ({"m_axis_map": np.zeros(0), "m_axis_state": np.zeros(0, np.uint8)}, {}, {},
         r"^no word would be compared"),
    ],
)  # fmt: skip
def test_what_differs_is_told(
    expected: Any, counters: Any, changed: Any, said: str, package: Package
) -> None:
    with pytest.raises(AssertionError, match=said):
        result(package, **changed).check({**RIGHT, **expected}, counters)


def test_a_module_without_tests_is_refused(package: Package, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^module empty: no cocotb tests: "):
        run_tests(package, ModuleType("empty"), tmp_path)


def test_tests_are_counted_as_cocotb_will_run_them() -> None:
    async def one(dut: Any, size: int = 0) -> None: ...

    module = ModuleType("some")
    module.once = cocotb.test()(one)  # type: ignore[attr-defined]
    module.thrice = cocotb.parametrize(size=[1, 2, 3])(cocotb.test()(one))  # type: ignore[attr-defined]
    module.never = cocotb.test(skip=True)(one)  # type: ignore[attr-defined]
    assert count_tests(module) == 4


def test_an_image_in_bytes_is_given_as_numbers_or_as_bytes(package: Package) -> None:
    streams = dict(MANIFEST["streams"])
    streams["s_axis_map"] = {
        "port": "map_in", "width": 8, "format": {"scale": "1/16", "offset": "-1/2"},
    }  # fmt: skip
    (package.folder / "manifest.json").write_text(json.dumps(MANIFEST | {"streams": streams}))
    given = Package(package.folder)
    for array in (np.array([-0.5, 0.0, 15.4375]), np.array([0, 8, 255], np.uint8)):
        found = stream_words(given, given.inputs, {"s_axis_map": array})
        assert found["s_axis_map"].tolist() == [0, 8, 255]
    for array, said in (
        (np.array([0.0, 15.5]), r"s_axis_map\[1\] = 15\.5: allowed are -0\.5 to 15\.4375: "),
        (
            np.array([256], np.uint32),
            r"s_axis_map\[0\] = 256: allowed are numbers, or bytes of the image",
        ),
    ):
        with pytest.raises(BadInput, match=said):
            stream_words(given, given.inputs, {"s_axis_map": array})


FIXED = {
    "name": "fixed16", "rounding": "nearest", "input": 12,
    "layers": {"conv1": {"map": 10, "kernel": 13, "delta": 11, "gradient": 6, "velocity": 4}},
}  # fmt: skip


@pytest.fixture
def fixed(package: Package) -> Package:
    """In fixed point, with two passes; of the second an output word may be any."""
    streams = {
        "s_axis_map": {"port": "map_in", "width": 16, "lanes": 2},
        "m_axis_map": {"port": "map_out", "width": 16, "lanes": 2},
    }
    vectors = {"small": {"words_compared": 3, "passes": [{}, {}]}}
    facts = {
        "format": FIXED,
        "streams": streams,
        "vectors": vectors,
        "layers": [{"layer": "conv1"}],
    }
    (package.folder / "manifest.json").write_text(json.dumps(MANIFEST | facts))
    for number, words in (("1", "0001\n0002\n"), ("2", "ffff\n-\n")):
        folder = package.folder / "vectors" / "small" / number
        folder.mkdir()
        for name, text in {
            "registers": "20 4 rows\n", "status": "", "s_axis_map": "0003\n0004\n",
            "m_axis_map": words,
        }.items():  # fmt: skip
            (folder / f"{name}.txt").write_text(text)
    return Package(package.folder)


def test_vectors_of_several_passes_have_names_of_their_own(
    package: Package, fixed: Package
) -> None:
    assert package.passes() == ["small"]
    assert fixed.passes() == ["small/1", "small/2"]
    assert fixed.vectors("small/1").outputs["m_axis_map"].tolist() == [1, 2]
    with pytest.raises(BadInput, match=r"^no vectors 'small': allowed are small/1, small/2$"):
        fixed.vectors()
    with pytest.raises(BadInput, match=r"^no vectors 'large': allowed are small$"):
        fixed.passes("large")
    with pytest.raises(BadInput, match=r"^layer 'conv1': it is not one run: allowed are values"):
        fixed.layer("conv1")


def test_a_word_that_may_be_any_is_not_compared(fixed: Package) -> None:
    wanted = fixed.vectors("small/2").outputs
    found = result(
        fixed, words={"m_axis_map": np.array([0xFFFF, 7], np.uint32)}, moved={}, counters={}
    )
    found.check(wanted)
    with pytest.raises(AssertionError, match=r"^m_axis_map, word 0 of 2: 0xffff, not 0x1; 2 words"):
        found.check(fixed.vectors("small/1").outputs)
    with pytest.raises(
        BadInput,
        match=r"^m_axis_map: fixed-point words have the fraction of their pass: take words$",
    ):
        found.numbers("m_axis_map")


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array([1.0]), r"^s_axis_map: type float64: allowed are words of 16 bits, 0 to 65535$"),
        (
            np.array([3, 1 << 16], np.uint32),
            r"^s_axis_map\[1\] = 65536: allowed are words of 16 bi",
        ),
        (np.array([-1]), r"^s_axis_map\[0\] = -1: allowed are words of 16 bits, 0 to 65535$"),
    ],
)
def test_fixed_point_takes_words_alone(array: Any, said: str, fixed: Package) -> None:
    with pytest.raises(BadInput, match=said):
        stream_words(fixed, fixed.inputs, {"s_axis_map": array})


def test_words_in_fixed_point_may_be_of_any_whole_type(fixed: Package) -> None:
    for words in ([3, 65535], np.array([3, 65535], ">u2"), np.array([3, 65535], np.uint64)):
        found = stream_words(fixed, fixed.inputs, {"s_axis_map": np.array(words)})
        assert found["s_axis_map"].tolist() == [3, 65535]
