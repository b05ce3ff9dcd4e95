"""Run a few trials of every verb that writes; ``make trials`` runs hundreds."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from merp.tools.common.arguments import WRITTEN
from merp.tools.common.command_line import verbs as described
from merp.tools.common.command_line.parser import command_line, subparsers_of
from verbs import VERBS

FEW = ("export -o", "train --save", "build cache")
RUN = Path(__file__).with_name("run.py")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUN), *words], capture_output=True, text=True)


def test_no_verb_leaves_anything_but_old_or_new_when_it_is_killed_or_run_twice_at_once() -> None:
    words = [word for name in FEW for word in ("--only", name)]
    few = run("--moments", "1", "--pairs", "1", "--builds", "0", "--alone", "0", *words)
    assert few.returncode == 0, few.stdout + few.stderr


@pytest.mark.full
def test_no_verb_at_all_does() -> None:
    done = run("--moments", "2", "--pairs", "1", "--builds", "0", "--alone", "0", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_trials_find_each_fault_that_is_planted_in_the_writer() -> None:
    done = run("--faults", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr


def writing() -> Iterator[str]:
    """Yield the verb and option of each place that is written to."""
    for verb, parser in subparsers_of(command_line(described.VERBS)).items():
        for option, _, _ in parser.get_default(WRITTEN):
            yield f"{verb} {option}"


def test_every_option_that_writes_is_tried() -> None:
    tried = {verb.name for verb in VERBS}
    found = set(writing())
    assert found <= tried
    assert tried - found == {"simulate --resume", "train --resume"}
