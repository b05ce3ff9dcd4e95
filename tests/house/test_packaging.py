"""What ``setup.py`` installs."""

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools

from clean_copy import clean_copy

LEFT_OUT = {"tools/install_ghdl.sh"}
"""What only a checkout needs."""


def test_all_files_of_the_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the packages read beside their modules lies in the wheel, too."""
    given: dict[str, Any] = {}
    checkout = clean_copy(tmp_path / "checkout")
    monkeypatch.setattr(setuptools, "setup", lambda **kwargs: given.update(kwargs))
    monkeypatch.chdir(checkout)
    runpy.run_path("setup.py")
    places = given["package_dir"]
    installed: set[Path] = set()
    for package in given["packages"]:
        root = max((each for each in places if f"{package}.".startswith(f"{each}.")), key=len)
        folder = Path(places[root], *package[len(root) :].split("."))
        for pattern in ("*.py", *given["package_data"][""]):
            installed |= set(folder.glob(pattern))
    wanted = {
        path
        for folder in set(places.values())
        for path in Path(folder).rglob("*")
        if path.is_file() and path.as_posix() not in LEFT_OUT
    }
    assert {path for path in installed if path.is_file()} == wanted


BUILD = """
import os, sys
os.umask(int(sys.argv[1], 8))
from setuptools import build_meta
build_meta.build_sdist("dist")
build_meta.build_wheel("dist")
"""


@pytest.mark.full
def test_sdist_and_wheel_have_the_same_bytes_wherever_they_are_built(tmp_path: Path) -> None:
    """In two folders, with other file times and another umask."""
    built = []
    for name, umask, time in (("here", "022", 10**9), ("there", "002", 1_700_000_000)):
        copy = clean_copy(tmp_path / name)
        for path in copy.rglob("*"):
            path.chmod(path.stat().st_mode & ~0o020 | (0o020 if umask == "002" else 0))
            os.utime(path, (time, time))
        command = [sys.executable, "-c", BUILD, umask]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
        files = sorted((copy / "dist").iterdir())
        built.append({each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files})
    assert len(built[0]) == 2
    assert built[0] == built[1]
