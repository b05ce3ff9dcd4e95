"""A waveform and its views for GTKWave and Surfer, written as one set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from merp.cosim.engines.engine import check_wave
from merp.cosim.phases.audit.wave_file import last_time, signals
from merp.models.base.given import name_of
from merp.testbenches.top.run import Stuck
from merp.testbenches.top.top import TopPorts
from merp.testbenches.top.wave import Wave
from merp.tools.common.output import Output
from merp.tools.simulate.wave_views import gtkwave, surfer


class Waves:
    """The place of a waveform while a simulation writes it.

    Attributes:
        wave: the draft of the waveform.
    """

    def __init__(self, output: Output, part: str | None) -> None:
        """Create the drafts; ``part`` of the design is as for ``Wave.of``."""
        self.wave = Wave.of(output.draft(output.name), part)
        self._output = output
        self._views = {
            suffix: Path(output.name).with_suffix(suffix).name for suffix in (".gtkw", ".sucl")
        }
        for view in self._views.values():
            output.check(view)

    @classmethod
    @contextmanager
    def to(cls, path: Path, part: str | None, engine: str) -> Iterator[Waves]:
        """Hold the place ``path``.

        Raises:
            BadInput: the path or its suffix is not allowed, or the engine writes no such waveform.
        """
        check_wave(path, engine)
        with Output.of_file(name_of("wave"), path) as output:
            yield cls(output, part)

    def paths(self, place: Path) -> list[Path]:
        """Return the paths of the waveform at ``place`` and of its views."""
        return [place, *(place.with_name(view) for view in self._views.values())]

    @contextmanager
    def kept(self, ports: TopPorts) -> Iterator[None]:
        """Put the waveform that is written in this context into its place, with its views.

        This includes the waveform of a stuck run, because it shows the reason. ``ports`` are those
        of the simulated top.
        """
        try:
            yield
        except Stuck:
            self._commit(ports)
            raise
        self._commit(ports)

    def _commit(self, ports: TopPorts) -> None:
        found, end = signals(self.wave.path), last_time(self.wave.path)
        self._output.add(
            {
                self._views[".gtkw"]: gtkwave(self._output.name, found, ports, end),
                self._views[".sucl"]: surfer(found, ports),
            }
        )
        self._output.commit()
