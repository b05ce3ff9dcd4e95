"""The writer of output: old or new and complete, one writer at a time, nothing of others lost."""

import errno
import fcntl
import hashlib
import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.programs.interrupts import interrupts_that_last
from merp.models.base.errors import BadInput
from merp.tools.common import output, stage
from merp.tools.common.output import Output

FILES = {"a.txt": "new a", "tables/b.csv": "new b", "c.txt": b"new c"}


def tree(folder: Path) -> dict[str, str]:
    """Every file of a folder, drafts included, by its path."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


NEW = {"a.txt": "new a", "c.txt": "new c", "tables/b.csv": "new b"}
OLD = {name: text.replace("new", "old") for name, text in NEW.items()}


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def two_files(folder: Path) -> dict[str, Any]:
    (folder / "hdl").mkdir()
    (folder / "hdl" / "a.vhd").write_text("entity a is end;")
    (folder / "b.vhd").write_text("entity b is end;")
    return {"top": "b"}


class Killed(BaseException):
    """Nothing after it runs, as the test leaves the writer where it is."""


def killed_at(
    monkeypatch: pytest.MonkeyPatch, moment: int, root: Path, work: Callable[[Output], None]
) -> bool:
    """Stop at a rename or at the end of a sync, locks released as the kernel does; False: ran."""
    calls = 0

    def mortal(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == moment:
                raise Killed
            return function(*arguments)

        return call

    output = Output.of_folder("-o", root)
    output.__enter__()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", mortal(os.replace))
        patch.setattr(Path, "rename", mortal(Path.rename))
        patch.setattr(stage, "_sync", mortal(stage._sync))
        try:
            work(output)
        except Killed:
            os.close(output._stage._lock)
            return True
    output.__exit__(None, None, None)
    return False


def test_a_set_is_old_or_new_whenever_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    moment = 0
    while True:
        moment += 1
        root = tmp_path / str(moment)
        put(root, OLD | {"mine.txt": "mine"})
        alive = not killed_at(monkeypatch, moment, root, lambda output: output.write(FILES))
        with Output.of_folder("-o", root):
            pass  # the next run
        found = tree(root)
        assert found.pop("mine.txt") == "mine"
        assert found in (OLD, NEW)
        assert not list(root.glob(".*"))
        seen.add("new" if found == NEW else "old")
        if alive:
            break
    assert seen == {"old", "new"}
    assert moment > 10


def test_a_folder_of_our_own_is_old_or_new_whenever_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(folder: Path) -> dict[str, Any]:
        (folder / "c.vhd").write_text("entity c is end;")
        return {"top": "c"}

    def export(output: Output) -> None:
        output.add_folder("x", changed)
        output.commit()

    alive, moment = False, 0
    while not alive:
        moment += 1
        root = tmp_path / str(moment)
        with Output.of_folder("-o", root) as output:
            output.add_folder("x", two_files)
            output.commit()
        old = tree(root)
        put(root, {"x/run/mine.log": "mine"})
        alive = not killed_at(monkeypatch, moment, root, export)
        with Output.of_folder("-o", root):
            pass
        found = tree(root)
        assert found.pop("x/run/mine.log") == "mine"
        assert found == old or set(found) == {"x/c.vhd", "x/manifest.json"}
        assert not list(root.glob(".*"))
    assert moment > 8


def test_the_manifest_names_every_file_by_its_hash(tmp_path: Path) -> None:
    with Output.of_folder("-o", tmp_path / "new") as output:
        manifest = output.add_folder("vhdl", two_files)
        output.commit()
    folder = tmp_path / "new" / "vhdl"
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    assert manifest["top"] == "b"
    assert manifest["files"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("b.vhd", "hdl/a.vhd")
    }


@pytest.mark.parametrize("error", [RuntimeError("ghdl refuses"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [False, True])
def test_an_export_that_fails_leaves_things_as_they_were(
    error: BaseException, there: bool, tmp_path: Path
) -> None:
    root = tmp_path / "export"
    if there:
        with Output.of_folder("-o", root) as output:
            output.add_folder("x", two_files)
            output.commit()
    before = tree(tmp_path)

    def fail(folder: Path) -> dict[str, Any]:
        two_files(folder)
        raise error

    with pytest.raises(type(error)), Output.of_folder("-o", root) as output:
        output.add_folder("x", fail)
    assert tree(tmp_path) == before
    assert root.exists() == there


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    def full(folder: Path) -> dict[str, Any]:
        two_files(folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    said = r"-o .*new: cannot be written: No space left on device"
    with pytest.raises(BadInput, match=said), Output.of_folder("-o", tmp_path / "new") as output:
        output.add_folder("x", full)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_others_that_a_new_one_would_hide_is_kept(tmp_path: Path) -> None:
    put(tmp_path, {"x/manifest.json": '{"files": {}}', "x/b.vhd": "mine"})
    said = r"x/b\.vhd is in the way"
    with Output.of_folder("-o", tmp_path) as output:
        output.add_folder("x", two_files)
        with pytest.raises(BadInput, match=said):
            output.commit()
    assert tree(tmp_path) == {"x/manifest.json": '{"files": {}}', "x/b.vhd": "mine"}


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "dangling", "device", "loop"])
def test_what_is_no_regular_file_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    target = Path("f.npz")
    if kind == "fifo":
        os.mkfifo(target)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(target))
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to({"dangling": "nowhere", "device": "/dev/null", "loop": "f.npz"}[kind])
    before = os.lstat(target)
    with pytest.raises(BadInput, match=r"^--save f\.npz: .*") as refusal:
        Output.of_file("--save", target)
    assert "\n" not in str(refusal.value)
    after = os.lstat(target)  # but for the time it was read at
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (
        before.st_ino, before.st_mode, before.st_mtime_ns
    )  # fmt: skip
    (tmp_path / "set").mkdir()
    Path("set", "a.txt").write_text("old")
    os.rename(target, Path("set", "c.txt"))
    said = r"c\.txt is "
    with pytest.raises(BadInput, match=said), Output.of_folder("-o", Path("set")) as output:
        output.write(FILES)
    assert Path("set", "a.txt").read_text() == "old"
    assert not Path("set", "tables").exists()


def test_a_link_to_a_file_gives_way_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with Output.of_file("-o", tmp_path / "link") as output:
        output.write({"link": "new"})
    assert tree(tmp_path) == {"link": "new", "real": "old"}


def test_a_folder_that_a_link_leads_out_of_is_refused(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / "tables").symlink_to(other)
    with pytest.raises(BadInput, match="tables is no folder"), Output.of_folder("-o", root) as out:
        out.write(FILES)
    assert not list(other.iterdir())


def test_a_second_writer_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    with Output.of_folder("-o", tmp_path) as first:
        path = first.draft("a.txt")
        path.write_text("draft")
        with (
            pytest.raises(BadInput, match=r"another merp is writing there$"),
            Output.of_folder("-o", tmp_path),
        ):
            pass
        with Output.of_file("--save", tmp_path / "b.txt") as other:  # another place, not in the way
            other.write({"b.txt": "b"})
        assert path.read_text() == "draft"
        first.commit()
    assert tree(tmp_path) == {"a.txt": "draft", "b.txt": "b"}


def test_drafts_of_the_dead_are_swept_by_any_run_and_nothing_else_is(tmp_path: Path) -> None:
    put(tmp_path, {".dead.npz.merp-draft/new/files/dead.npz": "half"})
    put(tmp_path, {".mine.merp-draft/thesis.txt": "years of work", ".hidden": "mine"})
    with Output.of_file("-o", tmp_path / "f.png") as output:
        output.write({"f.png": b"picture"})
    assert tree(tmp_path) == {
        ".hidden": "mine", ".mine.merp-draft/thesis.txt": "years of work", "f.png": "picture",
    }  # fmt: skip
    with (
        pytest.raises(BadInput, match="is not merp's, move it away"),
        Output.of_file("-o", tmp_path / "mine"),
    ):
        pass


def test_a_set_that_a_dead_writer_of_the_folder_left_ready_is_finished_by_one_of_a_file(
    tmp_path: Path,
) -> None:
    put(tmp_path, OLD | {".merp-draft/ready/files/c.txt": "new c"})
    with Output.of_file("-o", tmp_path / "f.png") as output:
        output.write({"f.png": b"picture"})
    assert tree(tmp_path) == OLD | {"c.txt": "new c", "f.png": "picture"}
    assert not list(tmp_path.glob(".*"))


def test_a_set_that_cannot_begin_is_dropped_and_one_that_has_begun_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace
    for moment in (1, 2):
        root = tmp_path / str(moment)
        put(root, OLD)
        calls: list[Path] = []

        def failing(draft: Path, place: Path, moment: int = moment, calls: list[Path] = calls):
            calls.append(place)
            if len(calls) >= moment:
                raise OSError(errno.EIO, "Input/output error")
            replace(draft, place)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", failing)
            said = "cannot be written: Input/output error"
            with pytest.raises(BadInput, match=said), Output.of_folder("-o", root) as output:
                output.write(FILES)
        with Output.of_folder("-o", root):
            pass
        assert tree(root) == (OLD if moment == 1 else NEW)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (os, "mkdir"), (fcntl, "flock"), (output, "sweep"), (os, "rmdir"), (os, "unlink"),
        (os, "close"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_signal_while_a_place_is_taken_or_given_back_leaves_nothing(
    place: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first call of each, and at each that follows."""
    call = getattr(place, name)
    struck = 0

    def strike(*arguments: Any, **options: Any) -> Any:
        nonlocal struck
        found = call(*arguments, **options)
        calls.append(name)
        if len(calls) == moment:
            struck += 1
            signal.raise_signal(signal.SIGTERM)
        return found

    for moment in range(1, 9):
        calls: list[str] = []
        folder = tmp_path / f"{moment}" / "out"
        with suppress(KeyboardInterrupt), interrupts_that_last(), monkeypatch.context() as patch:
            patch.setattr(place, name, strike)
            with Output.of_folder("-o", folder) as opened:
                opened.add({"a.txt": "new"})
        assert not folder.exists(), (moment, tree(folder))
    assert struck
