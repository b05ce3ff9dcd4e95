"""Results that are kept while a long simulation runs, so that an interrupted one can go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.network.network import Layer
from merp.models.network.phases import PAIR, called, made_by
from merp.models.params.names import file_name
from merp.tools.common.json_value import is_number, is_text
from merp.tools.common.seal import Arrays
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.kept_audit import audit_from
from merp.tools.simulate.kept_files import KeptFiles, of_everything
from merp.tools.simulate.machine import Words
from merp.tools.simulate.machines import machine_of
from merp.tools.simulate.result import Result


class Finished:
    """Keeps results in the folder of an output."""

    def __init__(self, kept: KeptFiles, choice: Choice) -> None:
        """See that a result of each pass can be kept, before the first one runs.

        Raises:
            BadInput: something stands in the way.
        """
        for layer in choice.layers:
            for phase in choice.phases:
                kept.check(file_name(*_place(choice, layer, phase), suffix=".npz"))
        self._kept = kept
        self._choice = choice
        self._counters = machine_of(choice.network, choice.layers).counters

    def load(self, layer: Layer, phase: str) -> Result | None:
        """The result of a pass, if it was kept by an equal run.

        One that is not as it was kept is none, and said to be.
        """

        def read(about: Mapping[str, Any], arrays: Arrays) -> Result:
            return self._result(layer, phase, about, arrays.get("outputs"))

        place = _place(self._choice, layer, phase)
        return self._kept.load(file_name(*place, suffix=".npz"), place, " ".join(place), read)

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
        size = self._size(layer, phase) if phase in ("fp", PAIR) else None
        if size != (None if outputs is None else outputs.shape):
            raise ValueError("outputs of another size")
        if outputs is not None and int(outputs.max()) >> self._choice.network.numbers.width:
            raise ValueError("words wider than the format")
        sha, seconds = about["elaboration_sha"], about["build_seconds"]
        if not (is_text(sha) and is_number(seconds)):
            raise ValueError("no build")
        audit = audit_from(about["audit"], self._counters)
        return Result(layer, phase, audit, sha, seconds, outputs)

    def _size(self, layer: Layer, phase: str) -> tuple[int, ...]:
        """Of the output maps of the groups that run."""
        behind = made_by(self._choice.network, layer, phase)
        maps = behind.biases // (1 if self._choice.group is None else layer.groups)
        rows, columns = behind.shape.pooled_rows, behind.shape.pooled_columns
        return self._choice.images, rows, columns, maps

    def save(self, result: Result) -> None:
        """Keep a result; a crash leaves the whole file or none."""
        about = {
            "audit": asdict(result.audit),
            "elaboration_sha": result.elaboration_sha,
            "build_seconds": result.build_seconds,
        }
        arrays = {} if result.outputs is None else {"outputs": result.outputs}
        place = _place(self._choice, result.layer, result.phase)
        self._kept.save(file_name(*place, suffix=".npz"), place, about, arrays)


def _place(choice: Choice, layer: Layer, phase: str) -> tuple[str, str]:
    """Name and phase of a pass, as every answer has them."""
    return called(choice.network, layer, phase), phase


def fingerprint(choice: Choice, image: Words, seed: int, parameters: Mapping[str, bytes]) -> str:
    """Name everything that a result depends on.

    Which layers and phases run is left out: a longer run may take a shorter one's results.

    image: what goes into the network. seed, parameters: what its parameters come from, contents by
    name.
    """
    alike = replace(choice, layers=(), phases=(), wave=None)
    return of_everything(repr((alike, seed)), image, parameters)
