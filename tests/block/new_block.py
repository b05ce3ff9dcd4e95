"""Make a new block from templates: ``make block ROOM=streams STEM=word_sum``.

It writes six files and three entries. The new block passes its tests. ``docs/first-block.md``
lists the parts to edit. If a name is refused, nothing is written.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from entries import with_arguments, with_stage
from naming import ARGUMENTS, ROOT, Name, Refused, named

STAGES = "docs/stages.py"
FAULTS = "tests/mutants/mutants.toml"


def texts(name: Name) -> dict[str, str]:
    """Return the new text of each file, by its path relative to the root."""
    found = {path: name.filled(template) for template, path in name.files.items()}
    found[STAGES] = with_stage(_read(STAGES), name.room, name.stem)
    found[ARGUMENTS] = with_arguments(_read(ARGUMENTS), name.filled("arguments.py"))
    found[FAULTS] = _read(FAULTS) + name.filled("faults.toml")
    return {
        path: _tidied(path, text) if path.endswith(".py") else text for path, text in found.items()
    }


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _tidied(path: str, text: str) -> str:
    """Sort imports, and break lines for names of this length."""
    for words in (["check", "--select", "I", "--fix"], ["format"]):
        command = [sys.executable, "-m", "ruff", *words, "--quiet", "--stdin-filename", path, "-"]
        text = subprocess.run(
            command, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
    return text


def write(found: Mapping[str, str]) -> None:
    """Write all files or none: drafts replace the files after all drafts are complete."""
    drafts: dict[Path, Path] = {}
    try:
        for path, text in found.items():
            target = ROOT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            drafts[target] = target.with_suffix(".draft")
            drafts[target].write_text(text, encoding="utf-8")
        for target, draft in drafts.items():
            os.replace(draft, target)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def main() -> int:
    """Make the block that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("room", nargs="?", default="", metavar="ROOM", help="a room of hdl")
    parser.add_argument("stem", nargs="?", default="", metavar="STEM", help="the block's name")
    args = parser.parse_args()
    try:
        name = named(args.room, args.stem)
    except Refused as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return 2
    found = texts(name)
    new = name.files.values()
    changed = [path for path, text in found.items() if path not in new and text != _read(path)]
    try:
        write(found)
    except OSError as error:
        print(f"error: the block is not written: {error}", file=sys.stderr)
        return 2
    print(*(f"new      {path}" for path in new), sep="\n")
    print(*(f"changed  {path}" for path in changed), sep="\n")
    tests = " ".join(path for path in new if path.startswith("tests/"))
    print(f"test it: .venv/bin/python -m pytest {tests}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
