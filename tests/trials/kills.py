"""End a verb by a signal while it writes, perhaps twice; then run the verb undisturbed."""

import signal
from random import Random

from child import Ended, complaints
from content import classified, differences, tree
from counts import Counts
from merp.tools.common.stage import SUFFIX
from place import Place
from verbs import NEIGHBOUR

TERMINATED = (signal.SIGTERM, 128 + signal.SIGTERM)
"""Times without a signal handler: at its very beginning a process has nothing to clean up."""

MOVES = ("os.rename", "os.remove", "os.rmdir")


def try_kills(place: Place, numbers: range, seed: int, alone: int) -> Counts:
    """Kill the verb at one moment for each number.

    alone: number of processes that are started, not forked.
    """
    counts = Counts()
    seconds = 0.0
    for number in numbers:
        if number < alone and not seconds:
            seconds, faults = _measured(place)
            counts.faults += faults
        _trial(place, number, seed, seconds if number < alone else 0.0, counts)
    return counts


def _measured(place: Place) -> tuple[float, list[str]]:
    """Return the seconds of a started process, and how its output differs from a forked one's."""
    expected = place.expected("old", place.verb.new)
    place.restore("old")
    ended = place.alone(place.verb.new)
    faults = complaints(ended, "a process of its own")
    return ended.seconds, faults + differences(tree(place.out), expected)


def _trial(place: Place, number: int, seed: int, alone: float, counts: Counts) -> None:
    """Count one trial; alone: seconds that a started process takes, or 0 for a forked one."""
    draw = Random(f"{seed} {place.verb.name} {number}")
    start = place.start(draw)
    expected = place.expected(start, place.verb.new)
    states = place.states(start)
    place.restore(start)
    faults: list[str] = []
    outcome = ""
    for _ in range(1 if draw.random() < 0.75 else 2):
        before = _hidden(place)
        ended = _killed(place, draw, alone)
        outcome, found = classified(place.out, states)
        faults += found
        if ended.status in TERMINATED:
            faults += _left(place, ended, outcome, before)
        elif ended.status is not None:
            counts.alive += 1
            faults += complaints(ended, "not killed")
    if draw.random() < 0.5 and place.out.is_dir():
        faults += complaints(place.tried(NEIGHBOUR).wait(), "the neighbour")
        (place.out / "other.txt").unlink(missing_ok=True)
        left, found = classified(place.out, states)
        faults += [f"after the neighbour: {fault}" for fault in found]
        hidden = _hidden(place)
        if left == "half moved" or hidden:
            faults.append(f"the neighbour left it {left}, with {hidden}")
    faults += complaints(place.tried(place.verb.new).wait(), "the next run")
    faults += differences(tree(place.out), expected)
    counts.add(number, outcome, [f"{outcome}, {fault}" for fault in faults])


def _hidden(place: Place) -> list[str]:
    return [path.name for path in place.out.glob(f"*{SUFFIX}")] if place.out.is_dir() else []


def _left(place: Place, ended: Ended, outcome: str, before: list[str]) -> list[str]:
    """Return the faults in the files of a process that could clean up.

    before: files of a process that was killed earlier; they stay if this one ended before it wrote.
    """
    hidden = _hidden(place)
    left = not before and (hidden or outcome == "half moved")
    faults = [f"SIGTERM left it {outcome}, with {hidden}"] * bool(left)
    other = "".join(each for each in ended.said.splitlines(True) if "; go on with: " not in each)
    return faults + [f"SIGTERM: {other.strip()[:300]}"] * bool(other)


def _killed(place: Place, draw: Random, alone: float) -> Ended:
    """Run the verb and end it at a random moment; by SIGTERM in half of the forked processes.

    A quarter of the moments is uniform over the life of the process. A quarter is uniform over the
    time in which it writes, a quarter over its changes to the file system, and a quarter over the
    changes that move files into place.
    """
    kind, words = draw.random(), place.verb.new
    if alone:
        low = 0.0 if kind < 0.5 else 0.85
        return place.alone(words, alone * (low + (1 - low) * draw.random()))
    signal_ = draw.choice((signal.SIGKILL, signal.SIGTERM))
    seconds, changes = place.ended.seconds, place.ended.changes
    if kind < 0.5:
        low = 0.0 if kind < 0.25 else changes[0][0]
        child = place.tried(words, signal_=signal_)
        child.kill(low + (seconds - low) * draw.random())
        return child.wait()
    moves = [number for number, (_, what) in enumerate(changes) if what in MOVES]
    moment = draw.choice(moves) if kind < 0.75 else draw.randrange(len(changes))
    return place.tried(words, dies_at=moment, signal_=signal_).wait()
