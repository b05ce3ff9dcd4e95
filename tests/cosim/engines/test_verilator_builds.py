"""The executables of tops: built beside each other, once, and known without a conversion."""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType
from typing import Any

import pytest

from merp.cosim.engines import known_builds, verilator_build, verilator_builds, verilator_twins
from merp.cosim.engines.job import Wanted
from merp.cosim.engines.known_builds import KnownBuild
from merp.cosim.engines.programs import beside, own_process
from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.simulators import Verilator
from merp.cosim.engines.verilator_build import Recipe
from merp.cosim.engines.verilator_builds import executables
from merp.cosim.engines.verilator_runtime import LEVELS, level
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.top.top import Top


def top_of(k: int) -> Top:
    return forward_top(
        EngineDesign(
            k=k, n_cu=1, r=1, kernel_words=16, groups=2, row_words=8, max_size=8, max_maps=8,
            fifo_words=16,
        )
    )  # fmt: skip


class Builder:
    """Stands for Verilator and the compiler: a build says of which ``k`` it is."""

    def __init__(self) -> None:
        self.converted: list[Any] = []
        self.built: list[str] = []
        self.text: dict[Sequence[Path], str] = {}
        self.during: Callable[[], object] = lambda: None

    def convert(self, function: Any, args: Any, *rest: Any, **named: Any) -> Any:
        export = self.usual(function, args, *rest, **named)
        self.converted.append(args["design"].k)
        self.text[export.files] = f"k={args['design'].k}"
        return export

    usual = staticmethod(verilator_builds.convert)

    def build(self, recipe: Recipe, top: str, sources: Sequence[Path], *_: Any) -> Entry:
        self.during()
        text = self.text.get(sources, "twinned")
        self.built.append(text)
        entry = Entry("verilator", f"{text}:{recipe.sha}-{recipe.level}")
        entry.kept(lambda folder: (folder / "simulation").write_text(text))
        return entry


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    found = Builder()
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(verilator_builds, "_built", {})
    monkeypatch.setattr(verilator_builds, "convert", found.convert)
    verilator = Verilator(Path("verilator_bin"), tmp_path, "Verilator 5")
    monkeypatch.setattr(verilator_builds, "find_verilator", lambda: verilator)
    monkeypatch.setattr(Recipe, "build", lambda self, *rest: found.build(self, *rest))
    return found


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is the program, and began when all files were there."""
    monkeypatch.setattr(own_process, "_began", time.time_ns())


def some_build() -> Entry:
    """An entry of the cache with a file in the place of an executable."""
    entry = Entry("verilator", "some")
    entry.kept(lambda folder: (folder / "simulation").touch())
    return entry


def anew() -> None:
    """As in the next process."""
    if own_process.began() is not None:
        own_process._began = time.time_ns()
    verilator_builds._built.clear()
    known_builds._digest_of.cache_clear()


def test_tops_are_built_beside_each_other_and_each_once(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 2)
    met = threading.Barrier(2)  # both build at once, or neither ends
    builder.during = lambda: met.wait(60)
    wanted = [Wanted(top_of(k)) for k in (1, 2, 1, 2)]
    built = list(executables(wanted, None))
    assert built[:2] == built[2:]
    assert built[0].entry != built[1].entry
    assert len(builder.built) == 2
    for each, k in zip(built, (1, 2, 1, 2), strict=True):
        assert (each.entry.place / "simulation").read_text() == f"k={k}"


def test_the_first_is_there_before_the_others_and_whoever_leaves_ends_them(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 1)
    builds = executables([Wanted(top_of(k)) for k in (1, 2, 3)], None)
    assert (next(builds).entry.place / "simulation").read_text() == "k=1"
    builds.close()
    assert len(builder.built) < 3


def test_a_build_is_known_without_a_conversion(builder: Builder, program: None) -> None:
    [first] = executables([Wanted(top_of(2))], None)
    anew()
    [again] = executables([Wanted(top_of(2))], None)
    assert again.entry == first.entry
    assert builder.converted == [2]
    # Of other arguments and of another level nothing is known.
    list(executables([Wanted(top_of(1)), Wanted(top_of(2), cycles=1)], None))
    assert sorted(builder.converted) == [1, 2, 2]


def test_a_source_that_has_changed_is_converted_anew(
    builder: Builder, program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "block.py"
    source.write_text("LATENCY = 2\n")
    module = ModuleType("a_block_of_mine")
    module.__file__ = str(source)
    monkeypatch.setitem(sys.modules, "a_block_of_mine", module)
    anew()
    list(executables([Wanted(top_of(1))], None))
    for text, conversions in (("LATENCY = 3\n", 2), ("LATENCY = 3\n", 2), (None, 3)):
        if text is None:
            source.unlink()
        else:
            source.write_text(text)
        anew()
        list(executables([Wanted(top_of(1))], None))
        assert len(builder.converted) == conversions


def test_a_file_that_has_changed_is_read_anew(
    builder: Builder, program: None, tmp_path: Path
) -> None:
    source, entry = tmp_path / "twin.h", some_build()
    source.write_text("before")
    anew()
    KnownBuild(top_of(1), "flags").remember(entry, [source])
    assert KnownBuild(top_of(1), "flags").recall() == entry
    source.write_text("after")
    assert KnownBuild(top_of(1), "flags").recall() is None


@pytest.mark.parametrize("array", ["rtl", "behavioural"])
def test_of_arrays_in_cpp_the_texts_count_too(
    builder: Builder, program: None, array: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they stand for the arrays; and the build for either kind of array is another one."""
    header = tmp_path / "cu_array.h"
    header.write_text("before")
    monkeypatch.setattr(verilator_twins, "twin_of", lambda block: header if block.twin else None)
    for text, conversions in (("before", 1), ("after", 2 if array == "behavioural" else 1)):
        header.write_text(text)
        anew()
        list(executables([Wanted(replace(top_of(1), array=array))], None))
        assert len(builder.converted) == conversions


def test_a_damaged_build_is_not_known(builder: Builder, program: None) -> None:
    [first] = executables([Wanted(top_of(1))], None)
    (first.entry.place / "simulation").write_text("damaged")
    anew()
    list(executables([Wanted(top_of(1))], None))
    assert builder.built == ["k=1"] * 2


def test_another_program_converts_each_time(
    builder: Builder, program: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have changed a module in memory, and no file shows that."""
    list(executables([Wanted(top_of(1))], None))
    monkeypatch.setattr(own_process, "_began", None)
    for conversions in (2, 3):
        anew()
        list(executables([Wanted(top_of(1))], None))
        assert len(builder.converted) == conversions


def test_nothing_is_remembered_of_a_source_that_is_newer_than_the_program(
    builder: Builder, program: None, tmp_path: Path
) -> None:
    """Also if a copy brought an old time of its contents along."""
    source, entry = tmp_path / "twin.h", some_build()
    source.write_text("another text was loaded")
    os.utime(source, (0, 0))
    KnownBuild(top_of(1), "flags").remember(entry, [source])
    assert KnownBuild(top_of(1), "flags").recall() is None


def test_nothing_is_known_of_a_closure(builder: Builder, program: None) -> None:
    def of_my_own(*_: object) -> None:
        """Depends on variables that nobody sees."""

    entry = some_build()
    top = replace(top_of(1), function=of_my_own)
    KnownBuild(top, "flags").remember(entry)
    assert KnownBuild(top, "flags").recall() is None


class Odd:
    """A value that nobody can compare."""

    def __repr__(self) -> str:
        return "Odd()"


def test_of_values_of_an_unknown_class_nothing_is_remembered(
    builder: Builder, program: None
) -> None:
    entry = some_build()
    for value, recalled in ((7, entry), (Odd(), None), ([1, Odd()], None)):
        top = Top.of(forward_top, top_of(1).interface, {"design": value})
        known = KnownBuild(top, "flags")
        known.remember(entry)
        assert KnownBuild(top, "flags").recall() == recalled


def test_only_many_cycles_are_worth_a_long_compilation() -> None:
    few, many = LEVELS.values()
    assert [level(cycles) for cycles in (0, few - 1, few, many - 1, many, None)] == [
        "O0", "O0", "Og", "Og", "O1", "O1",
    ]  # fmt: skip


def test_an_elaboration_has_one_fingerprint_however_far_it_is_optimised(builder: Builder) -> None:
    quick, slow = executables([Wanted(top_of(1), cycles=1), Wanted(top_of(1))], None)
    assert quick.entry != slow.entry
    assert quick.sha == slow.sha


@pytest.mark.parametrize(("version", "refused"), [("9.4.0", True), ("10", False), ("12", False)])
def test_an_old_compiler_is_refused_in_one_line(
    version: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CompletedProcess(["g++"], 0, f"{version}\n", "")
    monkeypatch.setattr(verilator_build, "run", lambda command: done)
    told = r"needs g\+\+ 10 or newer for it, not 9\.4\.0: allowed: rtl$"
    with pytest.raises(BadInput, match=told) if refused else nullcontext():
        verilator_build._check_compiler()
