"""The API reference has every public name, from where it stands, and reads as it was written."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import merp
from checkout import ROOT
from prose import flaws

ENTRY = re.compile(r"^::: (merp[\w.]+)\n    options: \{ heading: ([^,]+),", re.MULTILINE)
ENTRIES = ENTRY.findall((ROOT / "docs" / "api.md").read_text())


def named(path: str) -> Any:
    """What a dotted path leads to: a module, or a name in one."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name, None)
    return import_module(path) if found is None else found


def texts(thing: Any) -> Iterator[str]:
    """The docstrings that the page shows of something: its own, its public members'."""
    yield thing.__doc__ or ""
    if isinstance(thing, type):
        for name, member in vars(thing).items():
            if not name.startswith("_"):
                yield getattr(member, "__doc__", None) or ""


def test_every_public_name_has_its_entry_from_where_it_stands() -> None:
    shown = {heading.removeprefix("merp."): path for path, heading in ENTRIES}
    public = {name: getattr(merp, name) for name in merp.__all__}
    assert sorted(public.keys() - shown.keys()) == []
    assert [name for name in public if named(shown[name]) is not public[name]] == []


@pytest.mark.parametrize("path", [path for path, _ in ENTRIES if "cocotb" not in path])
def test_no_formula_of_a_docstring_is_taken_for_emphasis(path: str) -> None:
    assert [flaw for text in texts(named(path)) for flaw in flaws(text)] == []
