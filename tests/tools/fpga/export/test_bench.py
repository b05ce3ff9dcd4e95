"""A package's bench under GHDL alone, as its page says."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from marks import in_full
from merp.models.network.phases import PHASES
from merp.tools.cli import main
from packages import bench, built, manifest_of


@pytest.fixture(scope="module")
def benches(exports: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Copies of the packages, outside the package's tree, built."""
    copy = tmp_path_factory.mktemp("elsewhere")
    return {
        phase: built(shutil.copytree(folder, copy / folder.name))
        for phase, folder in exports.items()
    }


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("generics", [(), ("-gPAUSE=40", "-gSEED=3")], ids=["full", "pauses"])
def test_the_bench_passes_in_ghdl_alone(
    phase: str, generics: tuple[str, ...], benches: dict[str, Path]
) -> None:
    folder = benches[phase]
    status, lines = bench(folder, *generics)
    assert status == 0, lines
    assert lines[-1] == "PASS"
    compared = manifest_of(folder)["vectors"]["small"]["words_compared"]
    assert compared > 0
    assert f", compared {compared}, wrong 0;" in lines[-2]
    counted = len((folder / "vectors" / "small" / "status.txt").read_text().splitlines())
    assert f"registers compared {counted}, wrong 0" in lines[-2]


@pytest.mark.ghdl
@pytest.mark.parametrize("phase", ["fp", *in_full("dp", "ku")])
def test_the_bench_aborts_a_run_and_begins_it_again(phase: str, benches: dict[str, Path]) -> None:
    folder = benches[phase]
    _, whole = bench(folder)
    for at in (40, 150):
        status, lines = bench(folder, f"-gABORT_AT={at}")
        assert status == 0, lines
        assert lines == whole, at  # the same words, and the same cycles
        # ... which take place after others.
    status, lines = bench(folder, "-gABORT_AT=1", "-gPAUSE=40")
    assert status == 0, lines


def spoilt_word(lines: list[str]) -> list[str]:
    return [*lines[:2], f"{int(lines[2], 16) ^ 1:0{len(lines[2])}x}", *lines[3:]]


def spoilt_value(lines: list[str]) -> list[str]:
    address, value, name = lines[-2].split()
    return [*lines[:-2], f"{address} {int(value, 16) + 1:x} {name}", lines[-1]]


@pytest.mark.sample(3)
@pytest.mark.ghdl
@pytest.mark.parametrize(
    ("file", "spoil", "said"),
    [
        ("m_axis_map", spoilt_word, "first mismatch on m_axis_map, word 2: "),
        ("m_axis_map", lambda lines: lines[:-1], "tlast must be '1'"),
        ("m_axis_map", lambda lines: [*lines, lines[-1]], "output words are missing"),
        ("m_axis_state", spoilt_word, "first mismatch on m_axis_state, word 2: "),
        ("s_axis_kernel", spoilt_word, "first mismatch on m_axis_map"),
        ("s_axis_map", lambda lines: lines[:-1], "no word moved for 300 cycles"),
        ("s_axis_map", lambda lines: [*lines, lines[-1]], "some input words were not accepted"),
        ("status", spoilt_value, "status_useful: "),
        ("registers", lambda lines: [f"{0:x} 0 ident", *lines], "write to 00000000: response 2"),
    ],
)
def test_the_bench_finds_what_is_planted(
    file: str, spoil: Any, said: str, benches: dict[str, Path], tmp_path: Path
) -> None:
    folder = benches["fp"]
    vectors = tmp_path / "vectors"
    shutil.copytree(folder / "vectors" / "small", vectors)
    path = vectors / f"{file}.txt"
    path.write_text("".join(f"{line}\n" for line in spoil(path.read_text().splitlines())))
    status, lines = bench(folder, f"-gVECTORS={vectors}", "-gWATCHDOG=300")
    assert status != 0
    assert "FAIL" in lines
    assert "PASS" not in lines
    assert any(said in line for line in lines), lines


@pytest.mark.ghdl
@pytest.mark.full
@pytest.mark.parametrize("phase", PHASES)
def test_16_cus_of_alexnet_in_ghdl(phase: str, tmp_path: Path) -> None:
    arguments = ["export", "alexnet", "--layer", "conv2", "--phase", phase, "-o", str(tmp_path)]
    assert main(arguments) == 0
    status, lines = bench(built(tmp_path / f"alexnet-k5-{phase}"))
    assert (status, lines[-1]) == (0, "PASS"), lines
