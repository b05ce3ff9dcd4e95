"""The walk of ``merp simulate`` from its options to the hardware: ``python tests/house/walk.py``.

It follows what was asked for through the calls of one run, until an engine takes the job: the
functions that take an object of ``CARRIERS``, in the order in which they are first called. A room
is a folder or file directly below a tree.

- a *stay* is in the room of the function before
- a *climb* is called from a room that it stands above: one that its own room imports, directly or
  not, while the other does not import it
- a *return* is in another room than the function before, in which the walk has been

``--places`` prints climbs and returns, each with its caller.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from figures import TREES, imported, package

from checkout import ROOT

COMMAND = ("simulate", "digits", "--layer", "conv1", "--rows", "4")
CARRIERS = frozenset({"Namespace", "SimulateOptions", "Picked", "Choice", "Pieces", "Job"})
"""Classes of what carries a request, by their names."""

END = ("cosim/engines/engine.py", "run_job")


class Step(NamedTuple):
    """A function that is called for the first time, by paths below the root and names."""

    caller: str
    name: str
    room: str
    from_room: str


def room_of(path: str) -> str:
    """Tree and room of a file."""
    tree, room, *_ = Path(path).parts
    return f"{tree}.{Path(room).stem}"


@cache
def direct() -> dict[str, frozenset[str]]:
    """Of each room of the package, the rooms that it imports."""
    found: dict[str, set[str]] = {}
    for source in package():
        if len(source.path.parts) > 1:
            mine = found.setdefault(room_of(str(source.path)), set())
            mine |= {room_of(str(p)) for p in imported(source) if len(p.parts) > 1}
    return {room: frozenset(others - {room}) for room, others in found.items()}


@cache
def reached(room: str) -> frozenset[str]:
    """Rooms that a room imports, directly or not."""
    found: set[str] = set()
    ahead = [room]
    while ahead:
        for other in direct().get(ahead.pop(), ()):
            if other not in found:
                found.add(other)
                ahead.append(other)
    return frozenset(found)


def walk() -> list[Step]:
    """The steps of the command."""
    from merp.tools.cli import main

    steps: list[Step] = []
    seen: set[CodeType] = set()
    ended = False

    def path_of(frame: FrameType | None) -> str | None:
        if frame is None:
            return None
        file = os.path.realpath(frame.f_code.co_filename)
        if not file.startswith(f"{ROOT}{os.sep}"):
            return None
        path = Path(file).relative_to(ROOT)
        return str(path) if path.parts[0] in TREES and len(path.parts) > 1 else None

    def called(frame: FrameType, event: str, _: Any) -> None:
        nonlocal ended
        if ended or event != "call" or frame.f_code in seen or frame.f_code.co_name == "<module>":
            return
        here = path_of(frame)
        if here is None:
            return
        code = frame.f_code
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if not any(type(frame.f_locals.get(each)).__name__ in CARRIERS for each in taken):
            return
        seen.add(code)
        name = frame.f_code.co_qualname
        ended = (here, name) == END
        back = frame.f_back
        while back is not None and path_of(back) is None:
            back = back.f_back
        before = path_of(back)
        if back is not None and before is not None and back.f_code.co_name != "<module>":
            caller = f"{before}:{back.f_code.co_qualname}"
            steps.append(Step(caller, f"{here}:{name}", room_of(here), room_of(before)))

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        sys.setprofile(called)
        try:
            status = main(COMMAND)
        finally:
            sys.setprofile(None)
    assert (status, ended) == (0, True)
    return steps


def climbs(steps: list[Step]) -> Iterator[Step]:
    """Calls of what stands above the caller."""
    for step in steps:
        if step.from_room in reached(step.room) and step.room not in reached(step.from_room):
            yield step


def returns(steps: list[Step]) -> Iterator[Step]:
    """Steps from another room into one that the walk has been in before."""
    been: set[str] = set()
    before = ""
    for step in steps:
        if step.room != before and step.room in been:
            yield step
        been.add(step.room)
        before = step.room


def summary(steps: list[Step] | None = None) -> str:
    """Stays, rooms, climbs and returns, in a line."""
    steps = walk() if steps is None else steps
    stays = sum(one.room == other.room for one, other in pairwise(steps))
    rooms = len({step.room for step in steps})
    return (
        f"stays {stays}, rooms {rooms}, climbs {len(list(climbs(steps)))}, "
        f"returns {len(list(returns(steps)))}"
    )


def main() -> int:
    """Print the figures, or the places."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--places", action="store_true", help="climbs and returns")
    args = parser.parse_args()
    steps = walk()
    if args.places:
        for kind, found in (("climb", climbs(steps)), ("return", returns(steps))):
            for step in found:
                print(f"{kind}: {step.caller} -> {step.name}")
    print(summary(steps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
