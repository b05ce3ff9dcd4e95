"""The cache of builds: its builder is killed, and two processes want one entry."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from random import Random

from child import Child, Ended, Plant
from counts import Counts

from merp.cosim.build_cache import SUMS, Entry

KEY = "key"
FILES = {f"part{number}": bytes([number]) * 1000 for number in range(6)}


def try_cache_kills(folder: Path, numbers: range, seed: int, plant: Plant | None) -> Counts:
    """Kill a build at one moment for each number, with nothing there or a damaged entry."""
    counts = Counts()
    kept = _Kept(folder)
    kept.damage()
    whole = kept.child(notes=True).wait()
    for number in numbers:
        draw = Random(f"{seed} cache {number}")
        kept.clear()
        if draw.random() < 0.5:
            kept.damage()
        moment = draw.randrange(len(whole.changes))
        if draw.random() < 0.5:
            child = kept.child(dies_at=moment, plant=plant)
        else:
            child = kept.child(plant=plant)
            child.kill(whole.seconds * draw.random())
        ended = child.wait()
        counts.alive += ended.status is not None
        faults = [] if ended.status is None else _complaints(ended)
        intact = Entry("verilator", KEY).intact()
        if intact and kept.files() != FILES:
            faults.append("intact, and not what was built")
        faults += _complaints(kept.child(plant=plant).wait()) + kept.faults()
        counts.add(number, "new" if intact else "old", faults)
    return counts


def try_cache_pairs(folder: Path, numbers: range, seed: int, plant: Plant | None) -> Counts:
    """Two processes want one entry, half of them together: one builds, the other waits."""
    counts = Counts()
    kept = _Kept(folder)
    for number in numbers:
        draw = Random(f"{seed} cache pair {number}")
        kept.clear()
        if draw.random() < 0.5:
            kept.damage()
        first = kept.child(plant=plant)
        if draw.random() < 0.5:
            first.wait_for(0.1 * draw.random())
        second = kept.child(plant=plant)
        faults = [fault for each in (first, second) for fault in _complaints(each.wait())]
        built = kept.told.read_text().count("\n")
        if built != 1:
            faults.append(f"built {built} times")
        counts.add(number, "both", faults + kept.faults())
    return counts


class _Kept:
    """A cache of one entry, and a builder that takes a little time.

    Attributes:
        told: a file with one line for each build.
    """

    def __init__(self, folder: Path) -> None:
        self.told = folder / "told"
        self._cache = folder / "cache"
        self._folder = folder
        self._children = 0
        os.environ["MERP_CACHE"] = str(self._cache)

    def clear(self) -> None:
        """Empty it."""
        shutil.rmtree(self._cache, ignore_errors=True)
        self.told.write_text("")

    def damage(self) -> None:
        """Put an entry there, of which one file is changed."""
        place = Entry("verilator", KEY).kept(self._make)
        (place / "part0").write_bytes(b"damaged")
        self.told.write_text("")

    def child(self, **how: object) -> Child:
        """Start a process that wants the entry."""
        self._children += 1
        said = self._folder / f"said-{self._children % 2}"
        return Child(self._want, self._folder, said, **how)  # type: ignore[arg-type]

    def files(self) -> dict[str, bytes]:
        """What is kept."""
        place = Entry("verilator", KEY).place
        return {path.name: path.read_bytes() for path in place.iterdir() if path.name != SUMS}

    def faults(self) -> list[str]:
        """What is wrong with the cache after all have ended."""
        found = sorted(path.name for path in (self._cache / "verilator").iterdir())
        faults = [] if found == [KEY, f"{KEY}.lock"] else [f"left over: {', '.join(found)}"]
        if not Entry("verilator", KEY).intact() or self.files() != FILES:
            faults.append("the entry is not intact")
        return faults

    def _want(self) -> int:
        place = Entry("verilator", KEY).kept(self._make)
        return 0 if len(list(place.iterdir())) == len(FILES) + 1 else 1

    def _make(self, folder: Path) -> None:
        with self.told.open("a") as told:
            told.write("built\n")
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
            time.sleep(0.002)


def _complaints(ended: Ended) -> list[str]:
    if (ended.status, ended.said) == (0, ""):
        return []
    return [f"status {ended.status}: {ended.said.strip()[:300]}"]


