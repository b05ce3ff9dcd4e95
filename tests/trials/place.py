"""Provide a folder for the trials of one verb: inputs, complete outputs, and the time of a run."""

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

from child import PATIENCE, Child, Ended, Plant, command
from content import States, Tree, tree
from merp.tools.cli import main
from verbs import OUT, Verb, write_inputs

MINE = {"mine.txt": b"of mine", ".hidden": b"of mine too", "notes/mine.md": b"and this"}
STARTS = ("old", "files", "nothing")
"""The initial states: an old output, only files of the user, no folder."""


class Place:
    """The place for the trials of one verb.

    Attributes:
        box: folder in which it runs.
        out: folder that it writes to.
        plant: a fault that trials should find, called in each of their processes.
        ended: an undisturbed run over the old output, with its changes.
    """

    def __init__(self, verb: Verb, folder: Path, plant: Plant | None = None) -> None:
        self.verb = verb
        self.plant = plant
        self.box = folder / "box"
        self.out = self.box / OUT
        self._folder = folder
        self._children = 0
        self._expected: dict[tuple[str, tuple[str, ...]], Tree] = {}
        write_inputs(folder / "in")
        for start in STARTS:
            (folder / start).mkdir()
        _put(folder / "files", MINE if verb.package else self._mine)
        self._make("old", verb.old, "files")
        for number, words in enumerate(verb.between):
            self._make(f"between-{number}", words, "old")
        self._make("new", verb.new, "old")
        ended = []
        for _ in range(2):
            self.restore("old")
            ended.append(self.tried(verb.new, notes=True).wait())
        # The faster one: moments by the clock should not be after the end.
        self.ended = min(ended, key=lambda each: each.seconds)
        check(self.ended, verb.name)

    @property
    def _mine(self) -> dict[str, bytes]:
        return MINE | {self.verb.mine: b"and amid the output"}

    def start(self, draw: Random) -> str:
        """Draw the initial state: in three of four trials an old output."""
        if self.verb.needs_old or draw.random() < 0.75:
            return "old"
        return "files" if self.verb.writes else draw.choice(STARTS[1:])  # a file needs its folder

    def states(self, start: str) -> States:
        """Return the possible contents of the folder after a start."""
        betweens = sorted(path.name for path in self._folder.glob("between-*"))
        old, *between, new = (self._output(state) for state in (start, *betweens, "new"))
        there = tree(self._folder / start)
        return States(
            old=old, between=between, new=new,
            mine={path: content for path, content in self._mine.items() if path in there},
            label=self.verb.label, package=self.verb.package, hidden=self.verb.hidden,
        )  # fmt: skip

    def expected(self, start: str, words: Sequence[str]) -> Tree:
        """Return the result of an undisturbed run from a start."""
        key = start, tuple(words)
        if key not in self._expected:
            self.restore(start)
            check(self._child(words).wait(), self.verb.name)
            self._expected[key] = tree(self.out)
        return self._expected[key]

    def restore(self, start: str) -> None:
        """Restore the folder."""
        shutil.rmtree(self.box, ignore_errors=True)
        self.box.mkdir()
        if start != "nothing":
            shutil.copytree(self._folder / start, self.out)

    def tried(self, words: Sequence[str], **how: Any) -> Child:
        """Start a command line in a process that is forked from this one, with the fault."""
        return self._child(words, plant=self.plant, **how)

    def _child(self, words: Sequence[str], **how: Any) -> Child:
        self._children += 1
        said = self._folder / f"said-{self._children % 2}"
        return Child(command(list(words)), self.box, said, **how)

    def alone(self, words: Sequence[str], after: float = PATIENCE) -> Ended:
        """Run a command line in a new process, and kill it ``after`` seconds from its start."""
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "merp.tools.cli", *words], cwd=self.box, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=compiled(os.environ),
        )  # fmt: skip
        try:
            said = process.communicate(timeout=after)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
        status = None if process.returncode < 0 else process.returncode
        return Ended(status, said, time.monotonic() - began)

    def _output(self, state: str) -> Tree:
        """Return the files of a state that are not the user's."""
        return {
            path: content
            for path, content in tree(self._folder / state).items()
            if not path.endswith("/") and path not in self._mine
        }

    def _make(self, state: str, words: Sequence[str], start: str) -> None:
        """Keep the result of a run from a start, with the user's files in it.

        It runs in this process, so that all later forked processes inherit the results of slow
        work.
        """
        self.restore(start)
        errors = io.StringIO()
        with chdir(self.box), redirect_stdout(io.StringIO()), redirect_stderr(errors):
            status = main(list(words))
        check(Ended(status, errors.getvalue(), 0), self.verb.name)
        _put(self.out, self._mine)
        shutil.copytree(self.out, self._folder / state, dirs_exist_ok=True)


def check(ended: Ended, what: str) -> None:
    """Check that an undisturbed run succeeds; otherwise trials of it are meaningless.

    Raises:
        RuntimeError: it does not.
    """
    if (ended.status, ended.said) != (0, ""):
        raise RuntimeError(f"{what}: status {ended.status}: {ended.said}")


def compiled(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which numba compiles, as for users."""
    return {key: value for key, value in environment.items() if key != "NUMBA_DISABLE_JIT"}


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
