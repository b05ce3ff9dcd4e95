"""Files in the folder of an output, that are kept while long work runs, so that it can go on.

What is in one counts only for the very work that made it: the same network, input, choice and
sources, and only as it was written: one that is damaged, forged or incomplete is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.tools.common.json_file import parse_json
from merp.tools.common.npz import read_npz
from merp.tools.common.output import Output
from merp.tools.common.seal import Arrays, is_whole, sealed
from merp.tools.common.sources import made_by

FOLDER = "finished"

Found = TypeVar("Found")


class KeptFiles:
    """What is kept, by the names of files."""

    def __init__(
        self, output: Output, fingerprint: str, resume: bool, tell: Callable[[str], object]
    ) -> None:
        """In the folder of ``output``.

        fingerprint: of everything that the work depends on. resume: take what an equal run kept.
        tell: is told of each that is not as it was kept.
        """
        self._output = output
        self._fingerprint = fingerprint
        self._resume = resume
        self._tell = tell
        self._names: set[str] = set()

    def said(self) -> str:
        """What an equal run can take from here; "" if nothing."""
        if not self._names:
            return ""
        return f"{self._output.said}: finished parts saved: {len(self._names):,}"

    def check(self, name: str) -> None:
        """See that ``name`` can be kept.

        Raises:
            BadInput: something stands in the way.
        """
        self._output.check(f"{FOLDER}/{name}")

    def load(
        self,
        name: str,
        place: Sequence[object],
        said: str,
        read: Callable[[Mapping[str, Any], Arrays], Found],
    ) -> Found | None:
        """What ``read`` makes of a file, if it was kept by an equal run.

        One that is not as it was kept is none, and said to be.

        Args:
            place: what it is of, as JSON. said: the same for people.
            read: makes it of what is said about it, and arrays. What they are not of it tells by a
                ``ValueError``, ``KeyError`` or ``TypeError``.
        """
        path = self._output.root / FOLDER / name
        if not self._resume or not path.exists():
            return None
        try:
            kept = read_npz(path)
            if not is_whole(kept):
                raise ValueError("the seal is broken")
            about = parse_json(str(kept["about"]), str(path))
            if about["pass"] != list(place):
                raise ValueError("of another pass")
            if about["fingerprint"] != self._fingerprint:
                return None
            found = read(about, kept)
        except (BadInput, ValueError, KeyError, TypeError):  # TypeError: no table, no such type
            self._tell(f"{name_of('resume')}: {path}: not as it was kept: {said} runs again")
            return None
        self._names.add(name)
        return found

    def save(
        self, name: str, place: Sequence[object], about: Mapping[str, object], arrays: Arrays
    ) -> None:
        """Keep what ``about`` says as JSON, and arrays; a crash leaves the whole file or none."""
        text = json.dumps({"pass": list(place), "fingerprint": self._fingerprint, **about})
        kept = sealed({**arrays, "about": np.array(text)})
        try:
            self._output.write({f"{FOLDER}/{name}": kept})
        except KeyboardInterrupt:  # it may strike when the file is in its place
            path = self._output.root / FOLDER / name
            if path.is_file() and path.read_bytes() == kept:
                self._names.add(name)
            raise
        self._names.add(name)

    def drop(self, names: Collection[str]) -> None:
        """Remove what another file now holds, whichever run kept it."""
        self._output.remove(f"{FOLDER}/{name}" for name in names)
        self._names.difference_update(names)


def of_everything(choice: str, image: NDArray[Any], parameters: Mapping[str, bytes]) -> str:
    """Name everything that a result depends on.

    choice: what was asked for. image: what goes into the network. parameters: what its parameters
    come from, contents by name.
    """
    digest = hashlib.sha256()
    digest.update(choice.encode())
    digest.update(image.tobytes())
    digest.update(made_by()["sources"].encode())
    for name, content in parameters.items():
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()
