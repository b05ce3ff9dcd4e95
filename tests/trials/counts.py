"""What trials came to, counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Counts:
    """What the trials of one kind came to.

    Attributes:
        outcomes: trials by what was left.
        faults: what was wrong, each with the number of its trial.
        alive: trials in which the process ended before its moment.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    alive: int = 0

    def add(self, number: int, outcome: str, faults: Sequence[str]) -> None:
        """Count a trial; one with faults is wrong, whatever was left."""
        self.outcomes["wrong" if faults else outcome] += 1
        self.faults += [f"{number}: {fault}" for fault in faults]
