"""Read a folder of output, and determine whether it is old, new or half moved."""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from merp.tools.common.seal import SEAL, is_whole
from merp.tools.common.stage import SUFFIX

Tree = Mapping[str, bytes]
OUTCOMES = ("old", "between", "new", "half moved", "wrong")
"""``between``: a complete state between several sets that a run commits one after the other."""

_SECONDS = ("seconds", "build_seconds")


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file by its path, without seconds, and every folder, as ``path/``."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found[f"{name}/"] = b""
        else:
            found[name] = timeless(path.name, path.read_bytes())
    return found


def timeless(name: str, content: bytes) -> bytes:
    """Return the content of a file without the seconds of a run."""
    if name == "simulate.json":
        with suppress(ValueError):  # a draft whose writer was killed may be half written
            return json.dumps(_without_seconds(json.loads(content))).encode()
    if name == "simulate.txt":
        text = re.sub(r"[\d.,]+ s (for|of building)", r"_ s \1", content.decode())
        return re.sub(r"\([\d,]+ cycles/s\)", "", text).encode()
    if name.endswith(".npz"):
        return _arrays(content)
    return content


def _arrays(content: bytes) -> bytes:
    try:
        with np.load(io.BytesIO(content)) as file:
            arrays = dict(file)
    except (EOFError, ValueError, BadZipFile):  # a draft, or a torn file, which equals no other
        return content
    if "about" not in arrays:
        return content
    if not is_whole(arrays):
        return b"its seal does not hold"
    about = _without_seconds(json.loads(str(arrays["about"])))
    others = [
        (key, array.dtype.str, array.shape, array.tobytes())
        for key, array in sorted(arrays.items())
        if key not in ("about", SEAL)
    ]
    return repr((about, others)).encode()


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_seconds(each) for key, each in value.items() if key not in _SECONDS}
    return [_without_seconds(each) for each in value] if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True)
class States:
    """The possible contents of a folder.

    Attributes:
        old, between, new: files of complete outputs.
        mine: files of the user that were there.
        label: the set of a path; each set is moved into place separately.
        package: whether a set is a whole folder, into which the user's files are moved too.
        hidden: name of the hidden folder.
    """

    old: Tree
    between: Sequence[Tree]
    new: Tree
    mine: Tree
    label: Callable[[str], str]
    package: bool
    hidden: str


def classified(folder: Path, states: States) -> tuple[str, list[str]]:
    """Return one of ``OUTCOMES`` for the files after a kill, and the faults."""
    whole = tree(folder)
    found = {p: c for p, c in whole.items() if not p.endswith("/") and SUFFIX not in p}
    ready = f"{states.hidden}/ready/" in whole
    faults = [f"hidden {path}" for path in _strangers(whole, states.hidden)]
    outcomes = set()
    labels: dict[str, list[str]] = {}
    for path in sorted({path for state in _all(states) for path in state}):
        labels.setdefault(states.label(path), []).append(path)
    for paths in labels.values():
        kind = _kind(found, paths, states, ready)
        if kind == "wrong":
            torn = list(_torn(found, paths, states)) or ["half moved, and nothing is ready"]
            faults += [f"neither old nor new: {path}" for path in torn]
        outcomes.add(kind)
    for path, content in states.mine.items():
        if found.get(path) != content:
            # A package's own folder is moved, and files of others after it.
            if states.package and ready and path not in found and "/" in path:
                outcomes.add("half moved")
            else:
                faults.append(f"the user's {path} is {'changed' if path in found else 'lost'}")
    known = {path for paths in labels.values() for path in paths} | states.mine.keys()
    faults += [f"stray {path}" for path in sorted(found.keys() - known)]
    outcomes.discard("same")
    if faults:
        return "wrong", faults
    if "half moved" in outcomes:
        return "half moved", []
    return (outcomes.pop() if len(outcomes) == 1 else "between"), []


def _all(states: States) -> tuple[Tree, ...]:
    return states.old, *states.between, states.new


def _strangers(whole: Tree, hidden: str) -> Iterator[str]:
    for path in whole:
        if SUFFIX in path and not path.startswith(f"{hidden}/"):
            yield path


def _kind(found: Tree, paths: Sequence[str], states: States, ready: bool) -> str:
    def are(state: Tree) -> bool:
        return all(found.get(path) == state.get(path) for path in paths)

    if are(states.new):
        return "same" if all(states.old.get(p) == states.new.get(p) for p in paths) else "new"
    if are(states.old):
        return "old"
    if any(map(are, states.between)):
        return "between"
    torn = list(_torn(found, paths, states))
    # A package moves by one rename: either all of it is moved away, or nothing.
    may_be = not any(path in found for path in paths) if states.package else not torn
    return "half moved" if ready and len(paths) > 1 and may_be else "wrong"


def _torn(found: Tree, paths: Sequence[str], states: States) -> Iterator[str]:
    """Yield files that belong neither to one complete output nor to another."""
    for path in paths:
        if found.get(path) not in (states.old.get(path), states.new.get(path)):
            yield path


def differences(found: Tree, wanted: Tree) -> list[str]:
    """Return the paths that differ, by kind of difference."""
    return [
        *(f"left over: {path}" for path in sorted(found.keys() - wanted.keys())),
        *(f"missing: {path}" for path in sorted(wanted.keys() - found.keys())),
        *(f"differs: {p}" for p in sorted(found.keys() & wanted.keys()) if found[p] != wanted[p]),
    ]
