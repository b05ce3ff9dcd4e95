"""Temporary folders: none stays, also of processes that are killed; none is removed in use."""

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.programs.interrupts import interrupts_that_last
from merp.cosim.engines.programs.scratch import PREFIX, scratch

HOLD = """
import sys
from merp.cosim.engines.programs.scratch import scratch
with scratch() as folder:
    (folder / "sub").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_is_there_and_then_it_is_not(place: Path) -> None:
    with scratch() as folder:
        assert list(place.iterdir()) == [folder]
        (folder / "file").write_text("")
    assert list(place.iterdir()) == []


def test_that_of_the_living_stays_and_that_of_the_killed_goes(place: Path) -> None:
    (place / f"{PREFIX}file").write_text("mine")
    (place / f"{PREFIX}link").symlink_to(place)
    others = {path.name for path in place.iterdir()}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        with scratch():
            assert (held / "sub").is_dir()
        holder.kill()
        holder.wait()
        assert held.is_dir()
    with scratch() as folder:
        assert {path.name for path in place.iterdir()} == others | {folder.name}


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (shutil, "rmtree")])
def test_a_signal_while_it_is_made_or_removed_leaves_nothing(
    module: Any, name: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = getattr(module, name)

    def strike(*arguments: Any, **options: Any) -> Any:
        if name == "rmtree":
            signal.raise_signal(signal.SIGTERM)
        found = call(*arguments, **options)
        if name == "mkdtemp":
            signal.raise_signal(signal.SIGTERM)
        return found

    monkeypatch.setattr(module, name, strike)
    with pytest.raises(KeyboardInterrupt), interrupts_that_last(), scratch():
        pass
    assert list(place.iterdir()) == []
