"""``import merp``: every public name is there, none is imported before it is used."""

import ast
import subprocess
import sys

import pytest

import merp
from checkout import ROOT


def test_every_public_name_is_what_the_type_checker_is_told() -> None:
    told = {}
    for node in ast.walk(ast.parse((ROOT / "tools/front/__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("merp."):
            told |= {name.name: node.module for name in node.names}
    assert told == merp._HOMES
    assert sorted(told) == merp.__all__ == dir(merp)
    assert all(getattr(merp, name).__doc__ for name in told)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'merp' has no attribute 'lod'"):
        merp.lod  # noqa: B018


def test_the_package_alone_imports_nothing_slow() -> None:
    code = (
        "import sys, merp; merp.load('alexnet').traffic(); "
        "print(sorted({'numba', 'myhdl', 'cocotb', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
