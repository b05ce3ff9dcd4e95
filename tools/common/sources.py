"""The sources of this package. A stored result depends on them and on its input."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import merp.cosim
import merp.hdl
import merp.models
import merp.testbenches
import merp.tools

PACKAGES = (merp.models, merp.hdl, merp.testbenches, merp.cosim, merp.tools)
KINDS = ("*.py", "*.cpp", "*.h")


def sources() -> Sequence[Path]:
    """Return every file of the package that is executed."""
    folders = [Path(each.__path__[0]) for each in PACKAGES]
    return sorted(path for each in folders for kind in KINDS for path in each.rglob(kind))


@cache
def made_by() -> dict[str, str]:
    """Return the version of the package, and the SHA-256 of its sources."""
    digest = hashlib.sha256()
    for source in sources():
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return {"version": metadata.version("merp"), "sources": digest.hexdigest()}
