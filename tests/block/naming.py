"""Room and stem of a new block: the allowed names, and the places of its files."""

import builtins
import io
import keyword
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

from merp.hdl.conversion.base.names import flaw

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "blocks"
TEMPLATES = Path(__file__).with_name("templates")
ARGUMENTS = "docs/alone.py"
LONGEST = 40
STEM = re.compile(r"[a-z](_?[a-z0-9])*")
ALLOWED = (
    f"a new name of 1 to {LONGEST} small letters, digits and single inner underscores, a letter "
    "first, such as word_sum"
)
FLOATS = ("arithmetic", "fused")
"""Rooms whose golden models are in ``models/arithmetic``; others are in ``models/golden``."""

FILES = {
    "parameters.py": "models/{params}/{stem}.py",
    "golden.py": "models/{golden}/{stem}.py",
    "test_golden.py": "tests/models/{golden}/test_{stem}.py",
    "hardware.py": "hdl/{folder}/{stem}.py",
    "test_hardware.py": "tests/hdl/{folder}/test_{stem}.py",
    "page.md": "docs/blocks/{folder}/{stem}.md",
}
"""The files of a block, by template."""


class Refused(Exception):
    """A ROOM or a STEM that is not allowed; its text is one line with the allowed values."""


@dataclass(frozen=True)
class Name:
    """An allowed room, such as ``cnn_merp/update_unit``, and an allowed stem."""

    room: str
    stem: str

    @property
    def design(self) -> str:
        """The class of the block's parameters."""
        return "".join(part.capitalize() for part in self.stem.split("_")) + "Design"

    @property
    def files(self) -> dict[str, str]:
        """Path of each file, relative to the root, by template."""
        places = {"folder": self.room, "stem": self.stem, **self._models}
        return {template: path.format(**places) for template, path in FILES.items()}

    def filled(self, template: str) -> str:
        """Fill a template with the names of this block."""
        modules = {name: path.replace("/", ".") for name, path in self._models.items()}
        modules["room"] = self.room.replace("/", ".")
        text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        return Template(text).substitute(
            modules, folder=self.room, stem=self.stem, design=self.design
        )

    @property
    def _models(self) -> dict[str, str]:
        """Rooms of ``models``. A machine has its own room for parameters."""
        machine = self.room.partition("/")[0]
        own = [f"{kind}/{machine}/params" for kind in ("machines", "papers")]
        params = [path for path in own if (ROOT / "models" / path).is_dir()]
        golden = "arithmetic" if self.room in FLOATS else "golden"
        return {"params": (params or ["base"])[0], "golden": golden}


def named(room: str, stem: str) -> Name:
    """Check a room and a stem.

    Raises:
        Refused: one of them is not allowed.
    """
    rooms = sorted({str(page.parent.relative_to(PAGES)) for page in PAGES.rglob("*.md")})
    if room not in rooms:
        raise Refused(f"ROOM={room!r} is no room of blocks; allowed: {', '.join(rooms)}")
    name = Name(room, stem)
    if why := next(_flaws(name), None):
        raise Refused(f"STEM={stem!r} {why}; allowed: {ALLOWED}")
    return name


def _flaws(name: Name) -> Iterator[str]:
    if not STEM.fullmatch(name.stem) or len(name.stem) > LONGEST:
        yield "cannot name a block"
        return
    if keyword.iskeyword(name.stem) or hasattr(builtins, name.stem):
        yield "is a name of Python"
    if name.stem.startswith("test"):
        yield "is the name of a test for pytest"
    if why := flaw(name.stem):
        yield why
    for path in name.files.values():
        if os.path.lexists(ROOT / path):
            yield f"would overwrite {path}"
    for path in sorted((ROOT / "hdl").rglob("*.py")):
        if re.search(rf"^def {name.stem}\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield f"is a block of {path.relative_to(ROOT)}"
    if {name.stem, name.design} & _used():
        yield f"is a name in the templates or in {ARGUMENTS}"


def _used() -> set[str]:
    """Names that the Python files of a block use, so the block cannot have them."""
    blank = Name("_", "_")
    texts = [blank.filled(path.stem) for path in TEMPLATES.glob("*.py.txt")]
    texts.append((ROOT / ARGUMENTS).read_text(encoding="utf-8"))
    return {
        token.string
        for text in texts
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.NAME
    }
