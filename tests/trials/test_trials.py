"""A few trials of every verb that writes; ``make trials`` runs hundreds."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT
from verbs import VERBS

FEW = ("simulate --wave", "export -o", "report -o", "train --save", "build cache")
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


def writing(tree: Path) -> Iterator[tuple[str, str]]:
    """Verb and option of each place that is opened to be written."""
    for path in tree.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called.startswith("Output.of_"):
                (option, _) = node.args
                yield path.stem.replace("_", "-").rstrip("-"), ast.literal_eval(option)
            elif called == "Waves.to":  # of an option by the name of its argument
                yield path.stem.replace("_", "-"), ast.unparse(node.args[0]).replace("args.", "--")


def test_every_option_that_writes_is_tried() -> None:
    tried = {verb.name for verb in VERBS}
    found = {" ".join(each) for each in writing(ROOT / "tools" / "verbs")}
    assert found <= tried
    assert tried - found == {"simulate --resume", "train --resume"}
