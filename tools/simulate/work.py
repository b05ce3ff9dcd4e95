"""Run a simulation: lock its outputs, store finished results, write the final results.

All kinds of ``merp simulate`` and ``Network.simulate`` run here. A kind is a ``ReadySimulation``:
layers in one piece (``pieces``), passes of a plan (CNN-MERP), or one start (MAC array).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from merp.models.base.given import name_of
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.resumable import noted
from merp.tools.simulate.kept_files import KeptFiles
from merp.tools.simulate.request import Simulate
from merp.tools.simulate.simulated import Words
from merp.tools.simulate.waves import Waves


class FoundResult(Protocol):
    """The result of a simulation."""

    @property
    def passed(self) -> bool:
        """Whether every check of every pass holds."""

    def answer(self, *, everything: bool) -> dict[str, Any]:
        """Return the answer for programs; ``everything``: all layers or phases were requested."""

    def files(self, answer: dict[str, Any]) -> Mapping[str, str | bytes]:
        """Return the report and pictures, by name."""

    def show(self, *, details: bool) -> None:
        """Print a first screen, or with ``details`` every table."""


class ReadySimulation(Protocol):
    """A simulation that is checked and can run."""

    @property
    def engine(self) -> str:
        """The engine that runs it."""

    @property
    def plan(self) -> str:
        """A line that describes the work."""

    def maps(self, photograph: Path | None) -> Words:
        """Return the default maps of the network."""

    def parameters(self, seed: int, path: Path | None) -> Any:
        """Return the kernels and biases of a file, or initial ones."""

    def finished(
        self, maps: Words, seed: int, sources: Mapping[str, bytes], kept: Callable[[str], KeptFiles]
    ) -> Any:
        """Return the store of finished results; ``kept`` creates the files of a fingerprint."""

    def run(
        self, maps: Words, parameters: Any, finished: Any, waves: Waves | None, progress: Progress
    ) -> Any:
        """Simulate."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a simulation.

    Attributes:
        maps: input maps; None for the photograph.
        parameters: parameters; None for those of the file, or initial ones.
        kernels: file of kernels and biases.
        given: contents of given parameters, by name.
    """

    maps: Words | None
    parameters: Any = None
    kernels: Path | None = None
    given: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Contents of all sources of parameters except the seed, by name; files are read."""
        if self.kernels is None:
            return self.given
        return {self.kernels.name: self.kernels.read_bytes()}


@dataclass(frozen=True)
class Done:
    """The result, and the files that were written."""

    found: Any
    maps: Words
    answer: dict[str, Any]
    paths: tuple[Path, ...]


def simulate(
    ready: ReadySimulation,
    asked: Simulate,
    inputs: Callable[[], Inputs],
    progress: Callable[[str], AbstractContextManager[Progress]],
    tell: Callable[[str], object],
    *,
    everything: bool,
) -> Done:
    """Simulate while the places of the output are locked.

    Messages about damaged files of finished work are passed to ``tell``.

    Args:
        ready: the checked simulation.
        asked: outputs, photograph and seed.
        inputs: creates the inputs after the outputs are locked.
        progress: creates the progress display from a line about the work.
        everything: as for ``FoundResult.answer``.

    Raises:
        BadInput: an output cannot be written, an input is wrong, or a simulator is not installed.
        Stuck: no word moved for too long.
    """
    with ExitStack() as held:
        output = waves = finished = None
        paths: list[Path] = []
        if asked.output is not None:
            output = held.enter_context(Output.of_folder(name_of("output"), Path(asked.output)))
        if asked.wave is not None:
            place = Path(asked.wave)
            waves = held.enter_context(Waves.to(place, asked.wave_of, ready.engine))
            paths += waves.paths(place)
        given = inputs()
        maps = given.maps
        if maps is None:
            maps = ready.maps(None if asked.image is None else Path(asked.image))
        parameters = given.parameters
        if parameters is None:
            parameters = ready.parameters(asked.seed, given.kernels)
        if output is not None:
            where = output

            def kept(fingerprint: str) -> KeptFiles:
                files = KeptFiles(where, fingerprint, asked.resume, tell)
                held.enter_context(noted(files.said))
                return files

            finished = ready.finished(maps, asked.seed, given.sources, kept)
        with progress(ready.plan) as bar:
            found = ready.run(maps, parameters, finished, waves, bar)
        answer = found.answer(everything=everything)
        if output is not None and asked.output is not None:
            files = found.files(answer)
            output.write(files)
            paths += (Path(asked.output) / name for name in files)
    return Done(found, maps, answer, tuple(paths))
