"""Results that are kept while a long simulation runs, so that an interrupted one can go on.

A result counts only for the very run that made it: the same network, input, choice and sources,
and only as it was written: one that is damaged, forged or incomplete is made again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import merp.cosim
import merp.hdl
import merp.models
import merp.testbenches
import merp.tools
from merp.cosim.audit.audit import Audit
from merp.models.errors import BadInput
from merp.models.network.network import Layer
from merp.models.params.bits import Bits
from merp.models.params.names import file_name
from merp.tools.common.npz import read_npz
from merp.tools.common.output import Output
from merp.tools.common.seal import is_whole, sealed
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.result import Result

PACKAGES = (merp.models, merp.hdl, merp.testbenches, merp.cosim, merp.tools)
KINDS = ("*.py", "*.cpp")


class Finished:
    """Keeps results in the folder of an output."""

    def __init__(self, output: Output, fingerprint: str, resume: bool) -> None:
        self._output = output
        self._fingerprint = fingerprint
        self._resume = resume

    def load(self, layer: Layer, phase: str) -> Result | None:
        """The result of a pass, if it was kept by an equal run.

        One that is not as it was kept is none, and said to be.
        """
        path = self._output.root / _name(layer, phase)
        if not self._resume or not path.exists():
            return None
        try:
            kept = read_npz(path)
            about = dict(json.loads(str(kept["about"]))) if is_whole(kept) else {}
            words = kept.get("outputs")
            # Of another type they are not what was kept.
            outputs = None if words is None else words.astype(np.uint32, casting="equiv")
        except (BadInput, ValueError, KeyError, TypeError):
            about, outputs = {}, None
        if about.get("pass") != [layer.name, phase]:
            said = f"merp: --resume: {path}: not as it was kept: {layer.name} {phase} runs again"
            print(said, file=sys.stderr)
            return None
        if about["fingerprint"] != self._fingerprint:
            return None
        audit = about["audit"]
        audit |= {key: tuple(audit[key]) for key in ("failures", "maps")}
        return Result(
            layer, phase, Audit(**audit), about["elaboration_sha"], about["build_seconds"],
            outputs,
        )  # fmt: skip

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


def fingerprint(choice: Choice, image: Bits, seed: int, kernels: Path | None) -> str:
    """Name everything that a result depends on.

    Which layers and phases run is left out: a longer run may take a shorter one's results.

    image: what goes into the network. seed, kernels: what its parameters come from.
    """
    digest = hashlib.sha256()
    alike = replace(choice, layers=(), phases=(), vcd=None)
    digest.update(repr((alike, seed)).encode())
    digest.update(image.tobytes())
    for source in (*([kernels] if kernels else []), *_sources()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _sources() -> Sequence[Path]:
    folders = [Path(each.__path__[0]) for each in PACKAGES]
    return sorted(path for each in folders for kind in KINDS for path in each.rglob(kind))
