"""Files that long work stores in the output folder, so that it can resume.

A file is used only for the same work: the same network, input, choice and sources. A file that is
damaged, forged or incomplete is ignored, and its work runs again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.base.file_format import FINISHED, NewerFormat, check_format, numbered
from merp.models.base.given import name_of
from merp.tools.common.json_file import parse_json
from merp.tools.common.npz import read_npz
from merp.tools.common.output import Output
from merp.tools.common.seal import Arrays, is_whole, sealed
from merp.tools.common.sources import made_by

FOLDER = "finished"

Found = TypeVar("Found")


class KeptFiles:
    """Stored files, by their names."""

    def __init__(
        self, output: Output, fingerprint: str, resume: bool, tell: Callable[[str], object]
    ) -> None:
        """Store files in the folder of ``output``.

        Args:
            output: the output folder.
            fingerprint: hash of everything that the work depends on.
            resume: reuse the files of an identical run.
            tell: callback for a message about each damaged file.
        """
        self._output = output
        self._fingerprint = fingerprint
        self._resume = resume
        self._tell = tell
        self._names: set[str] = set()

    def said(self) -> str:
        """Return a message about the files that an identical run can reuse; "" if there are
        none."""
        if not self._names:
            return ""
        return f"{self._output.said}: finished parts saved: {len(self._names):,}"

    def check(self, name: str) -> None:
        """Check that the file ``name`` can be stored.

        Raises:
            BadInput: another entry blocks its path.
        """
        self._output.check(f"{FOLDER}/{name}")

    def load(
        self,
        name: str,
        place: Sequence[object],
        said: str,
        read: Callable[[Mapping[str, Any], Arrays], Found],
    ) -> Found | None:
        """Return the content of a file as ``read`` parses it, if an identical run stored it.

        A damaged file is reported and ignored.

        Args:
            name: name of the file.
            place: description of its content, as JSON.
            said: the same for people.
            read: parses the JSON and the arrays of the file. It raises a ``ValueError``,
                ``KeyError`` or ``TypeError`` if ``save`` did not write them.
        """
        path = self._output.root / FOLDER / name
        if not self._resume or not path.exists():
            return None
        try:
            kept = read_npz(path)
            check_format(path, kept, FINISHED)
            if not is_whole(kept):
                raise ValueError("the seal is broken")
            about = parse_json(str(kept["about"]), str(path))
            if about["pass"] != list(place):
                raise ValueError("of another pass")
            if about["fingerprint"] != self._fingerprint:
                return None
            found = read(about, kept)
        except NewerFormat:
            raise
        except (BadInput, ValueError, KeyError, TypeError):  # TypeError: no table, no such type
            self._tell(f"{name_of('resume')}: {path}: damaged: {said} runs again")
            return None
        self._names.add(name)
        return found

    def save(
        self, name: str, place: Sequence[object], about: Mapping[str, object], arrays: Arrays
    ) -> None:
        """Store ``about`` as JSON, and arrays; a crash leaves the whole file or none."""
        text = json.dumps({"pass": list(place), "fingerprint": self._fingerprint, **about})
        kept = sealed(numbered({**arrays, "about": np.array(text)}, FINISHED))
        try:
            self._output.write({f"{FOLDER}/{name}": kept})
        except KeyboardInterrupt:  # it may arrive after the file was moved into place
            path = self._output.root / FOLDER / name
            if path.is_file() and path.read_bytes() == kept:
                self._names.add(name)
            raise
        self._names.add(name)

    def drop(self, names: Collection[str]) -> None:
        """Remove files whose content another file holds now, also those of earlier runs."""
        self._output.remove(f"{FOLDER}/{name}" for name in names)
        self._names.difference_update(names)


def of_everything(choice: str, image: NDArray[Any], parameters: Mapping[str, bytes]) -> str:
    """Return a hash of everything that a result depends on.

    Args:
        choice: text of the request.
        image: the input of the network.
        parameters: sources of its parameters, contents by name.
    """
    digest = hashlib.sha256()
    digest.update(choice.encode())
    digest.update(image.tobytes())
    digest.update(made_by()["sources"].encode())
    for name, content in parameters.items():
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()
