"""The cache of builds: what is damaged is built anew, what is another user's is refused."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.programs import build_cache
from merp.cosim.engines.programs.build_cache import SUMS, Entry, cache_directory
from merp.cosim.synthesis import synthesis
from merp.models.base.errors import BadInput
from merp.tools.cli import main
from terminal import Terminal


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


OWN = os.getuid()


class Maker:
    """Builds entries, and counts how many."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, folder: Path) -> None:
        self.built += 1
        assert list(folder.iterdir()) == []
        (folder / "simulation").write_bytes(b"\x7fELF" * 100)
        (folder / "notes").write_text("of the build")


def truncated(place: Path) -> None:
    (place / "simulation").write_bytes(b"\x7fELF")


def changed(place: Path) -> None:
    (place / "simulation").write_bytes(b"\x7fELG" * 100)


def emptied(place: Path) -> None:
    shutil.rmtree(place)
    place.mkdir()


def without_sums(place: Path) -> None:
    (place / SUMS).unlink()


def with_garbled_sums(place: Path) -> None:
    (place / SUMS).write_bytes(b"\xff\x00{" * 9)


def with_one_file_more(place: Path) -> None:
    (place / "more").write_text("")


def with_one_file_less(place: Path) -> None:
    (place / "notes").unlink()


def a_folder_for_a_file(place: Path) -> None:
    (place / "simulation").unlink()
    (place / "simulation").mkdir(mode=0)


def unreadable(place: Path) -> None:
    (place / "simulation").chmod(0)
    place.chmod(0)


def a_pipe_for_a_file(place: Path) -> None:
    """Nobody writes to it: it must not be read."""
    (place / "simulation").unlink()
    os.mkfifo(place / "simulation")


def a_pipe_for_the_sums(place: Path) -> None:
    (place / SUMS).unlink()
    os.mkfifo(place / SUMS)


def a_link_for_a_file(place: Path) -> None:
    """To the very same content, which may change later."""
    (place / "simulation").rename(place.with_name("aside"))
    (place / "simulation").symlink_to(place.with_name("aside"))


def a_file(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("")


def a_dangling_link(place: Path) -> None:
    shutil.rmtree(place)
    place.symlink_to("nowhere")


def open_to_others(place: Path) -> None:
    place.chmod(0o755)


def a_file_open_to_others(place: Path) -> None:
    (place / "simulation").chmod(0o666)


def another_entry(place: Path) -> None:
    """Intact, but at the place of this one."""
    other = Entry("verilator", "other").kept(Maker())
    shutil.rmtree(place)
    other.rename(place)


DAMAGE = [
    truncated, changed, emptied, without_sums, with_garbled_sums, with_one_file_more,
    with_one_file_less, a_folder_for_a_file, a_pipe_for_a_file, a_pipe_for_the_sums,
    a_link_for_a_file, unreadable, a_file, a_dangling_link, open_to_others,
    a_file_open_to_others, another_entry,
]  # fmt: skip


def test_an_entry_is_built_once(cache: Path) -> None:
    make = Maker()
    places = {Entry("verilator", "key").kept(make) for _ in range(3)}
    assert places == {cache / "verilator" / "key"}
    assert make.built == 1
    assert Entry("verilator", "key").intact()
    for folder in (cache, cache / "verilator", *places):
        assert folder.stat().st_mode & 0o777 == 0o700
    Entry("verilator", "another").kept(make)
    assert make.built == 2


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_built_anew(damage: Callable[[Path], None], cache: Path) -> None:
    make, entry = Maker(), Entry("verilator", "key")
    damage(entry.kept(make))
    assert not entry.intact()
    place = entry.kept(make)
    assert make.built == 2
    assert entry.intact()
    assert sorted(path.name for path in place.iterdir()) == [SUMS, "notes", "simulation"]
    assert not list(cache.rglob(".*"))


def test_links_in_the_cache_are_not_followed(cache: Path, tmp_path: Path) -> None:
    """The cache itself may be a link."""
    (tmp_path / "other").mkdir(mode=0o755)
    cache.symlink_to("other")
    place = Entry("yosys", "key").kept(Maker())
    place.with_name("key.lock").unlink()
    place.with_name("key.lock").symlink_to(tmp_path / "made")
    shutil.rmtree(place)
    assert "key.lock: Too many levels of symbolic links" in refused()
    assert not (tmp_path / "made").exists()
    shutil.rmtree(cache / "yosys")
    (tmp_path / "mine").mkdir(mode=0o755)
    (cache / "yosys").symlink_to(tmp_path / "mine")
    assert refused() == f"MERP_CACHE: {cache / 'yosys'} must be a folder, not a link"
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o755


def test_a_build_that_fails_leaves_what_was_there(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError("the compiler refuses")

    with pytest.raises(RuntimeError, match="the compiler refuses"):
        Entry("verilator", "key").kept(fail)
    assert [path.name for path in (cache / "verilator").iterdir()] == ["key.lock"]


def test_drafts_of_killed_builds_are_swept(cache: Path) -> None:
    entry = Entry("verilator", "key")
    shutil.rmtree(entry.kept(Maker()))
    for name in (".key.draft", ".other.draft"):
        (cache / "verilator" / name / "work").mkdir(parents=True)
    entry.kept(Maker())
    assert not list(cache.rglob(".*"))


def test_compilers_that_outlive_a_killed_build_do_not_stop_the_next(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = cache / "verilator" / ".key.draft"
    (draft / "obj").mkdir(parents=True)
    remove, written = os.rmdir, []

    def late(name: str, *, dir_fd: int | None = None) -> None:
        if not written:
            written.append((draft / "obj" / "late.o").write_text("after the folder was listed"))
        remove(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", late)
    assert Entry("verilator", "key").kept(Maker()).is_dir()
    assert written
    assert not list(cache.rglob(".*"))


def test_a_draft_that_is_being_built_is_left_alone(cache: Path) -> None:
    def make(folder: Path) -> None:
        Entry("verilator", "inside").kept(Maker())
        assert folder.is_dir()
        Maker()(folder)

    assert Entry("verilator", "outside").kept(make).is_dir()


BUILD = """
import sys, time
from pathlib import Path
from merp.cosim.engines.programs.build_cache import Entry

def make(folder):
    with open(sys.argv[1], "a") as told:
        told.write("built\\n")
    for place in range(20):
        (folder / f"part{place}").write_text("x" * 1000)
        time.sleep(0.02)

for round in range(5):
    place = Entry("yosys", f"key{round}").kept(make)
    assert len(list(place.iterdir())) == 21
"""


def test_two_processes_build_an_entry_once(tmp_path: Path, cache: Path) -> None:
    told = tmp_path / "told"
    command = [sys.executable, "-c", BUILD, str(told)]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [run.communicate()[1] for run in runs] == ["", ""]
    assert [run.returncode for run in runs] == [0, 0]
    assert told.read_text() == "built\n" * 5
    assert not list(cache.rglob(".*"))


def test_a_killed_process_leaves_no_lock(tmp_path: Path, cache: Path) -> None:
    told = tmp_path / "told"
    run = subprocess.Popen([sys.executable, "-c", BUILD, str(told)])
    while not told.exists():
        assert run.poll() is None
    run.kill()
    run.wait()
    subprocess.run([sys.executable, "-c", BUILD, str(told)], check=True)
    assert not list(cache.rglob(".*"))


def refused() -> str:
    with pytest.raises(BadInput) as told:
        Entry("yosys", "key").kept(Maker())
    assert "\n" not in str(told.value)
    return str(told.value)


def test_what_is_another_users_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Entry("yosys", "key").kept(Maker())
    monkeypatch.setattr(build_cache.os, "getuid", lambda: OWN + 1)
    assert "MERP_CACHE" in refused()
    assert "belongs to another user: name a folder of your own" in refused()
    assert not Entry("yosys", "key").intact()


def test_a_cache_that_others_can_replace_is_refused(cache: Path, tmp_path: Path) -> None:
    Entry("yosys", "key").kept(Maker())
    for place in (tmp_path, cache, cache / "yosys"):
        place.chmod(0o777)
        assert f"others may write to {place} (every user): chmod go-w {place}" in refused()
        place.chmod(0o700)
    Entry("yosys", "key").kept(Maker())


def test_a_build_is_closed_whatever_the_umask(cache: Path) -> None:
    before = os.umask(0)
    try:
        place = Entry("yosys", "key").kept(Maker())
    finally:
        os.umask(before)
    assert Entry("yosys", "key").intact()
    assert all(path.stat().st_mode & 0o022 == 0 for path in (cache, *cache.rglob("*")))
    assert place.is_dir()


def test_a_cache_that_cannot_be_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache.write_text("")
    assert refused() == f"MERP_CACHE: {cache} must be a folder"
    monkeypatch.setenv("MERP_CACHE", str(cache / "below"))
    assert refused() == f"MERP_CACHE: {cache / 'below'}: Not a directory"
    monkeypatch.setenv("MERP_CACHE", "/proc/nothing")
    assert refused().startswith("MERP_CACHE: /proc/nothing: ")
    monkeypatch.delenv("MERP_CACHE")

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    assert refused() == "MERP_CACHE: must name a folder if there is no home folder"


def test_numbas_cache_is_not_shared(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: Terminal,
) -> None:
    folder = tmp_path / "numba"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    assert main(["networks"]) == 0
    folder.mkdir()
    assert main(["networks"]) == 0
    folder.chmod(0o777)
    capsys.readouterr()
    assert terminal.refusal("networks") == (
        f"merp: NUMBA_CACHE_DIR: {folder}: others may write to {folder} (every user): "
        f"chmod go-w {folder}, or name another folder"
    )
    folder.chmod(0o755)
    deep = folder / "kernels" / "deep"
    deep.mkdir(parents=True)
    (deep / "found.nbi").touch()
    for place in (deep, deep / "found.nbi", folder / "kernels", tmp_path):
        mode = place.stat().st_mode
        place.chmod(mode | 0o002)
        assert f"others may write to {place} (every user)" in terminal.refusal("networks")
        place.chmod(mode)
    assert main(["networks"]) == 0
    monkeypatch.setattr(build_cache.os, "getuid", lambda: OWN + 1)
    assert "belongs to another user" in terminal.refusal("networks")


def netlist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, top: str) -> dict[str, Any]:
    """What ``synthesise`` answers where Yosys answers with the top's name."""

    def run(script: str, work: Path) -> None:
        module = {"ports": {top: {}}, "cells": {}}
        (work / "mapped.json").write_text(build_cache.json.dumps({"modules": {top: module}}))

    monkeypatch.setattr(synthesis, "_run", run)
    monkeypatch.setattr(synthesis, "yosys_version", lambda: "0")
    (tmp_path / f"{top}.v").write_text(f"module {top}; endmodule")
    return synthesis.synthesise([tmp_path / f"{top}.v"], top)


def test_damaged_and_swapped_netlists_are_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for top in "ab":
        assert list(netlist(monkeypatch, tmp_path, top)["ports"]) == [top]
    first, second = [p for p in (cache_directory() / "yosys").iterdir() if p.is_dir()]
    first.rename(second.with_name("aside"))
    second.rename(first)
    second.with_name("aside").rename(second)
    for top in "ab":
        assert list(netlist(monkeypatch, tmp_path, top)["ports"]) == [top]
    for file in first.rglob("*.gz"):
        file.write_bytes(file.read_bytes()[:9])
    for top in "ab":
        assert list(netlist(monkeypatch, tmp_path, top)["ports"]) == [top]


def test_machine_code_of_yosys_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yosys' own cache: refused before the program is started."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (tmp_path / "a.v").write_text("module a; endmodule")

    def start(*words: object, **options: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", start)
    for name, said in (
        ("YOWASP_CACHE_DIR", "YOWASP_CACHE_DIR"),
        ("XDG_CACHE_HOME", "YoWASP's cache"),
    ):
        monkeypatch.setenv(name, str(shared))
        with pytest.raises(BadInput, match=rf"^{said}: .*others may write to {shared} "):
            synthesis.synthesise([tmp_path / "a.v"], "a")
        monkeypatch.delenv(name)
