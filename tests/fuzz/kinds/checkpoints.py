"""Damage files of ``merp train --save`` and of ``-o``."""

from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import mutate
from damage import befall, forged, laid, taken
from harness import clear, expect_good, faults
from kinds.arrays import data
from kinds.networks import NET, NETWORK
from kinds.results import finished
from replay import replayed

TRAIN = ["train", str(NET), "--data", "in/data.npz"]
SAVED = Path("in/saved/run.npz")


def _inputs() -> None:
    NET.write_text(NETWORK)
    with Path("in/data.npz").open("wb") as file:
        np.savez(file, **data())


@cache
def _trained() -> dict[str, bytes]:
    """Return the files of a run; the folder of outputs is empty before and after."""
    _inputs()
    Path("out/made").mkdir()
    words = ["--steps", "2", "--batch", "4", "--save", "out/made/run.npz", "-o", "out/made"]
    expect_good([*TRAIN, *words])
    found = taken(Path("out/made"))
    clear(Path("out"))
    return found


def checkpoints(random: Random) -> list[str]:
    """Try training that continues from a damaged file, or saves over one."""
    with replayed():
        files = _trained()
        _inputs()
        laid(Path("in/elsewhere"), {"file": b"another's"})
        laid(SAVED.parent, {SAVED.name: files["run.npz"]})
        if random.randrange(2):
            SAVED.write_bytes(forged(random, files["run.npz"]))
        else:
            befall(random, SAVED.parent, Path("in/elsewhere"))
        words = ["--resume", str(SAVED), "--steps", str(random.choice((1, 2, 3)))]
        if random.randrange(2):
            laid(Path("out/run"), files)
            befall(random, Path("out/run"), Path("in/elsewhere"))
            words += ["--save", "out/run/run.npz", "-o", "out/run"]
        found = faults([*TRAIN, *words, *random.choice(((), ("--seed", "1"), ("--batch", "4")))])
    if taken(Path("in/elsewhere")) != {"file": b"another's"}:
        found.append("changed what a link leads to")
    return found


def prepared() -> None:
    """Write the files of a run, its data and a finished simulation into the sandbox."""
    files = _trained()
    _inputs()
    laid(SAVED.parent, files)
    laid(Path("in/run"), finished())
    laid(Path("out/run"), finished())


def runs(random: Random) -> list[str]:
    """Try changed files of ``merp train -o`` in ``losses``; a chart takes most of the time."""
    with replayed():
        files = _trained()
    folder = Path("in") / random.choice(("run", "$x", "_run", "é", "a b", "a\nb"))
    laid(folder, files)
    laid(Path("in/elsewhere"), {"file": b"another's"})
    if random.randrange(3):
        answer = folder / random.choice(("train.json", "history.json"))
        answer.write_bytes(mutate.json_text(random, answer.read_bytes()))
    else:
        befall(random, folder, Path("in/elsewhere"))
    return faults(["losses", str(folder), "-o", f"out/losses{random.choice(('.svg', '.png'))}"])
