"""Count the outcomes of trials."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Counts:
    """The results of the trials of one kind.

    Attributes:
        outcomes: trials by the remaining files.
        faults: the faults, each with the number of its trial.
        alive: trials in which the process ended before its moment.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    alive: int = 0

    def add(self, number: int, outcome: str, faults: Sequence[str]) -> None:
        """Count a trial; with faults it is wrong, independent of its outcome."""
        self.outcomes["wrong" if faults else outcome] += 1
        self.faults += [f"{number}: {fault}" for fault in faults]
