"""Names that users give networks, layers and designs: the allowed names, and their derived forms.

A name occurs in paths, VHDL, C, Tcl, YAML, CSV, JSON, shell commands, comments and pictures. The
allowed characters are valid in all of these places, so no place needs to escape a name. Some places
allow only letters and digits. The functions of this module convert a name for them; no other code
does.
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
    """Return whether ``text`` is an allowed name; ``ALLOWED_NAME`` describes the rule."""
    return NAME.fullmatch(text) is not None


def file_name(*names: str, suffix: str) -> str:
    """Return a file name for named things (and phases, groups): all the names, and ``suffix``."""
    return "-".join(names) + suffix


def folder_name(*names: str) -> str:
    """Return a folder name for named things: small letters, digits and hyphens only."""
    return _letters_and_digits(names, "-")


def identifier(*names: str) -> str:
    """Return a name for VHDL, C and FuseSoC: small letters, digits and single underscores only.

    It begins with a letter if the first of ``names`` does.
    """
    return _letters_and_digits(names, "_")


def plot_label(text: str) -> str:
    """Return any text, such as a folder's name, in a form that a picture can show.

    Matplotlib interprets dollars as mathematics, omits labels with a leading underscore, and lacks
    the letters of most scripts.
    """
    latin = one_line(text, 100).encode("latin-1", "backslashreplace").decode("latin-1")
    latin = latin.replace("$", r"\$")
    return f" {latin}" if latin.startswith("_") else latin


def _letters_and_digits(names: Iterable[str], joint: str) -> str:
    return re.sub(r"[^a-z0-9]+", joint, joint.join(names).lower()).strip(joint)
