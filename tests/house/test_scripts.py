"""Scripts of the repository say what they do, and begin no work that nobody asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT
from marks import few

SCRIPTS = sorted(
    str(path.relative_to(ROOT))
    for tree in ("docs", "examples", "tests")  # those of the package are run by its command
    for path in (ROOT / tree).rglob("*.py")
    if '\nif __name__ == "__main__":\n' in path.read_text()
)


def answer(script: str, option: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a script says to an option, run as its page says."""
    paths = os.pathsep.join(str(ROOT / "tests" / name) for name in ("house",))
    return subprocess.run(
        [sys.executable, str(ROOT / script), option],
        cwd=folder, env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "100"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_there_are_scripts() -> None:
    assert "tests/speed/run.py" in SCRIPTS
    assert len(SCRIPTS) > 10


@pytest.mark.parametrize("script", few(SCRIPTS, *SCRIPTS[::5]))
def test_a_script_tells_what_it_does_and_refuses_the_rest(script: str, tmp_path: Path) -> None:
    helped = answer(script, "--help", tmp_path)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("usage: ")
    strange = answer(script, "--no-such-option", tmp_path)
    assert (strange.returncode, strange.stdout) == (2, "")
    assert "--no-such-option" in strange.stderr
    assert "Traceback" not in strange.stderr
    assert list(tmp_path.iterdir()) == []
