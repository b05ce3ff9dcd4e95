"""The search for a smaller design with the same fault."""

import itertools
import re
from pathlib import Path
from random import Random
from time import monotonic

from random_designs.driving import is_proper
from random_designs.judging import judged
from random_designs.reducing import reductions
from random_designs.source import Program


def shrunk(
    of: Program,
    verdict: str,
    engine: str,
    folder: Path,
    seconds: float = 120,
    batch: int = 40,
) -> tuple[Program, str]:
    """A smaller program with the same symptom, and the verdict on it.

    Args:
        of: the program. verdict: on it.
        engine: of the verdicts. folder: where files are written.
        seconds: after these no more candidates are tried.
        batch: how many candidates there are in one simulation.
    """
    wanted = symptom(verdict)
    begun = monotonic()
    dice = Random(1)
    rounds = itertools.count()
    while monotonic() - begun < seconds:
        smaller = {
            str(each): each
            for each in reductions(of)
            if each.size() < of.size() and is_proper(each)
        }
        left = sorted(smaller.values(), key=Program.size)
        rest = left[batch // 2 :]
        dice.shuffle(rest)
        left[batch // 2 :] = rest  # the smallest ones come first, and rarely keep the fault
        best: tuple[Program, str] | None = None
        while left and best is None and monotonic() - begun < seconds:
            tried, left = left[:batch], left[batch:]
            said = judged(tried, engine, folder / f"round{next(rounds)}")
            good = [pair for pair in zip(tried, said, strict=True) if symptom(pair[1]) == wanted]
            best = min(good, key=lambda pair: pair[0].size(), default=None)
        if best is None:
            break
        of, verdict = best
    return of, verdict


def symptom(verdict: str) -> str:
    """What is the same in the verdicts on designs with the same fault: no places, no numbers."""
    if verdict.startswith("differs: cycle"):
        return "differs: cycle"
    return re.sub(r"\S*/\S*|\d+", "", verdict)
