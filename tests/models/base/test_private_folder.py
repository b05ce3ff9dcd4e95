"""Folders of code: refused where another user can write on the way, in them or below."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from merp.models.base import private_folder
from merp.models.base.errors import BadInput
from merp.models.base.private_folder import check_path, check_private, make_private


def refusal(folder: Path) -> str:
    with pytest.raises(BadInput) as told:
        check_private(folder, "CACHE")
    return str(told.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "a" / "b" / "cache"
    make_private(found, "CACHE")
    return found


def test_what_is_missing_is_made_for_the_user_alone(folder: Path) -> None:
    for path in (folder, folder.parent, folder.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    assert check_path(folder, "CACHE")
    assert not check_path(folder / "x" / "y", "CACHE")


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o720, 0o2770])
def test_each_part_of_the_path_counts(folder: Path, mode: int) -> None:
    for place in (folder, folder.parent, folder.parent.parent):
        place.chmod(mode)
        line = refusal(folder)
        assert line.startswith(f"CACHE: {folder}: others may write to {place} (")
        assert line.endswith(f": chmod go-w {place}, or name another folder")
        with pytest.raises(BadInput):
            make_private(folder / "more", "CACHE")
        assert not (folder / "more").exists()
        place.chmod(0o700)
    check_private(folder, "CACHE")


def test_a_sticky_folder_is_a_way_but_no_place(folder: Path) -> None:
    """Nobody can replace what is another's there, but everyone can add to it."""
    folder.parent.chmod(0o1777)
    check_private(folder, "CACHE")
    folder.chmod(0o1777)
    assert "others may write to" in refusal(folder)


def test_a_link_is_followed_to_each_part_of_its_target(folder: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    (aside / "deep").mkdir(parents=True)
    (tmp_path / "way").symlink_to("aside/../aside")
    (folder.parent / "link").symlink_to(tmp_path / "way" / "deep")
    link = folder.parent / "link"
    check_private(link, "CACHE")
    for place in (aside, aside / "deep"):
        place.chmod(0o777)
        assert f"others may write to {place} (every user)" in refusal(link)
        place.chmod(0o755)
    (tmp_path / "round").symlink_to("round")
    assert refusal(tmp_path / "round").endswith("Too many levels of symbolic links")


@pytest.mark.parametrize("name", ["file", "folder"])
def test_everything_below_counts(folder: Path, name: str) -> None:
    (folder / "deep" / "folder").mkdir(parents=True)
    place = folder / "deep" / name
    if name == "file":
        place.touch()
    check_private(folder, "CACHE")
    place.chmod(0o777)
    assert f"others may write to {place} (every user)" in refusal(folder)


def test_a_link_below_is_refused(folder: Path) -> None:
    (folder / "deep").symlink_to("/nowhere")
    assert refusal(folder) == f"CACHE: {folder}: {folder / 'deep'} is a link: remove it"


def test_what_is_another_users_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getuid()
    (folder / "file").touch()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert "belongs to another user: name a folder of your own" in refusal(folder)
    monkeypatch.setattr(private_folder, "ROOT", -1)
    assert refusal(folder).startswith(f"CACHE: {folder}: / belongs to another user (")


def test_the_users_private_group_is_the_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As umask 002 leaves it, where each user has a group; with one member more, others write."""
    folder.chmod(0o775)
    gid, uid = folder.stat().st_gid, os.getuid()
    user = SimpleNamespace(pw_name="ada", pw_uid=uid, pw_gid=gid)
    users, group = [user], SimpleNamespace(gr_name="ada", gr_mem=["ada"])
    monkeypatch.setattr(private_folder, "ROOT", -1 if gid == 0 else 0)
    monkeypatch.setattr(private_folder, "_check_owner", lambda *_: None)
    monkeypatch.setattr(private_folder.pwd, "getpwuid", lambda _: user)
    monkeypatch.setattr(private_folder.pwd, "getpwall", lambda: users)
    monkeypatch.setattr(private_folder.grp, "getgrgid", lambda _: group)

    def check() -> None:
        private_folder._private_group.cache_clear()
        check_path(folder, "CACHE")

    check()
    group.gr_mem = ["ada", "eve"]
    with pytest.raises(BadInput, match=r"\(group ada\)"):
        check()
    group.gr_mem = []
    check()
    users.append(SimpleNamespace(pw_name="eve", pw_uid=uid + 1, pw_gid=gid))
    with pytest.raises(BadInput, match=r"\(group ada\)"):
        check()
    users.pop()
    group.gr_name = "staff"
    with pytest.raises(BadInput, match=r"\(group staff\)"):
        check()
    private_folder._private_group.cache_clear()


IMPORT = """
from merp.models.base.errors import BadInput
try:
    import merp.models.base.numba_cache
except BadInput as error:
    print(error)
"""


def imported(where: Path, **variables: str) -> str:
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT], cwd=where, env=env | variables,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_numba_loads_nothing_that_another_user_could_write(folder: Path, tmp_path: Path) -> None:
    """Also where a Python program imports the package, which the command line cannot check."""
    assert imported(tmp_path, NUMBA_CACHE_DIR=str(folder / "numba")) == ""
    assert (folder / "numba").stat().st_mode & 0o777 == 0o700
    folder.parent.chmod(0o777)
    assert f"others may write to {folder.parent} (every user)" in imported(
        tmp_path, NUMBA_CACHE_DIR=str(folder / "numba")
    )
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: cache\n")
    assert imported(tmp_path).startswith(".numba_config.yaml: cache_dir: ")
    assert not (tmp_path / "cache").exists()


def test_a_working_folder_that_is_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working = folder.parent / "working"
    working.mkdir()
    monkeypatch.chdir(working)
    working.rmdir()
    assert check_path(folder.parent, "CACHE")
    with pytest.raises(BadInput, match="CACHE: kept: No such file or directory"):
        check_path(Path("kept"), "CACHE")
