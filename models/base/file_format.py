"""Format numbers of the files that merp writes and reads back.

Each kind of file has its own number. It increases if a new file would mislead an older merp. A file
without a number is of format 1: merp wrote no numbers before version 0.2. A file of a newer format
is refused, because its keys may have another meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from merp.models.base.errors import BadInput, shown

KEY = "file_format"
"""Key of the number in a file."""

NETWORK = 1
"""Network files."""

PARAMETERS = 1
"""Kernels and biases of ``merp import --weights``, checkpoints of ``merp train --save``."""

FINISHED = 1
"""Parts that ``-o`` keeps in ``finished``, for another run."""

RUNS = 1
"""``simulate.json``, and answers of ``merp simulate --json``."""

PASSES = 1
"""``board.json``, and answers of ``merp simulate --board --json``."""

TRAINING = 1
"""``train.json``, and answers of ``merp train --json``."""

SYNTHESIS = 1
"""Answers of ``merp resources --json``."""

FRONT = 1
"""``front.json``, and answers of ``merp explore --json``."""

PACKAGE = 1
"""``manifest.json`` of an exported package."""


class NewerFormat(BadInput):
    """A file of a format that this merp does not know."""


def numbered(content: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the content of a file with its format number in front."""
    return {KEY: number, **content}


def check_format(file: object, content: object, newest: int) -> int:
    """Return the format number of a file.

    Args:
        file: its name in messages.
        content: its keys and values. A value may be an array without dimensions.
        newest: the newest format of its kind.

    Raises:
        NewerFormat: its format is newer.
        BadInput: the number is not a whole number from 1.
    """
    if not isinstance(content, Mapping) or KEY not in content:
        return 1
    number = content[KEY]
    if getattr(number, "shape", None) == ():
        number = number.item()
    if type(number) is not int or number < 1:
        raise BadInput(
            f"{file}: {KEY} = {shown(number)}: allowed is a whole number from 1 to {newest}"
        )
    if number > newest:
        raise NewerFormat(
            f"{file}: format {shown(number)} is newer than format {newest}, which merp "
            f"{metadata.version('merp')} reads: update merp"
        )
    return number
