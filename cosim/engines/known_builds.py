"""Find the build of a top without converting the top, if no source has changed.

Converting a design takes longer than finding its executable. Therefore the cache stores the key of
the build under the arguments of the top. It also stores the checksum of every source that was
loaded at the conversion. This is only valid if the modules in the process equal their files. Hence
it applies only to the program ``merp``, and only if no file is newer than the start of the program.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Collection, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.own_process import began
from merp.testbenches.top.top import Top

_FILE = "build.json"


class KnownBuild:
    """The cache's knowledge about the build of one top for one kind of executable."""

    def __init__(self, top: Top, kind: object) -> None:
        """``kind``: everything that affects the build except the top and the sources."""
        self._entry: Entry | None = None
        function = top.function.__module__, top.function.__qualname__
        named = getattr(sys.modules.get(function[0]), function[1], None)
        if began() is None or named is not top.function:  # a closure also depends on other values
            return
        try:
            arguments = _exact({**top.parameters, "ports": top.ports})
        except TypeError:  # values of this class cannot be compared reliably
            return
        key = repr((function, arguments, top.array, kind, sys.version))
        self._entry = Entry("verilator-known", hashlib.sha256(key.encode()).hexdigest())

    def recall(self) -> Entry | None:
        """Return the build if it is intact and no source has changed."""
        if self._entry is None or not self._entry.intact():
            return None
        kept = json.loads((self._entry.place / _FILE).read_text(encoding="utf-8"))
        if any(_checksum(path) != checksum for path, checksum in kept["sources"].items()):
            return None
        build = Entry("verilator", kept["build"])
        return build if build.intact() else None

    def remember(self, build: Entry, more: Collection[Path] = ()) -> None:
        """Store this build. ``more`` lists sources that are not Python modules.

        Nothing is stored if a source has changed since the program began, because the program has
        loaded an older version.

        Raises:
            BadInput: the cache cannot be used.
        """
        since = began()
        if self._entry is None or since is None:
            return
        sources = {path: _checksum(path) for path in _sources(more)}
        if any(_changed(path) >= since for path in sources):
            return
        text = json.dumps({"build": build.key, "sources": sources})
        self._entry.renewed(lambda folder: (folder / _FILE).write_text(text, encoding="utf-8"))


def _exact(value: object) -> object:
    """Return a representation of a value that no different value has.

    Raises:
        TypeError: no unique representation is known for the class.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return type(value).__qualname__, value
    if isinstance(value, Enum):
        return type(value).__qualname__, value.name
    if isinstance(value, tuple | list):
        return type(value).__qualname__, [_exact(each) for each in value]
    if isinstance(value, Mapping):
        return type(value).__qualname__, [(_exact(k), _exact(v)) for k, v in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value).__module__, type(value).__qualname__, _exact(fields)
    raise TypeError(f"{type(value)}: unknown")


def _sources(more: Collection[Path]) -> list[str]:
    """Return ``more`` and the files of all loaded modules, without Python's standard library."""
    files = {str(path) for path in more} | {
        str(module.__file__)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in sys.stdlib_module_names
        and (getattr(module, "__file__", None) or "").endswith(".py")
    }
    return sorted(files)


def _changed(path: str) -> int:
    """Return the time of the last change of a file, in nanoseconds of the epoch; 0 if missing.

    The result is the change time, because a copy may preserve the modification time.
    """
    try:
        return os.stat(path).st_ctime_ns
    except OSError:
        return 0


def _checksum(path: str) -> str:
    """Return the checksum of a file; empty if it is missing."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return _digest_of(path, found.st_mtime_ns, found.st_size, found.st_ino)


@cache
def _digest_of(path: str, *_: Any) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
