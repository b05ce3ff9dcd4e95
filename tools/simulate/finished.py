"""Results that are stored during a long simulation, so that an interrupted run can resume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.base.names import file_name
from merp.models.network.network import Layer
from merp.models.network.phases import called, made_by, phase_on
from merp.tools.common.json_value import is_number, is_text
from merp.tools.common.seal import Arrays
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.kept_audit import audit_from
from merp.tools.simulate.kept_files import KeptFiles, of_everything
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import Turn, Words, simulated_of

Place = tuple[str, str] | tuple[str, str, int]
"""Name and phase of a layer; for a turn, also its number."""


class Finished:
    """Stores results in the output folder.

    Results of the turns of a phase of a layer are stored until the result of the phase is.
    """

    def __init__(self, kept: KeptFiles, choice: SimulationChoice) -> None:
        """Check that each result can be stored, before the first pass runs.

        Raises:
            BadInput: another entry blocks the path of a file.
        """
        self._kept = kept
        self._choice = choice
        self._machine = simulated_of(choice.network, choice.layers)
        for layer in choice.layers:
            for phase in choice.phases:
                place = _place(choice, layer, phase)
                for name in (_name(place), *self._of_turns(layer, phase)):
                    kept.check(name)

    def load(self, layer: Layer, phase: str) -> PassResult | None:
        """Return the result of a phase of a layer, if an identical run stored it.

        A damaged file is reported and ignored.
        """
        place = _place(self._choice, layer, phase)
        size = self._size(layer, phase)
        found = self._load(layer, phase, place, " ".join(place), size)
        if found is not None:
            self._kept.drop(self._of_turns(layer, phase))
        return found

    def load_turn(self, turn: Turn, number: int) -> PassResult | None:
        """Return the stored result of a turn, by its number in its layer and phase."""
        layer, phase = turn.layer, turn.phase.name
        place = (*_place(self._choice, layer, phase), number)
        size = self._size(layer, phase)
        if size is not None:
            size[self._machine.joint] //= self._machine.turns(self._choice, layer)
        return self._load(layer, phase, place, turn.said, size)

    def _load(
        self, layer: Layer, phase: str, place: Place, said: str, size: list[int] | None
    ) -> PassResult | None:
        def read(about: Mapping[str, Any], arrays: Arrays) -> PassResult:
            return self._result(layer, phase, about, arrays.get("outputs"), size)

        return self._kept.load(_name(place), place, said, read)

    def _result(
        self,
        layer: Layer,
        phase: str,
        about: Mapping[str, Any],
        kept: NDArray[Any] | None,
        size: list[int] | None,
    ) -> PassResult:
        """Return the result in a file; ``size`` is the size of its outputs.

        Raises:
            ValueError, KeyError, TypeError: the file holds no such result.
        """
        outputs = None
        if kept is not None:
            # Outputs of another type were not written by ``_save``.
            outputs = kept.astype(np.uint32, casting="equiv")
        if size != (None if outputs is None else list(outputs.shape)):
            raise ValueError("outputs of another size")
        if outputs is not None and int(outputs.max()) >> self._choice.network.numbers.width:
            raise ValueError("words wider than the format")
        sha, seconds = about["elaboration_sha"], about["build_seconds"]
        if not (is_text(sha) and is_number(seconds)):
            raise ValueError("no build")
        audit = audit_from(about["audit"], self._machine.counters)
        return PassResult(layer, phase, audit, sha, seconds, outputs)

    def _size(self, layer: Layer, phase: str) -> list[int] | None:
        """Return the size of the output maps of the groups that run; None without output maps."""
        if phase_on(self._choice.network, layer, phase).backward:
            return None
        behind = made_by(self._choice.network, layer, phase)
        maps = behind.biases // (1 if self._choice.group is None else layer.groups)
        rows, columns = behind.shape.pooled_rows, behind.shape.pooled_columns
        return [self._choice.images, rows, columns, maps]

    def save(self, result: PassResult) -> None:
        """Store the result of a phase of a layer, and drop those of its turns.

        A crash leaves the whole file or none.
        """
        self._save(result, _place(self._choice, result.layer, result.phase))
        self._kept.drop(self._of_turns(result.layer, result.phase))

    def save_turn(self, result: PassResult, number: int) -> None:
        """Store the result of a turn until ``save``. A single turn is stored by ``save`` only."""
        if self._machine.turns(self._choice, result.layer) > 1:
            place = _place(self._choice, result.layer, result.phase)
            self._save(result, (*place, number))

    def _save(self, result: PassResult, place: Place) -> None:
        about = {
            "audit": asdict(result.audit),
            "elaboration_sha": result.elaboration_sha,
            "build_seconds": result.build_seconds,
        }
        arrays = {} if result.outputs is None else {"outputs": result.outputs}
        self._kept.save(_name(place), place, about, arrays)

    def _of_turns(self, layer: Layer, phase: str) -> list[str]:
        """Return the files of the turns of a phase of a layer."""
        turns = self._machine.turns(self._choice, layer)
        place = _place(self._choice, layer, phase)
        return [_name((*place, number)) for number in range(turns)] if turns > 1 else []


def _place(choice: SimulationChoice, layer: Layer, phase: str) -> tuple[str, str]:
    """Return name and phase of a layer, as in every answer."""
    return called(choice.network, layer, phase), phase


def _name(place: Place) -> str:
    """Return the name of the file."""
    return file_name(*map(str, place), suffix=".npz")


def fingerprint(
    choice: SimulationChoice, image: Words, seed: int, parameters: Mapping[str, bytes]
) -> str:
    """Return a hash of everything that a result depends on.

    The layers and phases of the run are left out: a longer run may reuse the results of a shorter
    one.

    Args:
        choice: the request.
        image: the input of the network.
        seed: seed of the parameters.
        parameters: sources of the parameters, contents by name.
    """
    alike = replace(choice, layers=(), phases=(), wave=None)
    return of_everything(repr((alike, seed)), image, parameters)
