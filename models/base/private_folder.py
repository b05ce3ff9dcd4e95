"""Checks whether another user can put code into a folder from which this program loads code.

Root and the user may write to every folder of the path. No other user may write to a folder of the
path. A folder with the sticky bit (``/tmp``) is an exception, because nobody can replace another
user's files there. Links are followed one by one; each link and each folder on the path is checked.

A group counts as other users, with one exception: the user's private group. It has the user's name
and no other member. Debian's OpenSSH has the same rule. The group of root is never private, because
containers give it to processes without listing them. Access control lists are visible in the bits
of the group, so an entry for another user is refused like a group.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import shlex
import stat
from functools import cache
from pathlib import Path

from merp.models.base.errors import BadInput

ROOT = 0
PRIVATE = 0o700
OPEN = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40  # the limit of the system


def make_private(folder: Path, name: str) -> None:
    """Create a missing folder for the user alone, and check it as ``check_path`` does.

    Raises:
        BadInput: as in ``check_path``, or the folder cannot be created.
    """
    check_path(folder, name)  # otherwise it would be created where others can replace it
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        try:
            path.mkdir(mode=PRIVATE, exist_ok=True)  # another process may create it first
        except OSError as error:
            raise BadInput(f"{name}: {path}: {error.strerror}") from error
    check_path(folder, name)


def check_private(folder: Path, name: str) -> None:
    """Refuse a folder if another user can write to it, above it or to anything below it.

    Args:
        folder: need not exist.
        name: its name for the user.

    Raises:
        BadInput: another user can write to a part of it; the message gives the part, the user and a
            remedy.
    """
    if check_path(folder, name):
        _check_below(folder, name)


def check_path(folder: Path, name: str) -> bool:
    """Refuse a folder if another user can write to it or above it; missing folders are accepted.

    Returns whether the folder exists.

    Raises:
        BadInput: as in ``check_private``, or the folder is not a folder, or cannot be reached.
    """
    left = list(reversed(_absolute(folder, name).parts[1:]))
    place, links = Path("/"), 0
    while (found := _status(place, folder, name)) is not None:
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > MOST_LINKS:
                raise BadInput(f"{name}: {folder}: {os.strerror(errno.ELOOP)}")
            _check_owner(place, found, folder, name)
            target = Path(os.readlink(place))
            left += [part for part in reversed(target.parts) if part != "/"]
            place = Path("/") if target.is_absolute() else place.parent
        elif not left:
            _check_folder(place, found, folder, name)
            return True
        elif not stat.S_ISDIR(found.st_mode):
            raise BadInput(f"{name}: {folder}: {os.strerror(errno.ENOTDIR)}")
        else:
            _check_owner(place, found, folder, name)
            if not found.st_mode & stat.S_ISVTX:
                _check_writers(place, found, folder, name)
        part = left.pop() if left else "."
        place = place.parent if part == ".." else place / part
    return False


def _absolute(folder: Path, name: str) -> Path:
    if folder.is_absolute():
        return folder
    try:
        return Path.cwd() / folder
    except OSError as error:  # the working folder was removed
        raise BadInput(f"{name}: {folder}: {error.strerror}") from error


def _status(place: Path, folder: Path, name: str) -> os.stat_result | None:
    try:
        return place.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{name}: {folder}: {error.strerror}") from error


def _check_folder(place: Path, found: os.stat_result, folder: Path, name: str) -> None:
    """Check the folder itself: it must be the user's own, not root's, or nobody could write
    there.
    """
    if not stat.S_ISDIR(found.st_mode):
        raise BadInput(f"{name}: {folder} must be a folder")
    if found.st_uid != os.getuid():
        raise BadInput(f"{name}: {folder} belongs to another user: name a folder of your own")
    _check_writers(place, found, folder, name)


def _check_below(folder: Path, name: str) -> None:
    """Check everything in a folder; a link in it could lead anywhere."""
    inside, own = [str(folder)], os.getuid()
    while inside:
        try:
            with os.scandir(inside.pop()) as entries:
                for entry in entries:
                    found = _status_of(entry)
                    if found is None:
                        continue
                    if found.st_uid != own or found.st_mode & OPEN or entry.is_symlink():
                        _check_owner(entry.path, found, folder, name)
                        if entry.is_symlink():
                            raise BadInput(f"{name}: {folder}: {entry.path} is a link: remove it")
                        _check_writers(entry.path, found, folder, name)
                    if entry.is_dir(follow_symlinks=False):
                        inside.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BadInput(f"{name}: {error.filename or folder}: {error.strerror}") from error


def _status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an entry, or None if another process of the user has just removed it."""
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_owner(place: Path | str, found: os.stat_result, folder: Path, name: str) -> None:
    if found.st_uid not in (ROOT, os.getuid()):
        raise BadInput(
            f"{name}: {folder}: {place} belongs to another user ({_user(found.st_uid)}): "
            f"name a folder of your own"
        )


def _check_writers(place: Path | str, found: os.stat_result, folder: Path, name: str) -> None:
    if found.st_mode & stat.S_IWOTH:
        who = "every user"
    elif found.st_mode & stat.S_IWGRP and not _private_group(found.st_gid):
        who = f"group {_group(found.st_gid)}"
    else:
        return
    raise BadInput(
        f"{name}: {folder}: others may write to {place} ({who}): "
        f"chmod go-w {shlex.quote(str(place))}, or name another folder"
    )


@cache
def _private_group(gid: int) -> bool:
    """Return whether a group contains only this user."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return (
        gid != ROOT
        and gid == user.pw_gid
        and group.gr_name == user.pw_name
        and set(group.gr_mem) <= {user.pw_name}
        and all(each.pw_uid == user.pw_uid for each in pwd.getpwall() if each.pw_gid == gid)
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
