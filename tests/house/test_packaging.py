"""What ``setup.py`` installs."""

import runpy
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
