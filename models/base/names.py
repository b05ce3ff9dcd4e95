"""Names that users give networks, layers and designs: what they may be, and what is made of them.

A name stands in paths, VHDL, C, Tcl, YAML, CSV, JSON and shell commands, in comments and pictures.
What it may be is therefore what all of these take as it is, and no place needs to escape it; only
where letters and digits alone are taken something is made of it, here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from merp.models.base.errors import one_line

ALLOWED_NAME = (
    "1 to 64 letters (A to Z), digits, spaces and . _ + -, the first and last a letter or digit"
)

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._+-]{0,62}[A-Za-z0-9])?")


def is_name(text: str) -> bool:
    """Whether ``text`` may be a name: ``ALLOWED_NAME`` says so in words."""
    return NAME.fullmatch(text) is not None


def file_name(*names: str, suffix: str) -> str:
    """A file of things with names (and of phases, groups): all of them, and ``suffix``."""
    return "-".join(names) + suffix


def folder_name(*names: str) -> str:
    """A folder likewise: small letters, digits and hyphens alone."""
    return _letters_and_digits(names, "-")


def identifier(*names: str) -> str:
    """A name in VHDL, C and FuseSoC: small letters, digits and single underscores alone.

    It begins with a letter if the first of ``names`` does.
    """
    return _letters_and_digits(names, "_")


def plot_label(text: str) -> str:
    """Any text, also a folder's name, as a picture shows it.

    Matplotlib takes dollars for mathematics, leaves labels with a leading underscore out, and has
    no letters of most scripts.
    """
    latin = one_line(text, 100).encode("latin-1", "backslashreplace").decode("latin-1")
    latin = latin.replace("$", r"\$")
    return f" {latin}" if latin.startswith("_") else latin


def _letters_and_digits(names: Iterable[str], joint: str) -> str:
    return re.sub(r"[^a-z0-9]+", joint, joint.join(names).lower()).strip(joint)
