"""Try the cache of builds: kill its builder, and let two processes request one entry."""

import os
import shutil
import time
from pathlib import Path
from random import Random

from child import Child, Plant, complaints
from counts import Counts
from merp.cosim.engines.programs.build_cache import SUMS, Entry

ENTRY = Entry("verilator", "key")
FILES = {f"part{number}": bytes([number]) * 1000 for number in range(6)}


class Kept:
    """A cache of one entry, and a builder that takes a little time.

    Attributes:
        told: a file with one line for each build.
    """

    def __init__(self, folder: Path, plant: Plant | None = None) -> None:
        self.told = folder / "told"
        self._cache = folder / "cache"
        self._folder = folder
        self._children = 0
        self._plant = plant
        os.environ["MERP_CACHE"] = str(self._cache)

    def clear(self) -> None:
        """Empty the cache."""
        shutil.rmtree(self._cache, ignore_errors=True)
        self.told.write_text("")

    def damage(self) -> None:
        """Write an entry with one changed file."""
        place = ENTRY.kept(self._make)
        (place / "part0").write_bytes(b"damaged")
        self.told.write_text("")

    def child(self, **how: object) -> Child:
        """Start a process that requests the entry."""
        self._children += 1
        said = self._folder / f"said-{self._children % 2}"
        return Child(self._want, self._folder, said, plant=self._plant, **how)  # type: ignore[arg-type]

    def files(self) -> dict[str, bytes]:
        """Return the files of the cache."""
        place = ENTRY.place
        return {path.name: path.read_bytes() for path in place.iterdir() if path.name != SUMS}

    def faults(self) -> list[str]:
        """Return the faults of the cache after all processes have ended."""
        found = sorted(path.name for path in (self._cache / "verilator").iterdir())
        faults = [] if found == ["key", "key.lock"] else [f"left over: {', '.join(found)}"]
        if not ENTRY.intact() or self.files() != FILES:
            faults.append("the entry is not intact")
        return faults

    def _want(self) -> int:
        place = ENTRY.kept(self._make)
        return 0 if len(list(place.iterdir())) == len(FILES) + 1 else 1

    def _make(self, folder: Path) -> None:
        with self.told.open("a") as told:
            told.write("built\n")
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
            time.sleep(0.002)


def try_kills(kept: Kept, numbers: range, seed: int) -> Counts:
    """Kill a build at one moment for each number, with an empty cache or a damaged entry."""
    counts = Counts()
    kept.damage()
    whole = kept.child(notes=True).wait()
    for number in numbers:
        draw = Random(f"{seed} cache {number}")
        kept.clear()
        if draw.random() < 0.5:
            kept.damage()
        if draw.random() < 0.5:
            child = kept.child(dies_at=draw.randrange(len(whole.changes)))
        else:
            child = kept.child()
            child.kill(whole.seconds * draw.random())
        ended = child.wait()
        counts.alive += ended.status is not None
        faults = [] if ended.status is None else complaints(ended, "not killed")
        intact = ENTRY.intact()
        if intact and kept.files() != FILES:
            faults.append("intact, and not what was built")
        faults += complaints(kept.child().wait(), "the next run") + kept.faults()
        counts.add(number, "new" if intact else "old", faults)
    return counts


def try_pairs(kept: Kept, numbers: range, seed: int) -> Counts:
    """Let two processes request one entry, half of them together: one builds, the other waits."""
    counts = Counts()
    for number in numbers:
        draw = Random(f"{seed} cache pair {number}")
        kept.clear()
        if draw.random() < 0.5:
            kept.damage()
        first = kept.child()
        if draw.random() < 0.5:
            first.wait_for(0.1 * draw.random())
        second = kept.child()
        faults = [fault for each in (first, second) for fault in complaints(each.wait(), "a run")]
        built = kept.told.read_text().count("\n")
        if built != 1:
            faults.append(f"built {built} times")
        counts.add(number, "both", faults + kept.faults())
    return counts
