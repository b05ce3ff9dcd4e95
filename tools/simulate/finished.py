"""Results that are kept while a long simulation runs, so that an interrupted one can go on.

A result counts only for the very run that made it: the same network, input, choice and sources,
and only as it was written: one that is damaged, forged or incomplete is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import merp.cosim
import merp.hdl
import merp.models
import merp.testbenches
import merp.tools
from merp.models.errors import BadInput
from merp.models.given import name_of
from merp.models.network.network import Layer
from merp.models.params.bits import Bits
from merp.models.params.names import file_name
from merp.tools.common.json_file import parse_json
from merp.tools.common.json_value import is_number, is_text
from merp.tools.common.npz import read_npz
from merp.tools.common.output import Output
from merp.tools.common.seal import is_whole, sealed
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.kept_audit import audit_from
from merp.tools.simulate.result import Result

PACKAGES = (merp.models, merp.hdl, merp.testbenches, merp.cosim, merp.tools)
KINDS = ("*.py", "*.cpp")


class Finished:
    """Keeps results in the folder of an output."""

    def __init__(
        self,
        output: Output,
        choice: Choice,
        fingerprint: str,
        resume: bool,
        tell: Callable[[str], object],
    ) -> None:
        """See that a result of each pass can be kept, before the first one runs.

        ``tell`` is told of each that is not as it was kept.

        Raises:
            BadInput: something stands in the way.
        """
        for layer in choice.layers:
            for phase in choice.phases:
                output.check(_name(layer, phase))
        self._output = output
        self._choice = choice
        self._fingerprint = fingerprint
        self._resume = resume
        self._tell = tell

    def load(self, layer: Layer, phase: str) -> Result | None:
        """The result of a pass, if it was kept by an equal run.

        One that is not as it was kept is none, and said to be.
        """
        path = self._output.root / _name(layer, phase)
        if not self._resume or not path.exists():
            return None
        try:
            kept = read_npz(path)
            if not is_whole(kept):
                raise ValueError("the seal is broken")
            about = parse_json(str(kept["about"]), str(path))
            if about["pass"] != [layer.name, phase]:
                raise ValueError("of another pass")
            if about["fingerprint"] != self._fingerprint:
                return None
            return self._result(layer, phase, about, kept.get("outputs"))
        except (BadInput, ValueError, KeyError, TypeError):  # TypeError: no table, no such type
            where = f"{name_of('resume')}: {path}"
            self._tell(f"{where}: not as it was kept: {layer.name} {phase} runs again")
            return None

    def _result(
        self, layer: Layer, phase: str, about: Mapping[str, Any], kept: NDArray[Any] | None
    ) -> Result:
        """The result that a file is of.

        Raises:
            ValueError, KeyError, TypeError: of no such one.
        """
        outputs = None
        if kept is not None:
            # Of another type they are not what was kept.
            outputs = kept.astype(np.uint32, casting="equiv")
        size = self._size(layer) if phase == "fp" else None
        if size != (None if outputs is None else outputs.shape):
            raise ValueError("outputs of another size")
        if outputs is not None and int(outputs.max()) >> self._choice.network.fmt.width:
            raise ValueError("words wider than the format")
        sha, seconds = about["elaboration_sha"], about["build_seconds"]
        if not (is_text(sha) and is_number(seconds)):
            raise ValueError("no build")
        return Result(layer, phase, audit_from(about["audit"]), sha, seconds, outputs)

    def _size(self, layer: Layer) -> tuple[int, ...]:
        """Of the output maps of the groups that run."""
        groups = layer.groups if self._choice.group is None else 1
        rows, columns = layer.shape.pooled_rows, layer.shape.pooled_columns
        return self._choice.images, rows, columns, groups * layer.shape.m

    def save(self, result: Result) -> None:
        """Keep a result; a crash leaves the whole file or none."""
        about = {
            "pass": [result.layer.name, result.phase],
            "fingerprint": self._fingerprint,
            "audit": asdict(result.audit),
            "elaboration_sha": result.elaboration_sha,
            "build_seconds": result.build_seconds,
        }
        arrays: dict[str, Any] = {} if result.outputs is None else {"outputs": result.outputs}
        arrays["about"] = np.array(json.dumps(about))
        self._output.write({_name(result.layer, result.phase): sealed(arrays)})


def _name(layer: Layer, phase: str) -> str:
    return f"finished/{file_name(layer.name, phase, suffix='.npz')}"


def fingerprint(choice: Choice, image: Bits, seed: int, parameters: Mapping[str, bytes]) -> str:
    """Name everything that a result depends on.

    Which layers and phases run is left out: a longer run may take a shorter one's results.

    image: what goes into the network. seed, parameters: what its parameters come from, contents by
    name.
    """
    digest = hashlib.sha256()
    alike = replace(choice, layers=(), phases=(), wave=None)
    digest.update(repr((alike, seed)).encode())
    digest.update(image.tobytes())
    sources = ((source.name, source.read_bytes()) for source in _sources())
    for name, content in (*parameters.items(), *sources):
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def _sources() -> Sequence[Path]:
    folders = [Path(each.__path__[0]) for each in PACKAGES]
    return sorted(path for each in folders for kind in KINDS for path in each.rglob(kind))
