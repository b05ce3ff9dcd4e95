"""What GHDL and Verilator have in common: both are programs that work on files of a folder."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from merp.cosim.engines.programs.children import run
from side_by_side.job import Job

SECONDS = 600  # of the processor, before a simulation counts as one that never ends


class BrokenError(Exception):
    """A common simulation did not come to its end."""


class Engine(ABC):
    """A simulator that gives verdicts on designs."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @abstractmethod
    def verdicts(self, jobs: Sequence[Job]) -> dict[str, str]:
        """The verdict on each exported design."""

    def call(self, command: Sequence[str | Path], environment: Mapping[str, str] | None) -> str:
        """Run a program in the folder; what it printed.

        Raises:
            BrokenError: it fails.
        """
        limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh", *map(str, command)]
        done = run(limited, cwd=self.place, env=environment)
        said = f"{done.stderr}\n{done.stdout}"
        if done.returncode:
            raise BrokenError(said.strip() or f"{command[0]} ends with {done.returncode}")
        return said

    def files(self, job: Job) -> list[str]:
        """The files of a design, as they are called in the folder."""
        return [f"{job.name}/{path.name}" for path in job.export.files]
