"""The help pages: grouped, complete, quick, and with examples that run."""

import json
import subprocess
import sys
from argparse import SUPPRESS
from pathlib import Path

import numpy as np
import pytest

from checkout import ROOT
from merp.tools.cli import main
from merp.tools.common.command_line.parser import command_line, module_of, page_of, subparsers_of
from merp.tools.common.command_line.verbs import GROUPS, VERBS

EXAMPLES = [each for verb in VERBS.values() for each in verb.examples]


def test_the_overview_is_grouped_and_names_every_verb_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    page = capsys.readouterr().out
    places = [page.index(f"\n{title}:\n") for title in GROUPS.values()]
    assert places == sorted(places)
    for name, verb in VERBS.items():
        (line,) = [line for line in page.splitlines() if line.startswith(f"  {name} ")]
        assert line.endswith(f" {verb.line}")
    assert max(map(len, page.splitlines())) <= 80


def test_the_overview_and_a_wrong_verb_import_no_verb() -> None:
    slow = {"verbs", "library", "simulate", "train", "export", "report", "resources"}
    code = f"""
import sys
from merp.tools.cli import main
for words in (["--help"], ["trafic"]):
    try:
        main(words)
    except SystemExit:
        pass
found = {{name.split(".")[2] for name in sys.modules if name.startswith("merp.tools.")}}
found &= {slow!r}
found |= {{"numpy", "rich", "shtab"}} & set(sys.modules)
sys.exit(str(found) if found else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_has_a_description_two_examples_and_every_default(verb: str) -> None:
    page = page_of(verb)
    words = " ".join(page.split())
    assert VERBS[verb].description in words
    assert all(f"  merp {each.words}\n      {each.says}\n" in page for each in VERBS[verb].examples)
    for action in subparsers_of(command_line({verb}))[verb]._actions:
        if action.help == SUPPRESS:  # a former name
            continue
        assert action.help, action.dest
        if not action.option_strings or action.required or action.nargs == 0:
            continue
        said = action.help.split("default")[-1] if "default" in action.help else None
        assert said is not None or f"(default {action.default})" in words, action.dest
        assert said is not None or action.default is not None, action.dest


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.words)
def test_examples_are_command_lines(example) -> None:
    words = example.words.split()
    assert command_line({words[0]}).parse_args(words).verb == words[0]
    assert example.words.count("\n") == 0


@pytest.mark.full
def test_quick_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In turn: some use what others made; ``losses`` wants runs."""
    monkeypatch.chdir(tmp_path)
    run = {
        "network": "digits", "engine": "golden", "steps": 2, "batch": 4, "seed": 0,
        "loss": [2.0, 1.0], "accuracy": 0.5, "images": {"trained": 8},
    }  # fmt: skip
    for name in ("run", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.json").write_text(json.dumps(run))
    np.savez(tmp_path / "images.npz", images=np.eye(8))
    for example in EXAMPLES:
        if example.quick:
            assert main(example.words.split()) == 0, example.words
            assert capsys.readouterr().out, example.words


def test_names_of_verbs_lead_to_modules() -> None:
    for name, verb in VERBS.items():
        assert verb.group in GROUPS
        assert callable(module_of(name).run)
    modules = {path.stem for path in (ROOT / "tools").rglob("*_verb.py")}
    assert modules == {module_of(name).__name__.rpartition(".")[2] for name in VERBS}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("trafic", "did you mean traffic?"),
        ("traffic alexnet --count bord", "did you mean board?"),
        ("simulate alexnet --engine verilater", "did you mean verilator?"),
        ("traffic alexnet --bacth 3", "'--bacth 3'; did you mean --batch?"),
        ("traffic alexnet --bacth=3 --cuont x", "did you mean --batch --count?"),
        ("traffic alexnet --zzz", "merp traffic: unrecognized arguments: '--zzz'\n"),
        ("traffic alexnet vgg16", "merp traffic: unrecognized arguments: 'vgg16'\n"),
        ("resources alexnet --wide --json", "not allowed with argument --wide"),
    ],
)
def test_what_was_meant_is_said_in_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    said = capsys.readouterr()
    assert (stop.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert message in said.err
