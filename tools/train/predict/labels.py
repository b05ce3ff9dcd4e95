"""Names of the outputs of a network."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from merp.models.base.errors import BadInput, one_line, shown
from merp.models.base.given import name_of
from merp.models.base.regular_file import check_regular
from merp.models.network.network import Network

BYTES = 1 << 22
"""Most bytes of a file of names."""
NAME = 60
"""Most characters of a name in a table."""


def names_of_outputs(given: object, network: Network) -> tuple[str, ...] | None:
    """Return the names of a file or of a sequence, one for each output; None if none are given.

    Raises:
        BadInput: the file cannot be read, or there is another number of names.
    """
    if given is None:
        return None
    source = name_of("labels")
    if isinstance(given, str | PathLike):
        source, names = str(given), _read(Path(given))
    elif isinstance(given, Sequence) and all(isinstance(each, str) for each in given):
        names = list(given)
    else:
        raise BadInput(f"{source} = {shown(given)}: allowed is a file, or a sequence of texts")
    outputs = network.layers[-1].outputs
    if len(names) != outputs:
        raise BadInput(
            f"{source}: {len(names)} names: {network.name} has {outputs} outputs: allowed is one "
            "for each"
        )
    return tuple(one_line(each, NAME) for each in names)


def _read(path: Path) -> list[str]:
    """Return the lines of a text file; empty lines at its end do not count."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            content = file.read(BYTES + 1)
        if len(content) > BYTES:
            raise BadInput(f"{path}: allowed are at most {BYTES:,} bytes")
        lines = content.decode("utf-8-sig").rstrip().splitlines()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: cannot be read: allowed is text in UTF-8") from error
    return [line.strip() for line in lines]
