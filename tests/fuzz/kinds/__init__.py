"""Collect the kinds of cases: each makes its input in the sandbox and runs a command line on it."""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from harness import clear
from kinds.arrays import npz
from kinds.caches import caches
from kinds.checkpoints import checkpoints, runs
from kinds.environment import environment
from kinds.images import images
from kinds.models import models
from kinds.networks import toml
from kinds.options import options
from kinds.results import results
from kinds.sizes import sizes
from kinds.spellings import spellings
from kinds.surroundings import surroundings
from kinds.vectors import vectors

KINDS: dict[str, tuple[Callable[[Random], list[str]], int]] = {
    "toml": (toml, 764),
    "models": (models, 100),
    "spellings": (spellings, 41),
    "npz": (npz, 200),
    "vectors": (vectors, 200),
    "images": (images, 150),
    "options": (options, 200),
    "sizes": (sizes, 150),
    "results": (results, 25),
    "checkpoints": (checkpoints, 120),
    "runs": (runs, 20),
    "caches": (caches, 8),
    "surroundings": (surroundings, 12),
    "environment": (environment, 10),
}
"""Each kind, and its number of cases among 2,000."""


def cases(count: int, seed: int) -> Iterator[tuple[str, int]]:
    """Yield kinds and numbers of ``count`` cases; other seeds have other numbers."""
    whole = sum(share for _, share in KINDS.values())
    for kind, (_, share) in KINDS.items():
        first = seed * 1_000_000
        yield from ((kind, first + each) for each in range(share * count // whole))


def case(kind: str, number: int) -> list[str]:
    """Run a case in the sandbox; return its faults."""
    for folder in (Path("in"), Path("out")):
        clear(folder)
    random = Random(f"{kind} {number}")
    try:
        return KINDS[kind][0](random)
    except Exception:  # of a case that is wrong itself, or has found an unexpected error
        return [traceback.format_exc()]
