"""Damage a folder as somebody else with access to it could."""

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np

import mutate
from merp.tools.common.seal import SEAL, sealed

DEVICES = {"zero": 5, "full": 7, "null": 3}  # minor numbers


def laid(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths in a folder, which is made."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def taken(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, by their paths in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def befall(random: Random, folder: Path, elsewhere: Path) -> None:
    """Damage a folder with one to three accidents; links lead ``elsewhere``."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = _entries(folder)
        if found:
            path = random.choice(found)
            random.choice(ACCIDENTS)(random, path, elsewhere)


def _entries(folder: Path) -> list[Path]:
    return sorted(
        Path(where, name) for where, folders, files in os.walk(folder) for name in folders + files
    )


def _content(random: Random, path: Path, elsewhere: Path) -> None:
    """Change the bytes of a file, the values of JSON, or sometimes an array file below its seal."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return
    text = path.read_bytes()
    if path.suffix == ".json" and random.randrange(3):
        changed = mutate.json_text(random, text)
    elif path.suffix == ".npz" and random.randrange(2):
        changed = forged(random, text)
    else:
        changed = mutate.content(random, text)
    path.write_bytes(changed)


def forged(random: Random, text: bytes) -> bytes:
    """Return a sealed file with a changed text or array in it, and a matching seal."""
    try:
        with np.load(BytesIO(text)) as data:
            arrays = {key: data[key] for key in data.files if key != SEAL}
    except Exception:  # no longer an archive; errors of zipfile and numpy are arbitrary
        return mutate.content(random, text)
    key = "about" if "about" in arrays and random.randrange(4) else random.choice(list(arrays))
    array = arrays[key]
    kind = random.randrange(5)
    if key == "about":
        arrays[key] = np.array(mutate.json_text(random, str(array).encode()).decode())
    elif kind == 0:
        del arrays[key]
    elif kind == 1:
        arrays[random.choice(("x", "more", "../x"))] = array
    elif kind == 2:
        arrays[key] = np.zeros(random.choice([(), (0,), (3,), (1, 2, 3), (2, 1, 1)]), array.dtype)
    elif kind == 3 and array.dtype.kind in "fiu":
        with np.errstate(all="ignore"):
            arrays[key] = array.astype(random.choice(("f8", "f4", "i1", "u8", "u4", "?", "U3")))
    elif array.size and array.dtype.kind in "fiu":
        changed = np.array(array)
        values = (-1, 0, 1 << 62, np.nan, np.inf, 1e300)
        with np.errstate(all="ignore"):
            try:
                changed.reshape(-1)[random.randrange(array.size)] = random.choice(values)
            except (ValueError, OverflowError):
                changed = np.zeros_like(changed)
        arrays[key] = changed
    return sealed(arrays)


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _removed(random: Random, path: Path, elsewhere: Path) -> None:
    _gone(path)


def _emptied(random: Random, path: Path, elsewhere: Path) -> None:
    _gone(path)
    path.write_bytes(b"")


def _folder(random: Random, path: Path, elsewhere: Path) -> None:
    _gone(path)
    path.mkdir()
    if random.randrange(2):
        (path / random.choice(("x", "manifest.json", "é", "a\nb"))).write_bytes(b"x")


def _link(random: Random, path: Path, elsewhere: Path) -> None:
    target = random.choice(
        (path.name, "nowhere", elsewhere, elsewhere / "file", elsewhere / "nothing", "/", "..")
    )
    _gone(path)
    path.symlink_to(target if isinstance(target, str) else target.absolute())


def _pipe(random: Random, path: Path, elsewhere: Path) -> None:
    _gone(path)
    os.mkfifo(path)


def _device(random: Random, path: Path, elsewhere: Path) -> None:
    """Make a device, or a link to one if only root makes devices."""
    name = random.choice(list(DEVICES))
    _gone(path)
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, DEVICES[name]))
    except OSError:
        path.symlink_to(f"/dev/{name}")


def _more(random: Random, path: Path, elsewhere: Path) -> None:
    """Add something unexpected next to it."""
    names = (f".{path.name}.merp-draft", ".merp-draft", "more", "manifest.json", f"{path.name}.npz")
    beside = path.with_name(random.choice(names))
    if os.path.lexists(beside):
        return
    kind = random.randrange(4)
    if kind == 0:
        beside.write_bytes(b"more")
    elif kind == 1:
        beside.symlink_to(elsewhere.absolute())
    else:
        inside = random.choice(("new", "ready", "done", "x"))
        (beside / inside).mkdir(parents=True)
        if kind == 3:
            (beside / inside / "files").mkdir()
            (beside / inside / "files" / "planted").write_bytes(b"planted")


def _modes(random: Random, path: Path, elsewhere: Path) -> None:
    if not path.is_symlink():
        path.chmod(random.choice((0, 0o200, 0o444, 0o777)))


def _swapped(random: Random, path: Path, elsewhere: Path) -> None:
    """Exchange it with another one."""
    other = random.choice(sorted(path.parent.iterdir()))
    if other != path:
        aside = path.with_name("aside")
        path.rename(aside)
        other.rename(path)
        aside.rename(other)


Accident = Callable[[Random, Path, Path], None]
ACCIDENTS: tuple[Accident, ...] = (
    *(_content,) * 8, _removed, _emptied, _folder, _link, _link, _pipe, _device, _more, _modes,
    _swapped,
)  # fmt: skip
"""The possible accidents of a path, content the most often."""
